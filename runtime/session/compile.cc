#include "runtime/session/compile.h"

#include "passes/pass_manager.h"
#include "passes/pipeline.h"

namespace tg::runtime {

absl::Status CompileForTarget(Module& module, const passes::Target& target) {
  passes::PassManagerOptions options;
  options.target = &target;
  return passes::PassManager(passes::MakePipeline(passes::kPipeline), options).Run(module);
}

}  // namespace tg::runtime
