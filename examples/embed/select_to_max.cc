#include "select_to_max.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "passes/rewrite/engine.h"
#include "passes/rewrite/pattern.h"
#include "passes/rewrite/rule_table.h"

namespace embed {
namespace {

using namespace tg::rewrite::pattern;  // NOLINT: rules should read like algebra

// `max x, y` is y where x < y or y is NaN, and x elsewhere (docs/ops.md). So the first rule gives
// the same bits; `where 0 < x, x, 0` does not match it, because it gives 0 for a NaN.
// clang-format off
constexpr auto kRules = rules(
    rule(F, Where(x < 0, 0, x),  Max(x, 0)),
    rule(F, Where(x < y, y, x),  Max(x, y),  kNoNan));
// clang-format on

constexpr tg::passes::PassOption kOptions[] = {
    {"explain", tg::passes::PassOption::Kind::kFlag, "false",
     "say how often each rule was applied"},
};

absl::Status RunOn(tg::Body& body, const tg::Module& module, tg::passes::PassContext& context) {
  static const tg::rewrite::RuleSet kRuleSet({&tg::rewrite::RuleTable<kRules>::kList});
  const absl::StatusOr<tg::rewrite::RewriteResult> result =
      tg::rewrite::Rewrite(body, kRuleSet, {.module = &module, .flags = module.flags});
  if (!result.ok()) return result.status();
  context.statistics["select-to-max.selects"] += static_cast<int64_t>(result->applications);
  if (context.Flag("explain")) context.remarks += result->report;
  return absl::OkStatus();
}

absl::Status Run(tg::Module& module, tg::passes::PassContext& context) {
  for (const auto& graph : module.graphs) {
    if (absl::Status s = RunOn(graph->body, module, context); !s.ok()) return s;
  }
  for (const auto& kernel : module.kernels) {
    // The order of a linear kernel is decided: no pass adds nodes to it.
    if (kernel->stage == tg::Stage::kLinear) continue;
    if (absl::Status s = RunOn(kernel->body, module, context); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

constinit const tg::passes::Pass kSelectToMaxPass = {
    "select-to-max", "turns compare and select of floats into max", kOptions, &Run};

}  // namespace embed
