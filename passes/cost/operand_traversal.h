// How a contraction reads one operand.
#ifndef TG_PASSES_COST_OPERAND_TRAVERSAL_H_
#define TG_PASSES_COST_OPERAND_TRAVERSAL_H_

#include <cstdint>
#include <utility>

#include "llvm/ADT/SmallVector.h"

namespace tg::cost {

// One pair per loop around an access: the distance in memory between consecutive iterations, and
// the trip count.
using StridedLoops = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;

// How an operand is traversed: the strides in memory of its tiled axis (the innermost axis of its
// role), of the axis around that (`line`), and of the terms.
struct Traversal {
  int64_t tiled = 0, line = 0, outer_term = 0;
  StridedLoops inner_terms;  // inside the outermost axis of terms, by ascending strides
  // Whether neighbours along the tiled axis read overlapping terms, as neighbouring pixels do in a
  // convolution's window.
  bool has_window = false;
  bool is_indirect = false;
  bool in_lanes = false;  // the tiled axis has the vectors

  // Sets `inner_terms` and `has_window`. Requires `tiled`.
  void SetInnerTerms(StridedLoops terms);

  // Relative cost of copying an element. It is 1, the read, since the written element stays in a
  // cache; it is 2 if neighbours in the copy are strided in memory.
  double CopyAccesses() const { return tiled == 1 || (has_window && !in_lanes) ? 1 : 2; }

  // The size, in elements, of a copy of everything that is read in the given numbers of iterations.
  // If the lanes are strided in memory, they become adjacent in the copy, and overlapping windows
  // no longer share elements.
  double Elements(int64_t terms, int64_t lines, int64_t steps) const;

  // The cache lines of `line_elements` elements that these iterations read: their number, and the
  // distance, in elements, between runs of adjacent ones.
  struct CacheLines {
    double count = 1;
    int64_t distance = 0;
  };
  CacheLines LinesRead(int64_t terms, int64_t lines, int64_t steps, int64_t line_elements) const;

 private:
  // The loops around an access, by ascending strides.
  StridedLoops AllSteps(int64_t terms, int64_t lines, int64_t steps) const;
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_OPERAND_TRAVERSAL_H_
