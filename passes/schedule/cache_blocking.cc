#include "passes/schedule/cache_blocking.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/fission.h"
#include "passes/schedule/memory_traffic.h"

namespace tg {
namespace {

// The nest in which `steps` iterations of the axis at `k` are innermost, and the groups of a block
// are consecutive.
Nest Blocked(const Nest& plain, size_t k, int64_t steps) {
  Nest nest = plain;
  const auto [axis, size] = plain[k];
  if (steps == size) {
    nest.erase(nest.begin() + static_cast<ptrdiff_t>(k));
  } else {
    nest[k].second = size / steps;
    std::swap(nest[0], nest[k]);
  }
  nest.emplace_back(axis, steps);
  return nest;
}

// The nearest cache keeps what a group reads in its own loop, so that bytes from the second cache
// are counted, with less weight.
double Cost(const ScheduleBuilder& t, const MemoryTraffic& traffic, const Nest& nest) {
  const Cache far = {.capacity = static_cast<double>(t.target().core_cache_bytes)};
  const Cache near = {.capacity = static_cast<double>(t.target().near_cache_bytes),
                      .slack = 1.5,
                      .innermost = true,
                      .cost = 1.0 / 4};
  return traffic.Of(nest, {far, near});
}

double Elements(const Shape& shape) {
  double n = 1;
  for (const Dim& d : shape) n *= static_cast<double>(d.value());
  return n;
}

}  // namespace

bool LoopInCache(ScheduleBuilder& t, int64_t groups, Own own) {
  Nest plain;
  int64_t results = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) return false;
    plain.emplace_back(i, t.Size(i));
    results *= t.Size(i);
  }
  if (plain.size() < 2) return false;
  size_t best = SIZE_MAX;
  int64_t best_steps = 0;
  double least = 0;
  bool has_fission = false;
  const bool several = t.kernel().body.root->num_srcs > 1;
  for (const bool fission : {false, true}) {
    if (fission && ((!several && t.sums().empty()) || own == Own::kGroups)) continue;
    const MemoryTraffic traffic(t, own == Own::kGroups ? plain.size() + 1 : fission ? 1 : 0);
    const auto cost = [&](const Nest& nest) { return Cost(t, traffic, nest); };
    if (!fission) least = cost(plain) * kMaxTrafficShare;
    if (own == Own::kLoop && !fission) continue;
    const auto consider = [&](size_t k, int64_t steps) {
      if (steps == 1 || results / steps < groups) return;
      const double bytes = cost(Blocked(plain, k, steps));
      if (bytes < least) least = bytes, best = k, best_steps = steps, has_fission = fission;
    };
    for (size_t k = 0; k < plain.size(); ++k) {
      const int64_t size = plain[k].second;
      for (int64_t d = 1; d * d <= size; ++d) {
        if (size % d != 0) continue;
        consider(k, size / d);
        if (d != size / d) consider(k, d);
      }
    }
  }
  if (best == SIZE_MAX) return false;
  const auto [axis, size] = plain[best];
  const std::string name = t.schedule().axes[axis].name;
  if (!t.Try("loop", axis, best_steps == size ? 0 : best_steps)) return false;
  if (best_steps != size && best != 0) {
    t.TryWith("swap", t.Axes(AxisKind::kGlobal).front(), name + ".0");
  }
  if (has_fission && several) t.Try("fission", t.Axes(AxisKind::kLoop).front());
  return true;
}

double BytesRead(const ScheduleBuilder& t) {
  Nest nest;
  size_t own_loops = 0;
  bool own_groups = false;
  for (const AxisKind kind : {AxisKind::kGlobal, AxisKind::kLoop}) {
    for (size_t i : t.Axes(kind)) {
      if (t.IsSymbolic(i)) return std::numeric_limits<double>::infinity();
      nest.emplace_back(i, t.Size(i));
      own_loops += t.schedule().axes[i].own_loops;
      own_groups |= t.schedule().axes[i].stores > 1;
    }
  }
  return Cost(t, MemoryTraffic(t, own_groups ? nest.size() : own_loops), nest);
}

int64_t PartsInCache(const ScheduleBuilder& t, LoopSet along, Own own) {
  Nest groups, loops;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) return 1;
    const bool is_loop = (along & LoopBit(t.schedule().axes[i].base)) != 0;
    (is_loop ? loops : groups).emplace_back(i, t.Size(i));
  }
  if (loops.empty()) return 1;
  const AxisList around = t.Axes(AxisKind::kLoop);
  for (size_t i : around) groups.emplace_back(i, t.Size(i));
  const bool fission = own == Own::kGroups;  // each store's groups then pack what it reads
  const std::vector<NodeSet> bodies = fission ? LoopBodies(t) : std::vector<NodeSet>();
  double copied = 0;  // elements for one part
  for (const UOp* load : t.packed()) {
    const auto reads = [&](const NodeSet& body) { return body.Contains(load); };
    const auto times = fission ? llvm::count_if(bodies, reads) : 1;
    copied += Elements(t.ShapeOf(load)) * static_cast<double>(times);
  }
  const Cache cache = {.capacity = static_cast<double>(t.target().core_cache_bytes)};
  const auto [axis, size] = loops.front();
  const auto best_of = [&](MemoryTraffic traffic) {
    if (!around.empty()) traffic.AddStores();
    int64_t best = 1;
    double least = 0;
    for (int64_t parts = 1; parts <= size; ++parts) {
      if (size % parts != 0) continue;
      Nest nest = {{axis, parts}};
      nest.insert(nest.end(), groups.begin(), groups.end());
      nest.emplace_back(axis, size / parts);
      nest.insert(nest.end(), loops.begin() + 1, loops.end());
      const double bytes =
          traffic.Of(nest, {cache}) + copied * static_cast<double>(parts * t.target().copied_bytes);
      if (parts == 1) least = bytes * kMaxTrafficShare;
      // More parts than two pack at least as much as two do.
      if (least <= 2 * copied * static_cast<double>(t.target().copied_bytes)) break;
      if (bytes < least) least = bytes, best = parts;
    }
    return best;
  };
  const size_t all = 1 + groups.size() + loops.size();
  if (fission) return best_of(MemoryTraffic(t, all));
  if (t.sums().empty()) return best_of(MemoryTraffic(t));
  // If the working set of all sums does not stay in the cache, parts for which the working set of
  // each sum does are still better.
  const int64_t best = best_of(MemoryTraffic(t, loops.size()));
  return best > 1 ? best : best_of(MemoryTraffic(t, all));
}

void OrderGroups(ScheduleBuilder& t, Own own) {
  const AxisList globals = t.Axes(AxisKind::kGlobal);
  Nest nest;
  for (size_t i : globals) nest.emplace_back(i, t.Size(i));
  for (size_t i : t.Axes(AxisKind::kLoop)) nest.emplace_back(i, t.Size(i));
  const bool ordered = llvm::any_of(
      t.directives(), [](const Directive& directive) { return directive.name == "swap"; });
  const bool symbolic =
      llvm::any_of(nest, [&](const auto& loop) { return t.IsSymbolic(loop.first); });
  if (globals.size() < 2 || ordered || symbolic) return;
  // A core is certain to find only half of its cache in use by itself; another order costs nothing.
  const MemoryTraffic traffic(t, own == Own::kGroups ? nest.size() : 0);
  const Cache cache = {.capacity = static_cast<double>(t.target().core_cache_bytes) / 2};
  double least = traffic.Of(nest, {cache}) * kMaxTrafficShare;
  size_t best = 0;
  for (size_t k = 1; k < globals.size(); ++k) {
    std::swap(nest[0], nest[k]);
    if (const double bytes = traffic.Of(nest, {cache}); bytes < least) least = bytes, best = k;
    std::swap(nest[0], nest[k]);
  }
  if (best != 0) t.TryWith("swap", globals[0], t.schedule().axes[globals[best]].name);
}

void SplitLoops(ScheduleBuilder& t, double worth) {
  Nest nest;
  for (size_t i : t.Axes(AxisKind::kLoop)) {
    if (t.IsSymbolic(i)) return;
    nest.emplace_back(i, t.Size(i));
  }
  const UOpSpan stores = t.kernel().body.root->srcs();
  const bool done = llvm::any_of(t.schedule().axes, [](const auto& a) { return a.own_loops; });
  if (nest.empty() || stores.size() < 2 || done) return;
  const auto near = static_cast<double>(t.target().near_cache_bytes);
  // The results of all stores take space too, so only three quarters count. With fission half more
  // than the cache holds is acceptable, since some of what an iteration reads for the first time
  // need not stay.
  const double together = MemoryTraffic(t).Of(nest, {{.capacity = near * 0.75}});
  const double fission = MemoryTraffic(t, nest.size()).Of(nest, {{.capacity = near * 1.5}});
  if (fission <= together * worth) t.Try("fission", nest[0].first);
}

}  // namespace tg
