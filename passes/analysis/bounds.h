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
    if (2 * u->id < table_.size()) {
      if (const Row row = RowAt(u); row.is_known()) return row.Get();
    }
    return Compute(u);
  }
  int64_t Min(const UOp* u) { return Of(u).lo; }
  int64_t Max(const UOp* u) { return Of(u).hi; }

  // Says what is known of `u` from elsewhere, before anything that uses `u` was asked for.
  void Declare(const UOp* u, Interval v) { WithRoom(u).Set(v); }

  // The greatest d >= 0 known to divide `u`; 0: `u` is 0.
  int64_t KnownDivisor(const UOp* u);

 private:
  // Two words of table_: an interval's lower end and the complement of its upper one, so that none
  // yet is all zeros, which tables are filled with fastest.
  struct Row {
    int64_t* words;
    bool is_known() const { return words[0] <= ~words[1]; }
    Interval Get() const { return {words[0], ~words[1]}; }
    void Set(Interval v) const { words[0] = v.lo, words[1] = ~v.hi; }
  };
  Row RowAt(const UOp* u) { return {&table_[2 * u->id]}; }
  Row WithRoom(const UOp* u) {
    if (2 * u->id >= table_.size()) {
      // Who asks for one asks for most.
      table_.resize(std::max<size_t>(2 * ctx_.num_nodes(), 2 * (u->id + 1) + table_.size()));
    }
    return RowAt(u);
  }
  Interval Compute(const UOp* u);
  // `n`: how many sources decide it.
  Interval FromSources(const UOp* u, size_t n);
  Interval Source(const UOp* u, size_t i) { return RowAt(u->src(i)).Get(); }

  const Context& ctx_;
  const Module* module_;
  std::vector<int64_t> table_;     // a Row by id
  std::vector<int64_t> divisors_;  // -1: not computed
};

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_BOUNDS_H_
