// Interval: bounds [lo, hi] of an integer's value, and interval arithmetic for each op.
//
// lo = INT64_MIN means "no lower bound known", hi = INT64_MAX means "no upper bound known" (so does
// hi of a u64 that may exceed INT64_MAX). An operation whose result may wrap in its type yields the
// type's whole range, so an interval narrower than the type also proves that the op did not wrap.
#ifndef TG_PASSES_ANALYSIS_INTERVAL_H_
#define TG_PASSES_ANALYSIS_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::analysis {

struct Interval {
  int64_t lo = INT64_MIN;
  int64_t hi = INT64_MAX;

  static constexpr Interval Point(int64_t v) { return {v, v}; }
  // Whether the interval holds exactly one value.
  constexpr bool IsPoint() const { return lo == hi && lo != INT64_MIN && lo != INT64_MAX; }
  constexpr bool HasLo() const { return lo != INT64_MIN; }
  constexpr bool HasHi() const { return hi != INT64_MAX; }
  constexpr bool Contains(int64_t v) const { return lo <= v && v <= hi; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

constexpr Interval Union(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}
// The intersection; lo > hi if it is empty.
constexpr Interval Intersect(Interval a, Interval b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

// The interval of an unknown value of type `s`: all its values; unbounded for a float.
Interval FullInterval(Scalar s);
// The interval of the constant `bits` of integer, index or bool type `s`. A u64 above INT64_MAX
// gives {INT64_MAX, INT64_MAX}.
constexpr Interval ConstInterval(Scalar s, int64_t bits) {
  return s == Scalar::kU64 && bits < 0 ? Interval{INT64_MAX, INT64_MAX} : Interval::Point(bits);
}
// An interval that contains the result of an elementwise op on operands of type `s` (for `where`,
// the type of sources 1 and 2) within the intervals `args`.
Interval AluInterval(Op op, Scalar s, std::span<const Interval> args);
// An interval that contains the result of a cast of a value in `v` from type `from` to type `to`.
Interval CastInterval(Scalar from, Scalar to, Interval v);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_INTERVAL_H_
