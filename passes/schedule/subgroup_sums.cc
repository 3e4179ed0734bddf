// Reduces on a GPU whose work-items are one subgroup, so that no group waits for a barrier.
#include <string>
#include <vector>

#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

// Divides the terms of each reduce among the work-items of a subgroup.
bool ShareInSubgroup(ScheduleBuilder& t) {
  std::vector<std::string> terms;
  for (const loop_nest::AxisList& axes : AxesByReduce(t)) {
    terms.push_back(t.nest().axes[axes.back()].name);
  }
  std::string items;  // the axis of the first reduce's work-items
  for (const std::string& name : terms) {
    const std::string rest = InAccesses<directive::Unroll>(t, name);
    const size_t axis = t.nest().AxisNamed(rest);
    const int64_t most = t.target().subgroup_size;
    if (t.IsSymbolic(axis) || t.Size(axis) % most != 0) return false;
    const bool is_whole = t.Size(axis) == most;
    if (items.empty()) {
      if (!t.Try<directive::Shuffle>(axis, most)) return false;
      items = is_whole ? rest : rest + ".1";
      continue;
    }
    if (!t.TryWith<directive::Shuffle>(axis, items)) return false;
  }
  return !terms.empty();
}

}  // namespace

void ProposeSubgroups(ScheduleBuilder& t, Proposals& to) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (!t.target().inline_ptx || t.SharedAlong() || globals.empty() || Nests(t)) return;
  const ScheduleBuilder::State plain = t.Save();
  const size_t last = globals.back();
  const int64_t most = t.IsSymbolic(last) ? 1 : t.target().group_items / t.target().subgroup_size;
  for (int64_t results = 1; results <= most; results *= 2) {
    const bool divides = t.Size(last) % results == 0;
    if (divides && (results == 1 || t.Try<directive::Local>(last, results)) && ShareInSubgroup(t)) {
      to.Add();
    }
    t.Restore(plain);
  }
}

}  // namespace tg::schedule
