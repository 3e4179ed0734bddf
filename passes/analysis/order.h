// StructuralOrder: an order of nodes that depends only on what they compute, never on addresses or
// on the order of creation. So equal expressions get equal forms in every kernel. It is total
// unless two hashes of 64 bits collide.
//
// The first key is the rank, which says how often a value changes, in ascending order: constants,
// vars, specials, unrolled axes, ranges (outer first, by their id), values that depend on memory.
// The terms of a sum are sorted by it, so that a leading part of the sum is invariant in the inner
// loops and can be hoisted. The second key is a hash of the structure.
#ifndef TG_PASSES_ANALYSIS_ORDER_H_
#define TG_PASSES_ANALYSIS_ORDER_H_

#include <cstdint>

#include "ir/context.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg::analysis {

class StructuralOrder {
 public:
  static constexpr int64_t kVarRank = 1, kSpecialRank = 2, kUnrollRank = 100, kRangeRank = 1000,
                           kMemoryRank = int64_t{1} << 60;

  explicit StructuralOrder(const Context& ctx) : ctx_(ctx) {}

  int64_t Rank(const UOp* u) {
    const int64_t known = ranks_.Get(u);
    return (known != 0 ? known : ComputeRank(u)) - 1;
  }
  // The hash of the node's structure. It is rarely computed, since most nodes that are compared
  // differ in rank.
  uint64_t Hash(const UOp* u) {
    const uint64_t known = hashes_.Get(u);
    return known != 0 ? known : ComputeHash(u);
  }

  // Returns a negative number, 0 or a positive number if a is before, equal to or after b. Returns
  // 0 only if a == b or if the 64-bit hashes collide.
  int Compare(const UOp* a, const UOp* b) {
    if (a == b) return 0;
    if (Rank(a) != Rank(b)) return Rank(a) < Rank(b) ? -1 : 1;
    return Hash(a) < Hash(b) ? -1 : Hash(a) > Hash(b);
  }

 private:
  int64_t ComputeRank(const UOp* u);
  uint64_t ComputeHash(const UOp* u);
  // These require that the rank or hash of every source of `u` has been computed.
  int64_t RankFromSources(const UOp* u) const;
  uint64_t HashFromSources(const UOp* u) const;

  const Context& ctx_;
  NodeMap<int64_t> ranks_;  // 1 + the rank; 0: not computed
  NodeMap<uint64_t> hashes_;
};

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_ORDER_H_
