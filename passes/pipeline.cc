#include "passes/pipeline.h"

#include <algorithm>

namespace tg::passes {

std::span<const Pass* const> RemainingPasses(std::span<const PipelineStep> pipeline) {
  for (auto step = pipeline.rbegin(); step != pipeline.rend(); ++step) {
    const auto place = std::find(kPipeline.begin(), kPipeline.end(), step->pass);
    if (place != kPipeline.end()) return {place + 1, kPipeline.end()};
  }
  return kPipeline;
}

PassRegistry MakeRegistry(std::span<const Pass* const> embedder) {
  PassRegistry registry;
  registry.AddAll(kPipeline);
  registry.AddAll(kOtherPasses);
  registry.AddAll(embedder);
  return registry;
}

}  // namespace tg::passes
