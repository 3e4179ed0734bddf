#include "runtime/session/compile.h"

#include "passes/pass_manager.h"
#include "passes/pipeline.h"

namespace tg::runtime {

absl::Status CompileForTarget(Module& module, const Target& target) {
  PassManagerOptions options;
  options.target = &target;
  return PassManager(MakePipeline(kPipeline), options).Run(module);
}

}  // namespace tg::runtime
