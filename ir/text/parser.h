// The text of a module (docs/ir.md) into a Module. One pass over the buffer; several mistakes are
// reported in one run, each with its line.
#ifndef TG_IR_TEXT_PARSER_H_
#define TG_IR_TEXT_PARSER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg {

// The module, or null where `diags` got errors. What the text says is checked here: its syntax,
// that names are defined once and above their uses, that symbols are declared, how many operands
// an op takes. What it means is for the verifier (ir/verify). `text` becomes the source that
// `diags` shows and must live as long as `diags` gets errors.
std::unique_ptr<Module> ParseModule(std::string_view text, std::string_view file_name,
                                    Diagnostics& diags);

// The bytes of a file; "-" is the standard input.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// Reads and parses; the errors, all of them, are the status's message.
absl::StatusOr<std::unique_ptr<Module>> ReadModuleFile(const std::string& path);
// The same with errors in `diags`, which keeps the text: for who verifies next. Null where there
// are errors.
std::unique_ptr<Module> ReadModuleFile(const std::string& path, Diagnostics& diags);

}  // namespace tg

#endif  // TG_IR_TEXT_PARSER_H_
