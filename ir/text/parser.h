// Parses the text of a module (docs/ir.md). One pass over the buffer; one run reports several
// errors, each with its line.
#ifndef TG_IR_TEXT_PARSER_H_
#define TG_IR_TEXT_PARSER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg {

// Returns the module, or null if `diags` got errors. The parser checks the syntax, that names are
// defined once and before their uses, that symbols are declared, and the number of operands of an
// op. The verifier (ir/verify) checks everything else. `text` becomes the source that `diags` shows
// and must live as long as `diags` gets errors.
std::unique_ptr<Module> ParseModule(std::string_view text, std::string_view file_name,
                                    Diagnostics& diags);

// Reads a file; "-" is the standard input.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// Reads and parses a file; the status's message contains all errors.
absl::StatusOr<std::unique_ptr<Module>> ReadModuleFile(const std::string& path);
// The same with errors in `diags`, which owns the text, so that a verifier may report later.
// Returns null after errors.
std::unique_ptr<Module> ReadModuleFile(const std::string& path, Diagnostics& diags);

}  // namespace tg

#endif  // TG_IR_TEXT_PARSER_H_
