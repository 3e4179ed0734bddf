// The predicted cost of each kernel that a run of passes schedules.
#ifndef TG_TOOLS_DRIVER_PREDICTED_COSTS_H_
#define TG_TOOLS_DRIVER_PREDICTED_COSTS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "passes/cost/cost.h"
#include "passes/pass_manager.h"

namespace tg::driver {

// Looks at the module after the pass schedule. Several runs may be watched, for different targets.
class PredictedCosts final : public passes::PassObserver {
 public:
  absl::Status AfterPass(const passes::PassRun& run, const Module& module) override;

  // By the target's and the kernel's name; null for a kernel that was not scheduled in these runs,
  // such as one that was fused out of several.
  const cost::Cost* Find(std::string_view target, std::string_view kernel) const;

  // Seconds of all kernels that a graph of the compiled module calls, and the limit of the longest;
  // nullopt if the cost of one is not known.
  struct GraphCost {
    double seconds = 0;
    std::string limit;
  };
  std::optional<GraphCost> Of(const Graph& graph, std::string_view target) const;

 private:
  std::map<std::pair<std::string, std::string>, cost::Cost, std::less<>> costs_;
};

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_PREDICTED_COSTS_H_
