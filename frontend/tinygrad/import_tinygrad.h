// Imports the text that tinygrad prints as a module.
#ifndef TG_FRONTEND_TINYGRAD_IMPORT_TINYGRAD_H_
#define TG_FRONTEND_TINYGRAD_IMPORT_TINYGRAD_H_

#include <memory>
#include <string_view>

#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Whether the text looks like a printed UOp and not like a module: the first line that is neither
// blank nor a comment begins with UOp(, possibly in a list or after a name.
bool IsTinygradText(std::string_view text);

// Imports a text as docs/tinygrad.md defines it. Returns null after errors, which have line and
// column. As with ParseModule, the verifier decides whether the module is valid. Nodes have the
// locations of their UOps. `text` becomes the source that `diags` shows and must live as long as
// `diags` gets errors.
std::unique_ptr<Module> ImportTinygrad(std::string_view text, std::string_view file_name,
                                       Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_IMPORT_TINYGRAD_H_
