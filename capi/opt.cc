#include "capi/opt.h"

#include <memory>
#include <utility>

#include "base/status.h"
#include "capi/threads.h"
#include "codegen/c/renderer.h"
#include "codegen/llvm/renderer.h"
#include "codegen/opencl/renderer.h"
#include "ir/text/printer.h"
#include "model/read.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/pipeline_text.h"
#include "passes/target.h"
#include "runtime/export/c_unit.h"

namespace tg::capi {
namespace {

absl::StatusOr<std::string> Emit(const Module& module, const std::string& emit) {
  if (emit == "uop") return PrintModule(module);
  TG_ASSIGN_OR_RETURN(const passes::Target target, passes::FindTarget(module.target));
  passes::ThreadPool workers(Threads());
  if (emit == "c" || emit == "c99") {
    const codegen::Renderer& renderer = emit == "c" ? c::C17Renderer() : c::C99Renderer();
    TG_ASSIGN_OR_RETURN(runtime::CUnit unit,
                        runtime::MakeCUnit(module, renderer, target, &workers));
    return std::move(unit.source);
  }
  TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                      emit == "opencl"
                          ? opencl::RenderModule(module, target, &workers)
                          : codegen::RenderAll(llvm_ir::LlvmRenderer(), module, target, &workers));
  return std::move(rendered.source);
}

}  // namespace

absl::StatusOr<std::string> Optimize(std::string_view text, const OptOptions& options) {
  const std::string& emit = options.emit;
  if (emit != "uop" && emit != "opencl" && emit != "c" && emit != "c99" && emit != "llvm") {
    return InvalidArgument("nothing is called '", emit,
                           "' that can be emitted; there are uop, opencl, c, c99, llvm");
  }
  const passes::PassRegistry registry = passes::MakeRegistry({});
  TG_ASSIGN_OR_RETURN(passes::Pipeline pipeline,
                      passes::ParsePipeline(options.passes, registry, passes::kPipeline));
  // Code is made of linear kernels.
  if (emit != "uop") {
    const passes::Pipeline rest = passes::MakePipeline(passes::RemainingPasses(pipeline));
    pipeline.insert(pipeline.end(), rest.begin(), rest.end());
  }
  Diagnostics diagnostics;
  const std::unique_ptr<Module> module =
      model::ReadInput(text, options.path, options.format, diagnostics);
  if (module == nullptr) return model::StatusOf(diagnostics);
  if (module->target.empty()) module->target = options.target;
  if (module->target.empty() && emit.starts_with("c")) module->target = emit;
  passes::PassManagerOptions how;
  how.jobs = Threads();
  TG_RETURN_IF_ERROR(passes::PassManager(std::move(pipeline), how).Run(*module));
  return Emit(*module, emit);
}

}  // namespace tg::capi
