#include "passes/linearize/linearize.h"

#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "passes/linearize/block_writer.h"
#include "passes/linearize/early_loads.h"
#include "passes/linearize/instruction_order.h"
#include "passes/linearize/memory_order.h"
#include "passes/linearize/nest.h"

namespace tg::linearize {
namespace {

constexpr passes::PassOption kOptions[] = {
    {"shuffle", passes::PassOption::Kind::kInt, "-1",
     "a seed: take a random one of all valid orders (-1: the usual one)"},
};

absl::Status Run(Module& module, passes::PassContext& context) {
  const int64_t shuffle = context.Int("shuffle");
  return passes::ForEachKernel(
      module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage != Stage::kExpanded) return absl::OkStatus();
        if (absl::Status s = LinearizeKernel(kernel, shuffle, &module); !s.ok()) return s;
        ++statistics["linearize.kernels"];
        statistics["linearize.nodes"] += static_cast<int64_t>(kernel.body.linear.size());
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status LinearizeKernel(Kernel& kernel, int64_t shuffle, const Module* module) {
  using namespace linearize;  // NOLINT: the parts of this pass
  if (kernel.stage != Stage::kExpanded) {
    return absl::FailedPreconditionError(
        absl::StrCat("linearize: kernel @", kernel.name, " is at stage ",
                     std::string(StageName(kernel.stage)), "; it has to be at stage expanded"));
  }
  std::optional<std::mt19937_64> random;
  if (shuffle >= 0) random.emplace(static_cast<uint64_t>(shuffle));
  std::mt19937_64* rng = random ? &*random : nullptr;

  const auto error = [&](const absl::Status& s) {
    return absl::InvalidArgumentError(
        absl::StrCat("linearize: kernel @", kernel.name, ": ", s.message()));
  };
  analysis::Bounds bounds(*kernel.body.context, module);
  absl::StatusOr<Nest> nest = FindLoops(kernel, bounds, rng);
  if (!nest.ok()) return nest.status();
  if (!nest->early.empty()) {
    const absl::StatusOr<bool> changed = GuardEarlyLoads(*nest, kernel.body);
    if (!changed.ok()) return error(changed.status());
    if (*changed) nest = FindLoops(kernel, bounds, rng);
    if (!nest.ok()) return nest.status();
  }
  if (absl::Status s = CheckBarriers(*nest); !s.ok()) return error(s);
  auto steps = Schedule(*nest, OrderMemory(*nest), rng);
  if (!steps.ok()) return error(steps.status());
  WriteBlocks(*nest, *steps, kernel.body);
  kernel.stage = Stage::kLinear;
  return absl::OkStatus();
}

constinit const passes::Pass kLinearizePass = {
    "linearize",
    "puts each kernel's graph into execution order: loops, blocks, instructions",
    kOptions,
    &Run,
};

}  // namespace tg::linearize
