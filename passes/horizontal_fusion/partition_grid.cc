#include "passes/horizontal_fusion/partition_grid.h"

#include <algorithm>
#include <utility>

#include "ir/arithmetic.h"

namespace tg {
namespace {

int64_t CountOf(std::span<const MemberGroups> members) {
  int64_t count = 0;
  for (const MemberGroups& member : members) count = SaturatingAdd(count, member.count);
  return count;
}

// Of `count` groups, how many are in the runs before this one.
int64_t ShareBefore(int64_t run, int64_t count, int64_t num_runs) {
  return (run * count + num_runs - 1) / num_runs;
}

// Neighbouring groups of one member.
struct Stretch {
  int64_t count;
  double seconds;  // of each
};

// The groups as PartitionGrid deals them: each member's share of a run behind that of those before
// it.
std::vector<Stretch> InRuns(std::span<const MemberGroups> members, int64_t num_runs) {
  std::vector<Stretch> out = {{members[0].count, members[0].seconds}};
  int64_t all = members[0].count;
  for (const MemberGroups& member : members.subspan(1)) {
    std::vector<Stretch> with;
    auto earlier = out.begin();
    for (int64_t run = 0; run < num_runs; ++run) {
      int64_t left = ShareBefore(run + 1, all, num_runs) - ShareBefore(run, all, num_runs);
      while (left > 0) {
        const int64_t some = std::min(left, earlier->count);
        with.push_back({some, earlier->seconds});
        left -= some;
        earlier->count -= some;
        if (earlier->count == 0) ++earlier;
      }
      const int64_t before = ShareBefore(run, member.count, num_runs);
      with.push_back({ShareBefore(run + 1, member.count, num_runs) - before, member.seconds});
    }
    all += member.count;
    out = std::move(with);
  }
  return out;
}

// The time at which the last core finishes, in a model of PoCL 3.1's dynamic scheduling. An idle
// core takes its share of the remaining groups, rounded up, but at most 32 * num_cores, or
// 256 * num_cores while more than 256 * num_cores^2 groups remain.
double TimeOf(std::span<const Stretch> groups, int64_t num_cores) {
  int64_t left = 0;
  for (const Stretch& s : groups) left += s.count;
  std::vector<double> done(static_cast<size_t>(num_cores));
  size_t at = 0;
  int64_t taken = 0;  // of the stretch at `at`
  while (left > 0) {
    double& core = *std::min_element(done.begin(), done.end());
    const int64_t most = num_cores * (left <= 256 * num_cores * num_cores ? 32 : 256);
    int64_t chunk = std::min({left, most, 1 + (left - 1) / num_cores});
    left -= chunk;
    while (chunk > 0) {
      const int64_t some = std::min(chunk, groups[at].count - taken);
      core += static_cast<double>(some) * groups[at].seconds;
      chunk -= some;
      taken += some;
      if (taken == groups[at].count) ++at, taken = 0;
    }
  }
  return *std::max_element(done.begin(), done.end());
}

}  // namespace

int64_t ChooseRuns(std::span<const MemberGroups> members, int64_t num_cores) {
  // Each run takes a comparison in all groups.
  constexpr int64_t kMaxRuns = 16;
  // Arithmetic says little of how long a member takes that waits for memory: so it may be as slow.
  constexpr double kSlower = 4, kAsGood = 1.01;
  constexpr double kGroup = 1e-8;           // seconds that a group takes whatever it does
  constexpr int64_t kManyGroups = 1 << 20;  // groups of which no run is long
  if (num_cores < 2 || CountOf(members) > kManyGroups) return 1;
  std::vector<double> times;  // by runs: of the worst case, in the time of even shares
  for (int64_t runs = 1; runs <= kMaxRuns; ++runs) {
    double worst = 0;
    for (size_t slow = 0; slow <= members.size(); ++slow) {
      std::vector<MemberGroups> each(members.begin(), members.end());
      for (MemberGroups& member : each) member.seconds = std::max(member.seconds, kGroup);
      if (slow < members.size()) each[slow].seconds *= kSlower;
      double all = 0;
      for (const MemberGroups& member : each)
        all += static_cast<double>(member.count) * member.seconds;
      worst = std::max(worst, TimeOf(InRuns(each, runs), num_cores) / all);
    }
    times.push_back(worst);
  }
  const double least = *std::min_element(times.begin(), times.end());
  const auto good = [&](double time) { return time <= kAsGood * least; };
  return 1 + (std::find_if(times.begin(), times.end(), good) - times.begin());
}

std::vector<GridSlice> PartitionGrid(Builder& b, const UOp* group,
                                     std::span<const MemberGroups> members, int64_t num_runs,
                                     llvm::function_ref<void(const UOp*)> add) {
  const auto made = [&](const UOp* u) {
    add(u);
    return u;
  };
  const auto number = [&](int64_t n) { return made(b.ConstInt(group->dtype, n)); };
  made(b.Bool(true));  // of Not
  std::vector<GridSlice> out(members.size());
  const UOp* within = nullptr;  // whether the group is of this member or of one before
  int64_t all = CountOf(members);
  for (size_t p = members.size(); p-- > 1;) {
    const int64_t own = members[p].count, before = all - own;
    // The groups before a run: `ahead` counts earlier members, `first` also this one.
    const auto ahead = [&](int64_t run) { return ShareBefore(run, before, num_runs); };
    const auto first = [&](int64_t run) { return ahead(run) + ShareBefore(run, own, num_runs); };
    // The number of groups of this member before the group's run, and of groups of earlier members
    // before the next run.
    const UOp *behind = number(0), *then = number(ahead(1));
    for (int64_t run = 1; run < num_runs; ++run) {
      const UOp* is_earlier = nullptr;
      const auto from_run_on = [&](const UOp* before_it, int64_t n) {
        const UOp* value = number(n);
        if (value == before_it) return value;
        if (!is_earlier) is_earlier = made(b.Lt(group, number(first(run))));
        return made(b.Where(is_earlier, before_it, value));
      };
      behind = from_run_on(behind, first(run) - ahead(run));
      then = from_run_on(then, ahead(run + 1));
    }
    const UOp* at = num_runs == 1 ? group : made(b.Sub(group, behind));
    const UOp* is_before = made(b.Lt(at, then));
    const UOp* is_own = made(b.Not(is_before));
    out[p].number = made(b.Sub(group, then));
    out[p].is_own = within ? made(b.And(within, is_own)) : is_own;
    within = within ? made(b.And(within, is_before)) : is_before;
    group = at;
    all = before;
  }
  out[0] = {group, within};
  return out;
}

}  // namespace tg
