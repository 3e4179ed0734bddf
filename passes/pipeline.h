// The pipeline: the one place that orders tg's passes.
#ifndef TG_PASSES_PIPELINE_H_
#define TG_PASSES_PIPELINE_H_

#include <array>
#include <span>

#include "passes/allow/allow.h"
#include "passes/devectorize/devectorize.h"
#include "passes/expand/expand.h"
#include "passes/half/factors.h"
#include "passes/half/half.h"
#include "passes/kernelize/kernelize.h"
#include "passes/linearize/linearize.h"
#include "passes/lower/lower.h"
#include "passes/pass.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"
#include "passes/schedule/schedule.h"
#include "passes/simplify/simplify.h"

namespace tg::passes {

// The passes that turn a graph of tensors into kernels for a renderer, in order. Devectorize comes
// before linearize because the order of instructions depends on the target's instructions.
inline constexpr auto kPipeline = std::to_array<const Pass*>({
    &kernelize::kKernelizePass,
    &schedule::kSchedulePass,
    &lower::kLowerPass,
    &expand::kExpandPass,
    &devectorize::kDevectorizePass,
    &linearize::kLinearizePass,
});

// Passes that a pipeline can name but that are not part of the default pipeline.
inline constexpr auto kOtherPasses = std::to_array<const Pass*>({
    &simplify::kSimplifyPass,
    &allow::kAllowPass,
    &half::kHalfFactorsPass,
    &half::kHalfPass,
});

// The rest of the default pipeline after `pipeline`: the passes after the last one of kPipeline
// that `pipeline` names, or all of kPipeline if it names none.
std::span<const Pass* const> RemainingPasses(std::span<const PipelineStep> pipeline);

// A registry of all passes above, followed by the embedder's.
PassRegistry MakeRegistry(std::span<const Pass* const> embedder = {});

}  // namespace tg::passes

#endif  // TG_PASSES_PIPELINE_H_
