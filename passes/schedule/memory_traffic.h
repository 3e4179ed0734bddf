// Reuse-distance model of memory traffic: how many bytes a nest of loops over a kernel's results
// reads from beyond a cache.
#ifndef TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_
#define TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {

// A nest of loops over results, the outermost first; for each loop its axis and its trip count.
using Nest = llvm::SmallVector<std::pair<size_t, int64_t>, 6>;

// A cache. If the working set of a loop's body is at most `capacity`, what consecutive iterations
// share is read once. Above `capacity * slack` every iteration reads its data again. Between the
// two, the reused share falls linearly.
struct Cache {
  double capacity;         // in bytes
  double slack = 1;        // bound of reuse, relative to `capacity`
  bool innermost = false;  // only the innermost loop reuses data
  double cost = 1;         // weight of a byte read from beyond this cache
};

// The loads of a kernel, and the traffic that they cause in a given nest.
class MemoryTraffic {
 public:
  explicit MemoryTraffic(const ScheduleBuilder& t);

  // The bytes read from beyond each cache, in whole cache lines, weighted by the cache's `cost` and
  // added up.
  double Of(const Nest& nest, std::initializer_list<Cache> caches) const;

 private:
  // Strides of an access with their trip counts, in ascending order.
  using Strides = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;
  struct Load {
    int64_t slot;
    Strides inside;                          // of axes inside the nest: lanes and reduce loops
    llvm::SmallVector<int64_t, 12> strides;  // by axis; INT64_MAX if it is not affine in the axis
    double element, whole;                   // size in bytes of an element, and of the argument
    double reduces = 1;                      // how many reduces read the same elements
  };

  double BeyondCache(const Nest& nest, llvm::ArrayRef<double> bytes, const Cache& cache) const;
  // The fields of Load that do not depend on the nest.
  Load LoadOf(const analysis::Access& a) const;
  static void Add(Strides& strides, const Load& load, size_t axis, int64_t steps);
  bool Same(const Load& a, const Load& b) const;
  // Extends `strides` by the loop at `level` of `nest`, after all loops inside it.
  static void AddLoop(Strides& strides, const Load& load, const Nest& nest, size_t level);
  // Bytes of the cache lines that these strides touch.
  double Bytes(const Load& load, const Strides& strides) const;

  const ScheduleBuilder& t_;
  std::vector<Load> loads_;
};

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_
