#include "passes/cost/memory_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace tg::cost {
namespace {

// Working sets up to the capacity stay in a cache, those of `slack` times as much do not, and
// between the two a share that falls linearly.
double Stays(double bytes, double capacity, double slack) {
  return std::clamp((slack - bytes / capacity) / (slack - 1), 0.0, 1.0);
}

class Traffic {
 public:
  Traffic(const ScheduledWork& work, const MemoryLevel& level, const passes::Target& target)
      : work_(work),
        capacity_(level.cache_bytes),
        slack_(target.cache_slack),
        write_traffic_(target.write_traffic) {
    for (const MemoryAccess& a : work.accesses) {
      llvm::SmallVector<double, 8>& bytes = bytes_.emplace_back();
      for (size_t k = 0; k <= a.nest.loops.size(); ++k) {
        bytes.push_back(FootprintBytes(work, a, k, target));
      }
      factors_.push_back(level.is_far ? UnforeseenFactor(work, a, target) : 1);
    }
  }

  double Of(Part part) const {
    double sum = 0;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (IsIn(part, work_.accesses[i].is_fill)) sum += Of(i);
    }
    return sum * (1 - Stays(WorkingSet(kWhole), capacity_, slack_));
  }

 private:
  static constexpr size_t kWhole = SIZE_MAX;

  const LoopList& Loops(size_t access) const { return work_.accesses[access].nest.loops; }

  // Bytes that one step of a loop touches, or the whole kernel, where each buffer counts once.
  double WorkingSet(size_t loop) const {
    llvm::SmallVector<std::pair<int64_t, double>, 8> most;  // by buffer
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (work_.accesses[i].is_local) continue;
      size_t level = 0;
      if (loop != kWhole) {
        const auto* at = llvm::find(Loops(i), loop);
        if (at == Loops(i).end()) continue;
        level = static_cast<size_t>(at - Loops(i).begin()) + 1;
      }
      const int64_t buffer = work_.accesses[i].buffer;
      auto* known = llvm::find_if(most, [&](const auto& m) { return m.first == buffer; });
      if (known == most.end()) {
        most.emplace_back(buffer, bytes_[i][level]);
      } else {
        known->second = std::max(known->second, bytes_[i][level]);
      }
    }
    double sum = 0;
    for (const auto& [buffer, bytes] : most) sum += bytes;
    return sum;
  }

  // The share of an access's data that an earlier one to the same buffer has fetched: in the step
  // of their innermost common loop, if its working set stays in the cache.
  double FetchedBefore(size_t access) const {
    const MemoryAccess& a = work_.accesses[access];
    double best = 0;
    for (size_t i = 0; i < access; ++i) {
      const MemoryAccess& b = work_.accesses[i];
      if (b.buffer != a.buffer) continue;
      size_t common = 0;
      const size_t most = std::min(Loops(i).size(), Loops(access).size());
      while (common < most && Loops(i)[common] == Loops(access)[common]) ++common;
      const bool alike = llvm::all_of(llvm::seq<size_t>(0, common), [&](size_t k) {
        return a.strides[Loops(i)[k]] == b.strides[Loops(i)[k]];
      });
      if (!alike) continue;
      const size_t loop = common == 0 ? kWhole : Loops(i)[common - 1];
      const double shared = std::min(1.0, bytes_[i][common] / bytes_[access][common]);
      best = std::max(best, shared * Stays(WorkingSet(loop), capacity_, slack_));
    }
    return best;
  }

  double Of(size_t access) const {
    const MemoryAccess& a = work_.accesses[access];
    if (a.is_local) return 0;
    const auto& bytes = bytes_[access];
    const size_t inner = std::min(a.box, Loops(access).size());
    double moved = bytes[inner];
    for (size_t k = inner; k-- > 0;) {
      const size_t loop = Loops(access)[k];
      const double stays = Stays(WorkingSet(loop), capacity_, slack_);
      moved *= stays * bytes[k] / bytes[k + 1] + (1 - stays) * work_.loops[loop].trips;
    }
    const double before = FetchedBefore(access);
    // A line that is written is fetched first, unless it is there, and written back.
    return moved * factors_[access] *
           (a.is_store ? write_traffic_ - before * (write_traffic_ - 1) : 1 - before);
  }

  const ScheduledWork& work_;
  const double capacity_, slack_, write_traffic_;
  std::vector<llvm::SmallVector<double, 8>> bytes_;  // by access and level of its nest
  std::vector<double> factors_;                      // by access: UnforeseenFactor, where it counts
};

}  // namespace

std::vector<MemoryLevel> MemoryLevels(const passes::Target& target) {
  const auto bytes = [](int64_t n) { return static_cast<double>(n); };
  std::vector<MemoryLevel> levels;
  if (target.near_cache_bytes > 0) {
    levels.push_back({"core cache", bytes(target.near_cache_bytes),
                      target.core_cache_bytes_per_second, 0, false});
  }
  levels.push_back({"shared cache", bytes(target.core_cache_bytes),
                    target.shared_cache_bytes_per_second, 0, false, true});
  levels.push_back({"memory", bytes(target.shared_cache_bytes), target.unit_bytes_per_second,
                    target.bytes_per_second, true, true});
  return levels;
}

double FootprintBytes(const ScheduledWork& work, const MemoryAccess& access, size_t from,
                      const passes::Target& target) {
  llvm::SmallVector<std::pair<int64_t, double>, 12> strides;
  const auto add = [&](uint16_t loop) {
    if (access.strides[loop] != 0) {
      strides.emplace_back(access.strides[loop], work.loops[loop].trips);
    }
  };
  for (size_t k = from; k < access.nest.loops.size(); ++k) add(access.nest.loops[k]);
  for (const uint16_t loop : access.nest.lanes) add(loop);
  llvm::sort(strides);
  // Strides below a line share lines, as do the overlapping windows of neighbours.
  const double line = static_cast<double>(target.FetchedBytes()) / access.element_bytes;
  double runs = 1, run = 1;
  for (const auto& [stride, trips] : strides) {
    const auto distance = static_cast<double>(stride);
    if (distance <= std::max(run, line)) {
      run += (trips - 1) * distance;
    } else {
      runs *= trips;
    }
  }
  return std::min(runs * std::max(run, line) * access.element_bytes,
                  std::max(access.buffer_bytes, access.element_bytes));
}

double UnforeseenFactor(const ScheduledWork& work, const MemoryAccess& access,
                        const passes::Target& target) {
  if (target.HidesWaits() || access.is_store) return 1;
  const double line = target.cache_line / access.element_bytes;
  const auto page = static_cast<double>(target.page_bytes);
  // From the innermost loop outwards: the elements of a run, and how many runs take turns.
  double run = 1, streams = 1;
  const auto add = [&](uint16_t loop) {
    const auto stride = static_cast<double>(access.strides[loop]);
    const double trips = work.loops[loop].trips;
    if (stride * access.element_bytes >= page && stride > run) {
      streams *= trips;
    } else if (streams <= target.prefetch_streams) {
      run += (trips - 1) * stride;
    }
  };
  for (const uint16_t loop : llvm::reverse(access.nest.lanes)) add(loop);
  for (const uint16_t loop : llvm::reverse(access.nest.loops)) add(loop);
  // Contiguous data wait at the end of each page, and rates are measured with that.
  const double bytes = std::min(page, std::max(run, line) * access.element_bytes);
  const auto wait = static_cast<double>(target.miss_bytes);
  return (1 + wait / bytes) / (1 + wait / page);
}

double BytesMoved(const ScheduledWork& work, const MemoryLevel& level, const passes::Target& target,
                  Part part) {
  return Traffic(work, level, target).Of(part);
}

ScheduledWork ShareOfUnit(const ScheduledWork& work, double units, bool in_turns) {
  ScheduledWork share = work;
  for (size_t i = 0; i < share.loops.size(); ++i) {
    WorkLoop& loop = share.loops[i];
    if (loop.steps != Steps::kGroups || units <= 1) continue;
    const double trips = std::ceil(loop.trips / units), between = loop.trips / trips;
    units /= between;
    loop.trips = trips;
    if (!in_turns) continue;
    for (MemoryAccess& a : share.accesses) {
      a.strides[i] = static_cast<int64_t>(static_cast<double>(a.strides[i]) * between);
    }
  }
  return share;
}

llvm::SmallVector<double, 3> MemorySeconds(const ScheduledWork& work, const passes::Target& target,
                                           Part part) {
  const double groups = std::max(1.0, work.Trips(Steps::kGroups));
  const double units = std::min<double>(target.compute_units, groups);
  const ScheduledWork share = ShareOfUnit(work, units, target.is_gpu);
  llvm::SmallVector<double, 3> seconds;
  for (const MemoryLevel& level : MemoryLevels(target)) {
    const double bytes = BytesMoved(level.is_shared ? work : share, level, target, part);
    const double rate = level.unit_bytes_per_second * (level.is_shared ? units : 1);
    const bool limited = level.bytes_per_second > 0;
    seconds.push_back(bytes / (limited ? std::min(rate, level.bytes_per_second) : rate));
  }
  return seconds;
}

}  // namespace tg::cost
