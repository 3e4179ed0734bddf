// Imports schedules of newer versions: LINEAR(CALL(kernel, buffers...), ...), which contains its
// kernels.
#ifndef TG_FRONTEND_TINYGRAD_SCHEDULE_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_SCHEDULE_IMPORT_H_

#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Adds the kernels, and graph @main, which runs them in order. A buffer is an input if it is only
// read, state if it is read before it is written, a temp if it is read after it is written,
// and otherwise an output. Returns false after an error.
bool ImportSchedule(const Text& text, const Node* linear, const Directives& directives,
                    Module& module, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_SCHEDULE_IMPORT_H_
