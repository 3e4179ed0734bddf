// What the blockings of a contraction on a CPU cost: a bound by which the rule orders the blockings
// that it proposes, before there is a nest.
#ifndef TG_PASSES_COST_BLOCKING_COST_H_
#define TG_PASSES_COST_BLOCKING_COST_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "passes/cost/operand_traversal.h"
#include "passes/target.h"

namespace tg::cost {

// One way to block a contraction. A register tile is `rows` rows by `vectors` vectors of lanes. A
// group computes several such tiles: it iterates over blocks of lanes, in a block over tiles of
// rows, and for each of these over strips. A strip is the lanes of one tile; lines are the
// iterations of the second innermost axis of the lanes (or rows).
struct Blocking {
  int64_t vectors = 1, rows = 1;            // of a register tile
  int64_t row_groups = 1, lane_groups = 1;  // work-groups along the rows and the lanes
  int64_t tiles = 1;                        // register tiles along the rows of a group
  int64_t blocks = 1, strips = 1;           // blocks of lanes in a group; strips in a block
  int64_t lines = 1;                        // lines of lanes in a block
  int64_t row_lines = 1;                    // lines of rows in a group
  int64_t slices = 1, depth = 1;  // the outermost axis of terms is cut into slices of `depth`
  enum class RowCopy { kNone, kTile, kLine, kGroup } row_copy = RowCopy::kTile;
  bool lanes_in_place = false;  // the lanes' operands are read where they are, not from a copy
  double seconds = 0;
};

// One sum of products: its terms, and those of the outermost axis of terms.
struct BlockedSum {
  int64_t terms = 1, outer_terms = 1;
  Traversal lanes, rows;
};

// A contraction as loops: the rows and the lanes of its results have an innermost axis (`rows`,
// `adjacent`), one around it (`row_lines`, `lines`), and others (`others`, `images`).
struct BlockedContraction {
  int64_t vector = 1, bytes = 4;  // lanes of a vector, and the bytes of an element of the sums
  int64_t batch = 1, rows = 1, row_lines = 1, others = 1, adjacent = 1, lines = 1, images = 1;
  int64_t result_stride = 1;    // elements between results along the vectors' axis
  int64_t symbolic_groups = 1;  // groups for the steps of symbolic axes
  double epilogue = 0;          // additions per result, of what is computed from finished sums
  std::vector<BlockedSum> sums;
};

// For one pass over a block: the memory accesses for a group's rows, the elements of the copy of
// rows, and the cache lines that are read again from beyond the nearest cache without prefetch.
// Infinite if the copy does not fit.
struct RowReads {
  double accesses = std::numeric_limits<double>::infinity();
  double copied = 0, reread_lines = 0;
};
// For one pass over a block: the terms, and for copying the lanes' operands the memory accesses
// and the elements of the copies.
struct Panels {
  double terms = 0, accesses = 0, copied = 0;
};

class BlockingCost {
 public:
  BlockingCost(BlockedContraction of, const passes::Target& target)
      : of_(std::move(of)), target_(target) {}

  const BlockedContraction& of() const { return of_; }
  // How much longer the multiply-adds of a register tile take than at the full rate.
  double Stall(const Blocking& b) const;
  // Predicted time of the multiply-adds alone, if the terms are not cut into slices. A lower bound
  // for every blocking with these groups.
  double ComputeSeconds(const Blocking& b) const;
  // Sets how the terms and the lanes of a group are cut. With `slices`, the terms are cut so that a
  // strip's panel stays in the nearest cache. Returns nullopt if a block of lanes is too large for
  // the core's cache.
  std::optional<Panels> CutIntoPanels(Blocking& b, bool slices) const;
  // Of all sums.
  RowReads ReadsOfRows(const Blocking& b) const;
  // The predicted time of a blocking, given the memory accesses for the rows of a group in one pass
  // over a block. Infinite if the copies do not fit.
  double Seconds(const Blocking& b, const Panels& panels, const RowReads& rows_read) const;

 private:
  int64_t DepthOf(const Blocking& b, const BlockedSum& sum) const;
  // Whether the lanes of a sum's operand are vectors in memory, and rows of them do not evict each
  // other from the nearest cache.
  bool CanReadLanes(const BlockedSum& sum) const;
  // Whether elements at this distance map to the same set of the nearest cache: whether the
  // distance is a multiple of the size of one way.
  bool Conflicts(int64_t stride) const;
  // The extra time to store one result, in vector multiply-adds, if results are not contiguous.
  // Strided results are stored one by one, and if they evict each other from the cache, each store
  // also waits for its cache line.
  double StridedStoreCost() const;
  // The time of a load that misses the nearest cache only.
  double NearMissSeconds() const;
  // The number of cache lines that are read again, and not prefetched, if the rows of a group are
  // read in `times` parts. If rows are adjacent in memory and terms are not, neighbouring tiles
  // share lines. Prefetchers that detect strides do not cross pages.
  double RereadLines(const Blocking& b, const Traversal& rows, int64_t depth, int64_t times,
                     int64_t lines, int64_t steps) const;
  RowReads ReadsOf(const Blocking& b, const Traversal& rows, int64_t depth) const;

  const BlockedContraction of_;
  const passes::Target& target_;
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_BLOCKING_COST_H_
