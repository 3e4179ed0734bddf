// What tinygrad prints, as a module.
#ifndef TG_FRONTEND_TINYGRAD_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_IMPORT_H_

#include <memory>
#include <string_view>

#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg {

// Whether the text looks like a printed UOp rather than a module: its first line that is neither
// blank nor a comment begins with UOp(, also in a list or behind a name.
bool IsTinygradText(std::string_view text);

// The module that the text of docs/tinygrad.md means, or null with errors that have line and
// column. As after ParseModule, whether it is valid is for the verifier to say; nodes have the
// places of their UOps. `text` becomes the source that `diags` shows and must live as long as
// `diags` gets errors.
std::unique_ptr<Module> ImportTinygrad(std::string_view text, std::string_view file_name,
                                       Diagnostics& diags);

}  // namespace tg

#endif  // TG_FRONTEND_TINYGRAD_IMPORT_H_
