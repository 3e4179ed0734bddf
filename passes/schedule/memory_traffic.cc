#include "passes/schedule/memory_traffic.h"

#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
namespace {

// Whether axes of this kind are loops of the nest; all others are inside its body.
bool IsAround(AxisKind kind) { return kind == AxisKind::kGlobal || kind == AxisKind::kLoop; }

// The share of a working set that stays in a cache.
double Stays(double bytes, const Cache& cache) {
  if (bytes <= cache.capacity) return 1;
  const double most = cache.slack * cache.capacity;
  return bytes >= most ? 0 : (most - bytes) / (most - cache.capacity);
}

}  // namespace

MemoryTraffic::MemoryTraffic(const ScheduleBuilder& t) : t_(t) {
  for (const analysis::Access& a : t_.accesses()) {
    if (a.is_store()) continue;
    Load load = LoadOf(a);
    // Several reduces that read the same elements cause one load in the model, with a count.
    auto same = llvm::find_if(loads_, [&](const Load& other) { return Same(load, other); });
    if (same != loads_.end())
      ++same->reduces;
    else
      loads_.push_back(std::move(load));
  }
}

double MemoryTraffic::Of(const Nest& nest, std::initializer_list<Cache> caches) const {
  const size_t n = loads_.size();
  llvm::SmallVector<double, 32> bytes((nest.size() + 1) * n);  // by level and load
  for (size_t i = 0; i < n; ++i) {
    Strides strides = loads_[i].inside;
    for (size_t level = nest.size();; --level) {
      bytes[level * n + i] = Bytes(loads_[i], strides);
      if (level == 0) break;
      AddLoop(strides, loads_[i], nest, level - 1);
    }
  }
  double cost = 0;
  for (const Cache& cache : caches) cost += cache.cost * BeyondCache(nest, bytes, cache);
  return cost;
}

double MemoryTraffic::BeyondCache(const Nest& nest, llvm::ArrayRef<double> bytes,
                                  const Cache& cache) const {
  const size_t n = loads_.size();
  llvm::SmallVector<double, 8> read(bytes.end() - static_cast<ptrdiff_t>(n), bytes.end());
  // If the working set of the nest's body stays in the cache, the second reduce of an iteration
  // finds there what the first one has read.
  double in_step = 0;
  for (size_t i = 0; i < n; ++i) in_step += read[i];
  for (size_t i = 0; i < n; ++i) {
    read[i] *= 1 + (loads_[i].reduces - 1) * (1 - Stays(in_step, cache));
  }
  for (size_t level = nest.size(); level-- > 0;) {
    const auto all = bytes.slice(level * n, n), within = bytes.slice((level + 1) * n, n);
    double body = 0;
    for (size_t i = 0; i < n; ++i) body += within[i];
    const auto steps = static_cast<double>(nest[level].second);
    for (size_t i = 0; i < n; ++i) {
      const bool looked_at = !cache.innermost || level + 1 == nest.size();
      const double stays = looked_at ? Stays(body, cache) : 0;
      read[i] *= stays * (all[i] / within[i]) + (1 - stays) * steps;
    }
  }
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += read[i];
  return sum;
}

MemoryTraffic::Load MemoryTraffic::LoadOf(const analysis::Access& a) const {
  const UOp* memory = a.node->src(0);
  while (memory->num_srcs > 0) memory = memory->src(0);
  const auto element = static_cast<double>(ByteSize(a.node->src(0)->dtype.scalar()));
  const auto whole = element * static_cast<double>(memory->dtype.size());
  Load load = {.slot = a.slot, .element = element, .whole = whole};
  for (size_t i = 0; i < t_.nest().axes.size(); ++i) {
    const std::optional<int64_t> stride = t_.Stride(a, i);
    load.strides.push_back(stride ? std::abs(*stride) : INT64_MAX);
    if (!IsAround(t_.nest().axes[i].kind)) Add(load.inside, load, i, t_.Size(i));
  }
  return load;
}

void MemoryTraffic::Add(Strides& strides, const Load& load, size_t axis, int64_t steps) {
  if (load.strides[axis] == 0) return;
  const std::pair<int64_t, int64_t> own = {load.strides[axis], steps};
  strides.insert(llvm::upper_bound(strides, own), own);
}

void MemoryTraffic::AddLoop(Strides& strides, const Load& load, const Nest& nest, size_t level) {
  const auto [axis, steps] = nest[level];
  // An axis that is split into blocks has two loops; the inner and the outer one together run over
  // consecutive elements.
  int64_t within = 1;
  for (size_t n = level + 1; n < nest.size(); ++n) {
    if (nest[n].first == axis) within *= nest[n].second;
  }
  auto* inner = llvm::find(strides, std::pair(load.strides[axis], within));
  if (within > 1 && inner != strides.end()) strides.erase(inner);
  Add(strides, load, axis, steps * within);
}

bool MemoryTraffic::Same(const Load& a, const Load& b) const {
  if (a.slot != b.slot || Bytes(a, a.inside) != Bytes(b, b.inside)) return false;
  for (size_t i = 0; i < t_.nest().axes.size(); ++i) {
    if (IsAround(t_.nest().axes[i].kind) && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

double MemoryTraffic::Bytes(const Load& load, const Strides& strides) const {
  // Elements closer than a cache line share lines, as do overlapping windows. Hardware fetches a
  // line together with its neighbour, so a line counts twice its size.
  const double line = 2 * t_.target().cache_line / load.element;
  double runs = 1, run = 1;
  for (const auto& [stride, steps] : strides) {
    const auto distance = static_cast<double>(stride), more = static_cast<double>(steps) - 1;
    if (distance <= std::max(run, line))
      run += more * distance;
    else
      runs *= more + 1;
  }
  return std::min(runs * std::max(run, line) * load.element, load.whole);
}

}  // namespace tg::schedule
