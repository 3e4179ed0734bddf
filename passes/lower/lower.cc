#include "passes/lower/lower.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/indices/lower_indices.h"
#include "passes/lower/lower_reduces.h"
#include "passes/lower/place_staged.h"
#include "passes/lower/share_loops.h"
#include "passes/simplify/simplify.h"

namespace tg::lower {
namespace {

// The pass manager adds the pass's name. Errors about directives name the kernel already.
absl::Status InKernel(const Kernel& kernel, const absl::Status& status) {
  const std::string prefix = absl::StrCat("kernel @", kernel.name, ": ");
  if (absl::StartsWith(status.message(), prefix)) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

// Runs the rewrites after LowerIndices, up to `until`.
absl::Status LowerRest(Kernel& kernel, const passes::Target& target, LowerUntil until,
                       simplify::Simplifier& simplifier) {
  if (until == LowerUntil::kIndices) return absl::OkStatus();
  if (target.HidesWaits()) ShareLoops(kernel.body);
  LowerReduces(kernel.body, target);
  if (until == LowerUntil::kReduces) return absl::OkStatus();
  return PlaceStaged(kernel.body, target, [&](const UOp* u) { return simplifier(u); });
}

}  // namespace

absl::Status LowerKernel(const Module& module, const KernelCalls& calls, Kernel& kernel,
                         const passes::Target& target, LowerUntil until) {
  Body& body = kernel.body;
  if (kernel.stage == Stage::kLowered) {
    simplify::Simplifier simplifier(*body.context, &module);
    const absl::Status status = LowerRest(kernel, target, until, simplifier);
    Compact(body);
    return status.ok() ? status : InKernel(kernel, status);
  }
  if (kernel.stage != Stage::kKernel) return absl::OkStatus();
  simplify::Simplifier simplifier(*body.context, &module);
  absl::Status status = indices::LowerIndices(module, calls, kernel, target, simplifier);
  if (status.ok()) status = LowerRest(kernel, target, until, simplifier);
  // Simplifies the body as a whole. The simplifier remembers the expressions that the rewrites have
  // simplified one by one.
  const bool is_whole = until == LowerUntil::kEnd;
  if (status.ok() && is_whole) status = rewrite::RewriteBody(body, simplifier.rewriter());
  if (!status.ok()) return InKernel(kernel, status);
  kernel.stage = Stage::kLowered;
  Compact(body);
  if (is_whole) body.num_simple = body.context->num_nodes();
  return absl::OkStatus();
}

namespace {

constexpr std::pair<std::string_view, LowerUntil> kUntil[] = {{"indices", LowerUntil::kIndices},
                                                              {"reduces", LowerUntil::kReduces},
                                                              {"end", LowerUntil::kEnd}};

absl::Status Run(Module& module, passes::PassContext& context) {
  const KernelCalls calls(module);
  const std::string_view name = context.String("until");
  const auto* until = llvm::find_if(kUntil, [&](const auto& u) { return u.first == name; });
  if (until == std::end(kUntil)) {
    return absl::InvalidArgumentError(
        absl::StrCat("until is indices, reduces or end, not '", std::string(name), "'"));
  }
  return passes::ForEachKernel(
      module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage <= Stage::kLowered) ++statistics["lower.kernels"];
        return LowerKernel(module, calls, kernel, context.target, until->second);
      });
}

constexpr passes::PassOption kOptions[] = {
    {"until", passes::PassOption::Kind::kString, "end",
     "the last rewrite that runs: indices, reduces or end"},
};

}  // namespace

constinit const passes::Pass kLowerPass = {
    "lower", "gives every axis its loop, work-item id or lanes, and every access its address",
    kOptions, Run};

}  // namespace tg::lower
