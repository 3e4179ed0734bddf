// The pipeline of --float16.
#ifndef TG_RUNTIME_SESSION_HALF_PIPELINE_H_
#define TG_RUNTIME_SESSION_HALF_PIPELINE_H_

#include "absl/status/statusor.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"

namespace tg::runtime {

// The pipeline with the pass that rounds factors of products before the one that makes kernels, and
// the pass that stores halves behind it. InvalidArgument if it makes no kernels.
absl::StatusOr<passes::Pipeline> WithHalf(const passes::PassRegistry& registry,
                                          passes::Pipeline pipeline);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_HALF_PIPELINE_H_
