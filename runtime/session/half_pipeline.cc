#include "runtime/session/half_pipeline.h"

#include <cstddef>

#include "base/status.h"
#include "passes/kernelize/kernelize.h"
#include "passes/pipeline.h"

namespace tg::runtime {

absl::StatusOr<passes::Pipeline> WithHalf(const passes::PassRegistry& registry,
                                          passes::Pipeline pipeline) {
  TG_ASSIGN_OR_RETURN(const passes::Pipeline half,
                      passes::ParsePipeline("half-factors,half", registry, passes::kPipeline));
  for (size_t i = 0; i < pipeline.size(); ++i) {
    if (pipeline[i].pass != &kernelize::kKernelizePass) continue;
    const auto at = pipeline.begin() + static_cast<std::ptrdiff_t>(i);
    pipeline.insert(pipeline.insert(at, half[0]) + 2, half[1]);
    return pipeline;
  }
  return InvalidArgument("--float16: the pipeline has no pass kernelize");
}

}  // namespace tg::runtime
