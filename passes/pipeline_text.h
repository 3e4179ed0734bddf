// Pipelines as text: `kernelize,lower:max=8:explain`.
//
//   pipeline := [ pass { ',' pass } ]        pass   := name { ':' option } | 'default'
//   option   := name [ '=' value ]           a flag without a value is true
//
// Spaces around names and values are skipped. A value ends at a `,` or `:` outside of brackets and
// double quotes, so `pass:text=[a, b]` is one option. `default` means the default pipeline.
// Pass names and options are checked here, so that a pass never receives an invalid option.
#ifndef TG_PASSES_PIPELINE_TEXT_H_
#define TG_PASSES_PIPELINE_TEXT_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/pass.h"
#include "passes/pass_registry.h"

namespace tg::passes {

using PassOptions = std::map<std::string, std::string, std::less<>>;

struct PipelineStep {
  const Pass* pass = nullptr;
  PassOptions options;  // every option of the pass, defaults included
};

using Pipeline = std::vector<PipelineStep>;

// The step with every option at its default.
PipelineStep DefaultStep(const Pass& pass);
Pipeline MakePipeline(std::span<const Pass* const> passes);

// Reads a pipeline over the passes of `registry`; `default` is replaced by `default_passes`. Errors
// name the pass or option and its column (from 1), and suggest a similar name if there is one.
absl::StatusOr<Pipeline> ParsePipeline(std::string_view text, const PassRegistry& registry,
                                       std::span<const Pass* const> default_passes = {});

// The text of a step or pipeline, with the options that differ from their defaults, in the order in
// which the pass declares them. ParsePipeline reads it back.
std::string PrintStep(const PipelineStep& step);
std::string PrintPipeline(std::span<const PipelineStep> pipeline);

}  // namespace tg::passes

#endif  // TG_PASSES_PIPELINE_TEXT_H_
