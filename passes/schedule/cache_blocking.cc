#include "passes/schedule/cache_blocking.h"

#include <algorithm>
#include <string>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/memory_traffic.h"

namespace tg::schedule {
namespace {

// The loop nest after blocking `plain[k]`: `steps` of its iterations become the innermost loop. If
// a part of the axis is left, it becomes the outermost loop, so that the work-groups of one block
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

// Bytes read from beyond the core's caches, plus the bytes that its nearest cache has to fetch from
// the next one, weighted by their time. In the nearest cache, data are reused only by the innermost
// loop, which runs within one work-group.
double Cost(const ScheduleBuilder& t, const MemoryTraffic& traffic, const Nest& nest) {
  const passes::Target& target = t.target();
  const Cache far = {.capacity = static_cast<double>(target.core_cache_bytes)};
  const Cache near = {.capacity = static_cast<double>(target.near_cache_bytes),
                      .slack = target.cache_slack,
                      .innermost = true,
                      .cost = target.unit_bytes_per_second / target.core_cache_bytes_per_second};
  return traffic.Of(nest, {far, near});
}

// A loop or an order is changed only if that leaves at most this much of the predicted memory
// traffic: the prediction knows no better than the slack where a cache ends. For smaller savings,
// work-groups that write neighbouring results are preferred.
double MostTraffic(const ScheduleBuilder& t, double before) {
  return before / t.target().cache_slack;
}

}  // namespace

bool LoopInCache(ScheduleBuilder& t, int64_t groups) {
  Nest plain;
  int64_t results = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) return false;
    plain.emplace_back(i, t.Size(i));
    results *= t.Size(i);
  }
  if (plain.size() < 2) return false;
  const MemoryTraffic traffic(t);
  size_t best = SIZE_MAX;
  int64_t best_steps = 0;
  double least = MostTraffic(t, Cost(t, traffic, plain));
  const auto consider = [&](size_t k, int64_t steps) {
    if (steps == 1 || results / steps < groups) return;
    const double bytes = Cost(t, traffic, Blocked(plain, k, steps));
    if (Candidates* candidates = t.candidates()) {
      std::vector<Directive> directives = t.directives();
      directives.push_back({"loop", {{t.nest().axes[plain[k].first].name, 0}}});
      if (steps != plain[k].second) directives.back().args.push_back({"", steps});
      candidates->Add(bytes, std::move(directives));
    }
    if (bytes < least) least = bytes, best = k, best_steps = steps;
  };
  for (size_t k = 0; k < plain.size(); ++k) {
    const int64_t size = plain[k].second;
    for (int64_t d = 1; d * d <= size; ++d) {
      if (size % d != 0) continue;
      consider(k, size / d);
      if (d != size / d) consider(k, d);
    }
  }
  if (best == SIZE_MAX) return false;
  const auto [axis, size] = plain[best];
  const std::string name = t.nest().axes[axis].name;
  if (!t.Try<directive::Loop>(axis, best_steps == size ? 0 : best_steps)) return false;
  if (best_steps != size && best != 0) {
    t.Swap(t.Axes(AxisKind::kGlobal).front(), name + ".0");
  }
  return true;
}

void OrderGroups(ScheduleBuilder& t) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  Nest nest;
  for (size_t i : globals) nest.emplace_back(i, t.Size(i));
  for (size_t i : t.Axes(AxisKind::kLoop)) nest.emplace_back(i, t.Size(i));
  const bool ordered = !llvm::is_sorted(globals, [&](size_t a, size_t b) {  // by a swap
    return t.nest().axes[a].base < t.nest().axes[b].base;
  });
  const bool symbolic =
      llvm::any_of(nest, [&](const auto& loop) { return t.IsSymbolic(loop.first); });
  if (globals.size() < 2 || ordered || symbolic) return;
  // Assumes half of the core's cache, since others may use the rest. That is cautious, but a
  // different order of work-groups costs nothing otherwise.
  const MemoryTraffic traffic(t);
  const Cache cache = {.capacity = static_cast<double>(t.target().core_cache_bytes) / 2};
  double least = MostTraffic(t, traffic.Of(nest, {cache}));
  size_t best = 0;
  for (size_t k = 1; k < globals.size(); ++k) {
    std::swap(nest[0], nest[k]);
    if (const double bytes = traffic.Of(nest, {cache}); bytes < least) least = bytes, best = k;
    std::swap(nest[0], nest[k]);
  }
  if (best != 0) t.Swap(globals[0], t.nest().axes[globals[best]].name);
}

}  // namespace tg::schedule
