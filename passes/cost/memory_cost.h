// The memory terms: bytes of whole cache lines that a kernel moves at each level of a device's
// memory, by reuse distance, over the level's rate.
#ifndef TG_PASSES_COST_MEMORY_COST_H_
#define TG_PASSES_COST_MEMORY_COST_H_

#include <string_view>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "passes/cost/scheduled_work.h"
#include "passes/target.h"

namespace tg::cost {

// A memory, and the cache in front of it.
struct MemoryLevel {
  std::string_view name;             // "core cache", "shared cache", "memory"
  double cache_bytes = 0;            // what is in this cache is not fetched from the memory
  double unit_bytes_per_second = 0;  // the rate of one unit
  double bytes_per_second = 0;       // all units together; 0: no limit but that of each
  bool is_shared = false;            // the cache in front serves all units
  bool is_far = false;               // a core waits for a line that its prefetcher does not foresee
};

// The levels of a target, the nearest first. What a load hits in the nearest cache is a matter of
// the compute term.
std::vector<MemoryLevel> MemoryLevels(const passes::Target& target);

// Bytes of the lines that the access touches in one step of the loops before position `from` of its
// nest; `from` = nest.loops.size(): in one execution.
double FootprintBytes(const ScheduledWork& work, const MemoryAccess& access, size_t from,
                      const passes::Target& target);

// The time of a load from a far memory, as a multiple of that for contiguous data. A core's
// prefetcher follows Target::prefetch_streams runs of lines at a time, up to the ends of pages;
// where a load begins another run it waits as long as for Target::miss_bytes. 1 on a GPU, whose
// units compute while others wait, and for stores.
double UnforeseenFactor(const ScheduledWork& work, const MemoryAccess& access,
                        const passes::Target& target);

// Bytes that a part of the work moves between a memory and the cache in front of it, where those of
// a far memory count by UnforeseenFactor. Each step of a
// loop fetches the data of its body again, unless they stay in the cache; then what consecutive
// steps share is fetched once. Several accesses to the same data fetch them once, if these stay in
// the cache from one to the next. A kernel whose data all stay fetches nothing: they are taken to
// be there from the kernel before it, or from the previous run.
double BytesMoved(const ScheduledWork& work, const MemoryLevel& level, const passes::Target& target,
                  Part part = Part::kAll);

// The part of the work that one unit does: the steps of the loops over groups are divided among
// `units`, the outermost first. A unit takes neighbouring steps; if units take them
// `in_turns`, as a GPU's do, a unit's steps are no neighbours.
ScheduledWork ShareOfUnit(const ScheduledWork& work, double units, bool in_turns);

// Seconds of a part of the work by level, in the order of MemoryLevels.
llvm::SmallVector<double, 3> MemorySeconds(const ScheduledWork& work, const passes::Target& target,
                                           Part part = Part::kAll);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_MEMORY_COST_H_
