#include "passes/analysis/interval.h"

#include <bit>

#include "ir/value.h"

namespace tg::analysis {
namespace {

// Bounds are computed in 128 bits; kInf and -kInf mean "no bound".
using Wide = __int128;
constexpr Wide kInf = Wide{1} << 100;

struct WideInterval {
  Wide lo, hi;
};

bool IsInf(Wide v) { return v >= kInf || v <= -kInf; }
int Sign(Wide v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }
Wide Clamp(Wide v) { return v > kInf ? kInf : v < -kInf ? -kInf : v; }

WideInterval Load(Scalar s, Interval v) {
  if (s == Scalar::kIndex) {
    return {v.HasLo() ? Wide{v.lo} : -kInf, v.HasHi() ? Wide{v.hi} : kInf};
  }
  if (s == Scalar::kU64 && !v.HasHi()) return {v.lo, Wide{UINT64_MAX}};
  return {v.lo, v.hi};
}

// The interval, after wrapping to type `s`, of a result that lies in `v` before wrapping.
Interval Store(Scalar s, WideInterval v) {
  const Interval full = FullInterval(s);
  const Wide type_hi = s == Scalar::kU64 ? Wide{UINT64_MAX} : Wide{full.hi};
  if (s != Scalar::kIndex && (v.lo < full.lo || v.hi > type_hi)) return full;
  const Wide lo = std::clamp(v.lo, Wide{INT64_MIN}, Wide{INT64_MAX});
  const Wide hi = std::clamp(v.hi, Wide{INT64_MIN}, Wide{INT64_MAX});
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

Wide MulBound(Wide a, Wide b) {
  Wide r;
  if (a == 0 || b == 0) return 0;
  if (IsInf(a) || IsInf(b) || __builtin_mul_overflow(a, b, &r)) return Sign(a) * Sign(b) * kInf;
  return Clamp(r);
}

// A quotient at one end of each operand's interval, rounded down; b is not 0. TruncDivBound rounds
// toward 0.
Wide FloorDivBound(Wide a, Wide b) {
  if (IsInf(a)) return Sign(a) * Sign(b) * kInf;
  Wide q = a / b;
  if (a % b != 0 && (a < 0) != (b < 0)) --q;
  return q;
}
Wide TruncDivBound(Wide a, Wide b) { return IsInf(a) ? Sign(a) * Sign(b) * kInf : a / b; }

template <typename F>
WideInterval Corners(WideInterval a, WideInterval b, F f) {
  const Wide v[4] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  return {std::min({v[0], v[1], v[2], v[3]}), std::max({v[0], v[1], v[2], v[3]})};
}

WideInterval Join(WideInterval a, WideInterval b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// Applies f to the negative and to the positive part of the divisor's interval `b`, and joins the
// results; if the divisor may be 0, also with `at_zero`, the result for that. Quotients are
// monotone in each operand as long as the divisor keeps its sign, so f may look at the ends only.
template <typename F>
WideInterval ByDivisorSign(WideInterval b, WideInterval at_zero, F f) {
  WideInterval r{1, 0};
  const auto add = [&](WideInterval v) { r = r.lo > r.hi ? v : Join(r, v); };
  if (b.lo < 0) add(f(WideInterval{b.lo, std::min<Wide>(b.hi, -1)}));
  if (b.hi > 0) add(f(WideInterval{std::max<Wide>(b.lo, 1), b.hi}));
  if (b.lo <= 0 && b.hi >= 0) add(at_zero);
  return r;
}

WideInterval FloorMod(WideInterval a, WideInterval b) {
  return ByDivisorSign(b, a, [&](WideInterval d) -> WideInterval {
    if (d.lo == d.hi && !IsInf(a.lo) && !IsInf(a.hi)) {
      const Wide q = FloorDivBound(a.lo, d.lo);
      if (q == FloorDivBound(a.hi, d.lo)) return {a.lo - q * d.lo, a.hi - q * d.lo};
    }
    if (d.lo > 0) {
      if (a.lo >= 0 && a.hi < d.lo) return a;
      return {0, a.lo >= 0 ? std::min(a.hi, d.hi - 1) : d.hi - 1};
    }
    if (a.hi <= 0 && a.lo > d.hi) return a;
    return {a.hi <= 0 ? std::max(a.lo, d.lo + 1) : d.lo + 1, 0};
  });
}

// The remainder has the sign of the dividend and is smaller than the divisor.
WideInterval TruncMod(WideInterval a, WideInterval b) {
  const Wide largest = std::max(b.lo < 0 ? -b.lo : b.lo, b.hi < 0 ? -b.hi : b.hi);
  const bool excludes_zero = b.lo > 0 || b.hi < 0;
  const Wide least = b.lo > 0 ? b.lo : b.hi < 0 ? -b.hi : 0;
  if (excludes_zero && a.lo > -least && a.hi < least) return a;
  if (!excludes_zero) return {std::min<Wide>(a.lo, 0), std::max<Wide>(a.hi, 0)};
  return {a.lo >= 0 ? 0 : std::max(a.lo, 1 - largest), a.hi <= 0 ? 0 : std::min(a.hi, largest - 1)};
}

// The smallest 2^k - 1 that is at least v >= 0.
Wide OnesAbove(Wide v) {
  if (v >= Wide{UINT64_MAX}) return kInf;
  return v == 0 ? Wide{0} : Wide{~0ull >> std::countl_zero(static_cast<uint64_t>(v))};
}

Interval Bitwise(Op op, Scalar s, WideInterval a, WideInterval b) {
  if (a.lo == a.hi && b.lo == b.hi) {
    const auto x = static_cast<int64_t>(a.lo), y = static_cast<int64_t>(b.lo);
    const int64_t v = op == Op::kAnd ? x & y : op == Op::kOr ? x | y : x ^ y;
    return ConstInterval(s, WrapInt(s, v));
  }
  if (op == Op::kAnd) {
    if (a.lo >= 0 && b.lo >= 0) return Store(s, {0, std::min(a.hi, b.hi)});
    if (a.lo >= 0) return Store(s, {0, a.hi});
    if (b.lo >= 0) return Store(s, {0, b.hi});
    return FullInterval(s);
  }
  if (a.lo < 0 || b.lo < 0) return FullInterval(s);
  const Wide top = OnesAbove(std::max(a.hi, b.hi));
  const Wide bottom = op == Op::kOr ? std::max(a.lo, b.lo) : 0;
  const WideInterval r{bottom, std::min(top, Load(s, FullInterval(s)).hi)};
  return Store(s, r);
}

Interval Shift(Op op, Scalar s, WideInterval a, WideInterval by) {
  const int bits = BitWidth(s);
  const auto inside = [&](WideInterval v) { return v.lo >= 0 && v.hi < bits; };
  if (op == Op::kShl) {
    if (!inside(by)) return FullInterval(s);
    return Store(s, Corners(a, by, [](Wide x, Wide n) {
                   return MulBound(x, Wide{1} << static_cast<int>(n));
                 }));
  }
  // A right shift by any amount, also one outside 0..bits-1, moves the value toward 0 or -1.
  if (!inside(by)) return Store(s, {a.lo < 0 ? a.lo : 0, a.hi < 0 ? -1 : a.hi});
  return Store(s, Corners(a, by, [](Wide x, Wide n) { return x >> static_cast<int>(n); }));
}

Interval BoolAlu(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::kAdd:
    case Op::kOr:
    case Op::kMax:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::kMul:
    case Op::kAnd:
    case Op::kMin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kXor:
      return a.IsPoint() && b.IsPoint() ? Interval::Point(a.lo ^ b.lo) : Interval{0, 1};
    default:
      return {0, 1};
  }
}

Interval Compare(Op op, WideInterval a, WideInterval b) {
  if (op == Op::kCmpLt) {
    if (a.hi < b.lo) return Interval::Point(1);
    if (a.lo >= b.hi) return Interval::Point(0);
  } else {
    if (a.hi < b.lo || b.hi < a.lo) return Interval::Point(1);
    if (a.lo == a.hi && b.lo == b.hi) return Interval::Point(0);
  }
  return {0, 1};
}

}  // namespace

Interval FullInterval(Scalar s) {
  if (s == Scalar::kBool) return {0, 1};
  if (s == Scalar::kU64) return {0, INT64_MAX};
  const int spare = 64 - BitWidth(s);
  if (IsSigned(s)) return {INT64_MIN >> spare, INT64_MAX >> spare};
  if (IsUnsigned(s)) return {0, INT64_MAX >> (spare - 1)};
  return {};
}

// A fast path in 64 bits for the most frequent operations of a kernel: sums, differences, products,
// and quotients and remainders by a positive constant, of operands that have bounds. Returns false
// if the operation is none of these, or if 64 bits are not enough.
bool NarrowAlu(Op op, Scalar s, Interval a, Interval b, Interval* out) {
  int64_t lo, hi;
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a.lo, b.lo, &lo)) return false;
      if (__builtin_add_overflow(a.hi, b.hi, &hi)) return false;
      break;
    case Op::kSub:
      if (__builtin_sub_overflow(a.lo, b.hi, &lo)) return false;
      if (__builtin_sub_overflow(a.hi, b.lo, &hi)) return false;
      break;
    case Op::kMul: {
      int64_t v[4];
      if (__builtin_mul_overflow(a.lo, b.lo, &v[0])) return false;
      if (__builtin_mul_overflow(a.lo, b.hi, &v[1])) return false;
      if (__builtin_mul_overflow(a.hi, b.lo, &v[2])) return false;
      if (__builtin_mul_overflow(a.hi, b.hi, &v[3])) return false;
      lo = std::min(std::min(v[0], v[1]), std::min(v[2], v[3]));
      hi = std::max(std::max(v[0], v[1]), std::max(v[2], v[3]));
      break;
    }
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      if (b.lo != b.hi || b.lo <= 0) return false;
      const int64_t d = b.lo;
      const auto floor_div = [d](int64_t v) { return v / d - (v % d < 0); };
      lo = floor_div(a.lo), hi = floor_div(a.hi);
      if (op == Op::kFloorDiv) break;
      const bool one_turn = lo == hi;
      lo = one_turn ? a.lo - lo * d : 0;
      hi = one_turn ? a.hi - hi * d : a.lo >= 0 ? std::min(a.hi, d - 1) : d - 1;
      break;
    }
    default:
      return false;
  }
  const Interval full = FullInterval(s);
  *out = lo < full.lo || hi > full.hi ? full : Interval{lo, hi};
  return true;
}

Interval AluInterval(Op op, Scalar s, std::span<const Interval> args) {
  if (IsFloat(s)) return op == Op::kCmpLt || op == Op::kCmpNe ? Interval{0, 1} : Interval{};
  if (op == Op::kWhere) {
    return args[0].lo == 1 ? args[1] : args[0].hi == 0 ? args[2] : Union(args[1], args[2]);
  }
  if (args.size() == 2 && (IsSigned(s) || s == Scalar::kIndex) && args[0].HasLo() &&
      args[0].HasHi() && args[1].HasLo() && args[1].HasHi()) {
    if (Interval v; NarrowAlu(op, s, args[0], args[1], &v)) return v;
  }
  const WideInterval a = Load(s, args[0]);
  const WideInterval b = args.size() > 1 ? Load(s, args[1]) : a;
  if (op == Op::kCmpLt || op == Op::kCmpNe) return Compare(op, a, b);
  if (s == Scalar::kBool) return BoolAlu(op, args[0], args[1]);
  switch (op) {
    case Op::kNeg:
      return Store(s, {-a.hi, -a.lo});
    case Op::kAdd:
      return Store(s, {a.lo + b.lo, a.hi + b.hi});
    case Op::kSub:
      return Store(s, {a.lo - b.hi, a.hi - b.lo});
    case Op::kMul:
      return Store(s, Corners(a, b, MulBound));
    case Op::kMulAcc: {
      const WideInterval c = Load(s, args[2]);
      const WideInterval p = Corners(a, b, MulBound);
      return Store(s, {p.lo + c.lo, p.hi + c.hi});
    }
    case Op::kFloorDiv:
      return Store(s, ByDivisorSign(b, {0, 0},
                                    [&](WideInterval d) { return Corners(a, d, FloorDivBound); }));
    case Op::kCDiv:
      return Store(s, ByDivisorSign(b, {0, 0},
                                    [&](WideInterval d) { return Corners(a, d, TruncDivBound); }));
    case Op::kFloorMod:
      return Store(s, FloorMod(a, b));
    case Op::kCMod:
      return Store(s, TruncMod(a, b));
    case Op::kMax:
      return Store(s, {std::max(a.lo, b.lo), std::max(a.hi, b.hi)});
    case Op::kMin:
      return Store(s, {std::min(a.lo, b.lo), std::min(a.hi, b.hi)});
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return Bitwise(op, s, a, b);
    case Op::kShl:
    case Op::kShr:
      return Shift(op, s, a, b);
    default:
      return FullInterval(s);
  }
}

Interval CastInterval(Scalar from, Scalar to, Interval v) {
  if (to == Scalar::kBool) {
    if (v.lo > 0 || v.hi < 0) return Interval::Point(1);
    return v.lo == 0 && v.hi == 0 ? Interval::Point(0) : Interval{0, 1};
  }
  if (IsFloat(from) || IsFloat(to)) return FullInterval(to);
  if (to == Scalar::kIndex && from == Scalar::kU64 && !v.HasHi()) return {};
  return Store(to, Load(from, v));
}

}  // namespace tg::analysis
