// Bounds: for each integer, index or bool node, an interval that holds its value in every lane, and
// the greatest number known to divide it. Computed on demand, kept by node id, without recursion.
//
// What is known of leaves: constants; a var's declared bounds; range, special and unroll run over
// 0..size-1. What is read from memory may be anything of its type.
#ifndef TG_PASSES_ANALYSIS_BOUNDS_H_
#define TG_PASSES_ANALYSIS_BOUNDS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "ir/module.h"
#include "ir/uop.h"
#include "passes/analysis/interval.h"

namespace tg {

// What holds of every value of a range that ends at an index which is not constant:
// factor * range + offset <= limit.
struct RangeLimit {
  int64_t factor;
  int64_t offset;
  const UOp* limit;
};
// nullopt for other nodes, and where the numbers are too great.
std::optional<RangeLimit> LimitOf(const UOp* range);

class Bounds {
 public:
  // `module` declares the vars; null: a var may have any value. Both outlive the Bounds.
  explicit Bounds(const Context& ctx, const Module* module = nullptr)
      : ctx_(ctx), module_(module) {}

  // Nodes that are no integers, indices or bools have the unbounded interval.
  Interval Of(const UOp* u) {
    if (u->id < rows_.size() && rows_[u->id].is_known()) return rows_[u->id].Get();
    return Compute(u);
  }
  int64_t Min(const UOp* u) { return Of(u).lo; }
  int64_t Max(const UOp* u) { return Of(u).hi; }

  // Says what is known of `u` from elsewhere, before anything that uses `u` was asked for.
  void Declare(const UOp* u, Interval v) { RowOf(u) = Row(v); }

  // The greatest d >= 0 known to divide `u`; 0: `u` is 0.
  int64_t KnownDivisor(const UOp* u);

 private:
  // An interval, or none yet: all zeros, which tables are filled with fastest.
  class Row {
   public:
    Row() = default;
    explicit Row(Interval v) : lo_(v.lo), not_hi_(~v.hi) {}
    bool is_known() const { return lo_ <= ~not_hi_; }
    Interval Get() const { return {lo_, ~not_hi_}; }

   private:
    int64_t lo_ = 0, not_hi_ = 0;
  };
  Row& RowOf(const UOp* u) {
    if (u->id >= rows_.size()) rows_.resize(std::max<size_t>(u->id + 1 + rows_.size(), 64));
    return rows_[u->id];
  }
  Interval Compute(const UOp* u);
  // `n`: how many sources decide it.
  Interval FromSources(const UOp* u, size_t n) const;
  Interval Source(const UOp* u, size_t i) const { return rows_[u->src(i)->id].Get(); }

  const Context& ctx_;
  const Module* module_;
  std::vector<Row> rows_;
  std::vector<int64_t> divisors_;  // -1: not computed
};

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_BOUNDS_H_
