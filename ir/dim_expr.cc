#include "ir/dim_expr.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/cat.h"
#include "base/check.h"

namespace tg {
namespace {

// The value of `op` on `index` operands, as ir/interpret/scalar.cc defines it. nullopt on overflow.
std::optional<int64_t> Apply(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kSub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kMul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::kMax:
      return std::max(a, b);
    case Op::kMin:
      return std::min(a, b);
    case Op::kFloorDiv:
    case Op::kCDiv:
      if (b == 0) return 0;
      if (b == -1) return Apply(Op::kSub, 0, a);
      return op == Op::kCDiv ? a / b : FloorDiv(a, b);
    case Op::kFloorMod:
    case Op::kCMod:
      if (b == 0) return a;
      if (b == -1) return 0;
      return op == Op::kCMod ? a % b : FloorMod(a, b);
    default:
      TG_UNREACHABLE();
  }
}

// Bounds of the results of `op` for operands in these ranges.
std::optional<DimExpr::Range> ApplyToRanges(Op op, DimExpr::Range a, DimExpr::Range b) {
  if (op == Op::kFloorMod || op == Op::kCMod) {
    // A remainder is less than the divisor in magnitude. It has the sign of the divisor (floormod)
    // or of the dividend (cmod).
    const int64_t most = std::max(b.second, b.first == INT64_MIN ? INT64_MAX : -b.first);
    const bool of_divisor = op == Op::kFloorMod;
    const bool never_negative = of_divisor ? b.first > 0 : a.first >= 0;
    if (b.first <= 0 && b.second >= 0) return std::nullopt;
    return DimExpr::Range{never_negative ? 0 : -most, most};
  }
  const bool divides = op == Op::kFloorDiv || op == Op::kCDiv;
  if (divides && b.first <= 0 && b.second >= 0) return std::nullopt;
  // The other ops are monotonic in each operand, so that the extremes are at the corners.
  DimExpr::Range result = {INT64_MAX, INT64_MIN};
  for (const int64_t x : {a.first, a.second}) {
    for (const int64_t y : {b.first, b.second}) {
      const std::optional<int64_t> corner = Apply(op, x, y);
      if (!corner) return std::nullopt;
      result.first = std::min(result.first, *corner);
      result.second = std::max(result.second, *corner);
    }
  }
  return result;
}

// Runs the terms on a stack of T. `leaf(term)` and `apply(term, a, b)` give optional values.
template <typename T, typename Leaf, typename Combine>
std::optional<T> Fold(const std::vector<DimTerm>& terms, Leaf leaf, Combine combine) {
  std::vector<T> stack;
  for (const DimTerm& t : terms) {
    std::optional<T> value;
    if (t.op == Op::kConst || t.op == Op::kVar) {
      value = leaf(t);
    } else {
      T b = std::move(stack.back());
      stack.pop_back();
      T a = std::move(stack.back());
      stack.pop_back();
      value = combine(t.op, std::move(a), std::move(b));
    }
    if (!value) return std::nullopt;
    stack.push_back(*std::move(value));
  }
  return std::move(stack.back());
}

}  // namespace

bool DimExpr::IsArithmetic(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMax:
    case Op::kMin:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kCDiv:
    case Op::kCMod:
      return true;
    default:
      return false;
  }
}

bool DimExpr::IsComplete() const {
  size_t depth = 0;
  for (const DimTerm& t : terms_) {
    if (t.op == Op::kConst || t.op == Op::kVar) {
      ++depth;
    } else if (!IsArithmetic(t.op) || depth < 2) {
      return false;
    } else {
      --depth;
    }
  }
  return depth == 1 && terms_.size() <= kMaxTerms;
}

std::optional<int64_t> DimExpr::Evaluate(const Lookup& var) const {
  return Fold<int64_t>(
      terms_,
      [&](const DimTerm& t) { return t.op == Op::kConst ? std::optional(t.value) : var(t.var); },
      Apply);
}

std::optional<DimExpr::Range> DimExpr::Bounds(const RangeLookup& var) const {
  return Fold<Range>(
      terms_,
      [&](const DimTerm& t) {
        return t.op == Op::kConst ? std::optional(Range{t.value, t.value}) : var(t.var);
      },
      ApplyToRanges);
}

std::string DimExpr::Text() const {
  return *Fold<std::string>(
      terms_,
      [](const DimTerm& t) -> std::optional<std::string> {
        return t.op == Op::kConst ? std::to_string(t.value) : "@" + t.var;
      },
      [](Op op, const std::string& a, const std::string& b) -> std::optional<std::string> {
        return Cat(std::string(Mnemonic(op)), "(", a, ", ", b, ")");
      });
}

std::string DimExpr::Values(const Lookup& var) const {
  std::string text;
  std::vector<std::string_view> seen;
  for (const DimTerm& t : terms_) {
    if (t.op != Op::kVar || std::find(seen.begin(), seen.end(), t.var) != seen.end()) continue;
    seen.push_back(t.var);
    const std::optional<int64_t> value = var(t.var);
    text += Cat(text.empty() ? "" : ", ", "@", t.var, " = ");
    text += value ? Cat(*value) : "?";
  }
  return text;
}

}  // namespace tg
