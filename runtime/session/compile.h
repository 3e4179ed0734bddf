// Compiles a module as written to one that can be rendered, by running tg's passes.
#ifndef TG_RUNTIME_SESSION_COMPILE_H_
#define TG_RUNTIME_SESSION_COMPILE_H_

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg::runtime {

// Runs the default pipeline for the target and verifies after each pass. Passes skip parts that are
// beyond their stage, so a module may be at any stage.
absl::Status CompileForTarget(Module& module, const passes::Target& target);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_COMPILE_H_
