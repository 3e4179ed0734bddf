// The pipeline: the one place that orders tg's passes.
#ifndef TG_PASSES_PIPELINE_H_
#define TG_PASSES_PIPELINE_H_

#include <array>
#include <span>

#include "passes/devectorize/devectorize.h"
#include "passes/expand/expand.h"
#include "passes/hfuse/hfuse.h"
#include "passes/kernelize/kernelize.h"
#include "passes/linearize/linearize.h"
#include "passes/lower/lower.h"
#include "passes/optimize/optimize.h"
#include "passes/pass.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"
#include "passes/simplify/simplify.h"

namespace tg {

// From a graph of tensors to kernels that a renderer reads, in this order. Devectorize comes before
// linearize because the order of instructions depends on what the target's instructions are.
inline constexpr auto kPipeline = std::to_array<const Pass*>({
    &kKernelizePass,
    &kOptimizePass,
    &kLowerPass,
    &kExpandPass,
    &kDevectorizePass,
    &kLinearizePass,
    &kHfusePass,
});

// Passes that others use and that can be named in a pipeline, but are no step of the default one.
inline constexpr auto kOtherPasses = std::to_array<const Pass*>({
    &kSimplifyPass,
});

// What is left of the default pipeline after `pipeline`: the passes that follow the last one of
// kPipeline that it names, or all where it names none.
std::span<const Pass* const> RemainingPasses(std::span<const PipelineStep> pipeline);

// All of the above, then those of whoever embeds tg.
PassRegistry MakeRegistry(std::span<const Pass* const> embedder = {});

}  // namespace tg

#endif  // TG_PASSES_PIPELINE_H_
