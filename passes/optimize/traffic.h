// What loops over a kernel's results read from beyond a cache.
#ifndef TG_PASSES_OPTIMIZE_TRAFFIC_H_
#define TG_PASSES_OPTIMIZE_TRAFFIC_H_

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/optimize/heuristic.h"

namespace tg {

// Loops over results, the outermost first: an axis and how many steps of it.
using Nest = llvm::SmallVector<std::pair<size_t, int64_t>, 6>;

// What stays from one step of a loop to the next.
struct Cache {
  double bytes;
  double most = 1;         // of so many times as much nothing stays, of less a part
  bool innermost = false;  // looked at for the innermost loop alone; of others nothing stays
  double cost = 1;         // of a byte from beyond it
};

// What the loads of a kernel read in loops over its results.
class Traffic {
 public:
  // `own_loops`: so many of the innermost loops each store, or sum that is kept, has for itself.
  explicit Traffic(const Tuner& t, size_t own_loops = 0);

  // Counts what is stored too: a line is fetched and written back for each part of it, unless it
  // stays.
  void AddStores();

  // Bytes that are read from beyond each cache, in whole lines, times what they cost: a loop reads
  // what is within it again in each step, unless all that its body reads stays in the cache from
  // one step to the next; then what a step shares with the one before is read once.
  double Of(const Nest& nest, std::initializer_list<Cache> caches) const;

 private:
  // How an access goes through memory: strides, and how many steps of each, the least first.
  using Strides = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;
  struct Load {
    int64_t slot;
    Strides inside;                          // of all that is not around
    llvm::SmallVector<int64_t, 12> strides;  // by axis; no less where it is not linear
    double element, whole;                   // bytes of one, and of all of the argument
    size_t store = 0;                        // in whose loop
    bool is_again = false;                   // a store before this one reads the same
    double reduces = 1;                      // so many of its store read the same
    bool is_packed = false;                  // what a group reads lies together
    double times = 1;                        // that it goes through memory
  };

  double BeyondCache(const Nest& nest, llvm::ArrayRef<double> bytes, const Cache& cache) const;
  // Whether an access is one of a store's, of those that several have of one load.
  bool IsOf(const NodeSet& body, const Access& a) const;
  // Those of `of`; null: all.
  void AddLoads(const NodeSet* of, size_t store);
  // What is known of an access by itself.
  Load LoadOf(const Access& a) const;
  static void Add(Strides& strides, const Load& load, size_t axis, int64_t steps);
  bool Same(const Load& a, const Load& b) const;
  // Adds the loop of `nest` with number `level` around those from the next one on.
  static void AddLoop(Strides& strides, const Load& load, const Nest& nest, size_t level);
  // What is read in so many steps of these strides.
  double Bytes(const Load& load, const Strides& strides) const;

  const Tuner& t_;
  const size_t own_loops_;
  size_t stores_ = 0;
  std::vector<Load> loads_;
};

}  // namespace tg

#endif  // TG_PASSES_OPTIMIZE_TRAFFIC_H_
