#include "passes/cost/predict_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "passes/cost/bounds.h"
#include "passes/cost/compute_cost.h"
#include "passes/cost/interleaved_cost.h"
#include "passes/cost/memory_cost.h"

namespace tg::cost {
namespace {

std::string Seconds(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.3g s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.3g ms", seconds * 1e3);
  return absl::StrFormat("%.3g us", seconds * 1e6);
}

}  // namespace

double Cost::OnDevice() const {
  const double own = compute / utilization;
  double longest = own, all = own;
  for (const double seconds : memory) longest = std::max(longest, seconds), all += seconds;
  const double others = all - longest - (overlaps_compute && longest > own ? own : 0);
  return groups + fills + longest + not_overlapped * others;
}

std::string_view Cost::Limit() const {
  std::string_view limit = "compute";
  double longest = compute / utilization;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] > longest) longest = memory[i], limit = levels[i];
  }
  if (fills > longest) longest = fills, limit = "fills";
  return launch + groups > longest ? "launch" : limit;
}

std::string Cost::Text() const {
  std::string text = absl::StrCat("total ", Seconds(Total()), ": compute ", Seconds(compute),
                                  absl::StrFormat(" at %.0f %%", utilization * 100));
  for (size_t i = 0; i < memory.size(); ++i) {
    absl::StrAppend(&text, ", ", std::string(levels[i]), " ", Seconds(memory[i]));
  }
  if (fills > 0) absl::StrAppend(&text, ", fills ", Seconds(fills));
  absl::StrAppend(&text, ", launch ", Seconds(launch + groups), "; limit ", std::string(Limit()));
  return text;
}

Cost PredictCost(const ScheduledWork& work, const passes::Target& target) {
  const double groups = work.Trips(Steps::kGroups), items = work.Trips(Steps::kItems);
  Cost cost;
  cost.utilization = Utilization(groups, items, target);
  // A core fills a copy in one loop, and uses it in the next.
  const Part part = target.HidesWaits() ? Part::kAll : Part::kRest;
  cost.compute = ComputeSeconds(work, target, part);
  cost.memory = MemorySeconds(work, target, part);
  if (part == Part::kRest) {
    cost.fills = ComputeSeconds(work, target, Part::kFills) / cost.utilization;
    for (const double seconds : MemorySeconds(work, target, Part::kFills)) {
      cost.fills = std::max(cost.fills, seconds);
    }
  }
  for (const MemoryLevel& level : MemoryLevels(target)) cost.levels.push_back(level.name);
  const double rounds = std::ceil(groups / target.compute_units);
  cost.groups = target.kernel_seconds + rounds * target.group_seconds;
  cost.not_overlapped = target.not_overlapped;
  if (target.step_seconds > 0) {
    if (HasWarpgroups(work)) {
      cost.compute = std::max(cost.compute, InstructionReadSeconds(work, target));
      cost.overlaps_compute = true;
    }
    cost.memory.push_back(AccessSeconds(work, target));
    cost.levels.push_back("accesses");
    cost.memory.push_back(LatencySeconds(work, target));
    cost.levels.push_back("waits");
    cost.not_overlapped = NotOverlapped(work, target);
  }
  // Where kernels are queued, one is launched while the one before it runs.
  cost.launch = target.kernel_seconds > 0 ? std::max(0.0, target.launch_seconds - cost.OnDevice())
                                          : target.launch_seconds;
  return cost;
}

}  // namespace tg::cost
