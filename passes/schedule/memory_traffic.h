// Reuse-distance model of memory traffic: what loops over a kernel's results read from beyond a
// cache.
#ifndef TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_
#define TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/schedule/schedule_builder.h"

namespace tg {

// Loops over results, the outermost first: axis and trip count.
using Nest = llvm::SmallVector<std::pair<size_t, int64_t>, 6>;

// A cache, and the working sets whose data are reused in the next iteration of a loop.
struct Cache {
  double capacity;         // in bytes
  double slack = 1;        // working sets above `capacity * slack` are not reused
  bool innermost = false;  // reuse is counted in the innermost loop only
  double cost = 1;         // weight of a byte from beyond it
};

// The loads of a kernel in loops over its results. Working sets above `capacity * slack` are not
// reused at all; between `capacity` and that, reuse falls linearly.
class MemoryTraffic {
 public:
  explicit MemoryTraffic(const ScheduleBuilder& t);

  // Bytes that are read from beyond each cache, in whole lines, weighted by the cache's cost. Each
  // iteration of a loop reads its body's data again, unless the body's working set stays in the
  // cache; then what consecutive iterations share is read once.
  double Of(const Nest& nest, std::initializer_list<Cache> caches) const;

 private:
  // Strides of an access with their trip counts, in ascending order.
  using Strides = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;
  struct Load {
    int64_t slot;
    Strides inside;                          // of the axes that do not enclose a step
    llvm::SmallVector<int64_t, 12> strides;  // by axis; INT64_MAX if not affine in it
    double element, whole;                   // bytes of an element, and of the argument
    double reduces = 1;                      // reduces that read the same
  };

  double BeyondCache(const Nest& nest, llvm::ArrayRef<double> bytes, const Cache& cache) const;
  // What the access alone determines.
  Load LoadOf(const Access& a) const;
  static void Add(Strides& strides, const Load& load, size_t axis, int64_t steps);
  bool Same(const Load& a, const Load& b) const;
  // Adds the loop at `level` of `nest`; the inner ones have been added.
  static void AddLoop(Strides& strides, const Load& load, const Nest& nest, size_t level);
  // Bytes of the cache lines that these strides touch.
  double Bytes(const Load& load, const Strides& strides) const;

  const ScheduleBuilder& t_;
  std::vector<Load> loads_;
};

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_MEMORY_TRAFFIC_H_
