// StructuralOrder: an order of nodes that depends on what they compute, never on addresses or on
// when they were made, so that equal expressions get equal forms in every kernel.
//
// First by rank, how often a value changes: constants, vars, specials, ranges (outer first, by
// their id), what depends on memory. So the prefix of a sorted sum is what loops may hoist. Then by
// a hash of the structure.
#ifndef TG_PASSES_ANALYSIS_ORDER_H_
#define TG_PASSES_ANALYSIS_ORDER_H_

#include <cstdint>
#include <vector>

#include "ir/context.h"
#include "ir/uop.h"

namespace tg {

class StructuralOrder {
 public:
  struct Key {
    uint64_t hash = 0;  // 0: not computed
    int64_t rank = 0;
  };
  static constexpr int64_t kVarRank = 1, kSpecialRank = 2, kUnrollRank = 100, kRangeRank = 1000,
                           kMemoryRank = int64_t{1} << 60;

  explicit StructuralOrder(const Context& ctx) : ctx_(ctx) {}

  Key Of(const UOp* u) {
    if (u->id < keys_.size() && keys_[u->id].hash) return keys_[u->id];
    return Compute(u);
  }
  int64_t Rank(const UOp* u) { return Of(u).rank; }

  // < 0, 0 or > 0. 0 only for one node (or a collision of 64-bit hashes).
  int Compare(const UOp* a, const UOp* b) {
    if (a == b) return 0;
    const Key ka = Of(a), kb = Of(b);
    if (ka.rank != kb.rank) return ka.rank < kb.rank ? -1 : 1;
    return ka.hash < kb.hash ? -1 : ka.hash > kb.hash;
  }

 private:
  Key Compute(const UOp* u);
  Key FromSources(const UOp* u) const;

  const Context& ctx_;
  std::vector<Key> keys_;
};

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_ORDER_H_
