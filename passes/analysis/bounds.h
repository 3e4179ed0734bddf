// Bounds of values: for each integer, index or bool node, an interval that contains its value in
// every lane, and the greatest number that is known to divide it. Both are computed on demand,
// without recursion, and cached by node id.
//
// The interval of a constant is the constant; a var has its declared bounds; range, special and
// unroll have the values 0..size-1. A value read from memory may be any value of its type.
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

namespace tg::analysis {

// For a range whose end is an index expression that is not constant: an inequality that holds in
// every iteration, factor * range + offset <= limit.
struct RangeLimit {
  int64_t factor;
  int64_t offset;
  const UOp* limit;
};
// Returns nullopt for other nodes, and if a number would overflow or the end is a quotient by a
// number that is not positive.
std::optional<RangeLimit> LimitOf(const UOp* range);

class Bounds {
 public:
  // `module` declares the bounds of vars. Without it a var may have any value. `ctx` and `module`
  // must outlive this object.
  explicit Bounds(const Context& ctx, const Module* module = nullptr)
      : ctx_(ctx), module_(module) {}

  // A node whose type is not integer, index or bool has the unbounded interval.
  Interval Of(const UOp* u) {
    if (2 * u->id < table_.size()) {
      if (const Row row = RowAt(u); row.is_known()) return row.Get();
    }
    return Compute(u);
  }
  int64_t Min(const UOp* u) { return Of(u).lo; }
  int64_t Max(const UOp* u) { return Of(u).hi; }

  // Sets the interval of `u` from outside. Must precede every query of a node that uses `u`.
  void Declare(const UOp* u, Interval v) { EnsureRow(u).Set(v); }

  // The greatest d >= 0 known to divide `u` in every lane; 0: `u` is 0. 1 if nothing is known.
  int64_t KnownDivisor(const UOp* u);

 private:
  // Two words of table_: the lower end of an interval and the complement of its upper end. Two
  // zeros would be the empty interval 0..-1, and mean "not computed", so that a new table is
  // zero-filled.
  struct Row {
    int64_t* words;
    bool is_known() const { return words[0] <= ~words[1]; }
    Interval Get() const { return {words[0], ~words[1]}; }
    void Set(Interval v) const { words[0] = v.lo, words[1] = ~v.hi; }
  };
  Row RowAt(const UOp* u) { return {&table_[2 * u->id]}; }
  Row EnsureRow(const UOp* u) {
    if (2 * u->id >= table_.size()) {
      // Queries usually reach most nodes, so the table grows to all nodes of the context at once.
      table_.resize(std::max<size_t>(2 * ctx_.num_nodes(), 2 * (u->id + 1) + table_.size()));
    }
    return RowAt(u);
  }
  Interval Compute(const UOp* u);
  // The interval of `u`, computed from those of its first `n` sources, which are known.
  Interval FromSources(const UOp* u, size_t n);
  Interval Source(const UOp* u, size_t i) { return RowAt(u->src(i)).Get(); }

  const Context& ctx_;
  const Module* module_;
  std::vector<int64_t> table_;     // a Row by id
  std::vector<int64_t> divisors_;  // -1: not computed
};

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_BOUNDS_H_
