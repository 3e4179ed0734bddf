#include "ir/interpret/scalar.h"

#include <bit>
#include <cmath>

#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/value.h"

#define TG_INLINE [[gnu::always_inline]] inline

namespace tg::interpret {
namespace {

// a*b + c where a*b is exact in double, rounded to odd: rounding the result once more to a format
// of at most 51 bits then gives what one rounding of the exact value would.
// Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
// to odd", 2008.
double MulAddToOdd(double a, double b, double c) {
  const double p = a * b;
  const double sum = p + c;
  if (!std::isfinite(sum)) return sum;
  const double c_part = sum - p;
  const double error = (p - (sum - c_part)) + (c - c_part);
  if (error == 0) return sum;
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (bits & 1) return sum;
  // `sum` is even, so it was rounded: the odd neighbour on the side of the error.
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

// T is float or double; a narrower type computes in double and rounds afterwards.
template <typename T>
TG_INLINE T FloatAlu(Op op, T a, T b) {
  switch (ArithmeticOp(op)) {
    case ArithmeticOp::kExp2:
      return static_cast<T>(std::exp2(static_cast<double>(a)));
    case ArithmeticOp::kLog2:
      return static_cast<T>(std::log2(static_cast<double>(a)));
    case ArithmeticOp::kSin:
      return static_cast<T>(std::sin(static_cast<double>(a)));
    case ArithmeticOp::kPow:
      // The definition of pow gives 1 here for every NaN, the library only for quiet ones.
      if (a == T{1} || b == T{0}) return T{1};
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case ArithmeticOp::kSqrt:
      return std::sqrt(a);
    case ArithmeticOp::kRecip:
      return T{1} / a;
    case ArithmeticOp::kTrunc:
      return std::trunc(a);
    case ArithmeticOp::kAdd:
      return a + b;
    case ArithmeticOp::kSub:
      return a - b;
    case ArithmeticOp::kMul:
      return a * b;
    case ArithmeticOp::kDiv:
      return a / b;
    // FloatLane's own.
    case ArithmeticOp::kNeg:
    case ArithmeticOp::kMax:
    case ArithmeticOp::kMin:
    case ArithmeticOp::kCmpLt:
    case ArithmeticOp::kCmpNe:
    case ArithmeticOp::kWhere:
    case ArithmeticOp::kMulAcc:
    // Not of floats.
    case ArithmeticOp::kFloorDiv:
    case ArithmeticOp::kFloorMod:
    case ArithmeticOp::kCDiv:
    case ArithmeticOp::kCMod:
    case ArithmeticOp::kAnd:
    case ArithmeticOp::kOr:
    case ArithmeticOp::kXor:
    case ArithmeticOp::kShl:
    case ArithmeticOp::kShr:
    case ArithmeticOp::kThreefry:
    case ArithmeticOp::kDot4:
      break;
  }
  TG_UNREACHABLE();
}

TG_INLINE int64_t FloatLane(Op op, Scalar s, int64_t a, int64_t b, int64_t c, MulAcc mulacc) {
  if (op == Op::kMulAcc && s == Scalar::kF32) {
    const auto widen = [](int64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); };
    const float x = widen(a), y = widen(b), z = widen(c);
    const float product = x * y;
    const float twice = product + z;
    return std::bit_cast<uint32_t>(
        mulacc == MulAcc::kFused ? static_cast<float>(MulAddToOdd(x, y, z)) : twice);
  }
  if (op == Op::kMulAcc) {
    if (mulacc == MulAcc::kTwoRoundings) {
      const int64_t product = BitsFromDouble(s, DoubleFromBits(s, a) * DoubleFromBits(s, b));
      return BitsFromDouble(s, DoubleFromBits(s, product) + DoubleFromBits(s, c));
    }
    if (s == Scalar::kF64) {
      return std::bit_cast<int64_t>(
          std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c)));
    }
    return BitsFromDouble(
        s, MulAddToOdd(DoubleFromBits(s, a), DoubleFromBits(s, b), DoubleFromBits(s, c)));
  }
  if (op == Op::kNeg) {
    return a ^ static_cast<int64_t>(1ull << (BitWidth(s) - 1));
  }
  if (s == Scalar::kF32) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(a));
    const float y = std::bit_cast<float>(static_cast<uint32_t>(b));
    switch (op) {
      case Op::kMax:
        return x < y || std::isnan(y) ? b : a;
      case Op::kMin:
        return y < x || std::isnan(y) ? b : a;
      case Op::kCmpLt:
        return x < y;
      case Op::kCmpNe:
        return x != y;
      default:
        return std::bit_cast<uint32_t>(FloatAlu<float>(op, x, y));
    }
  }
  const double x = DoubleFromBits(s, a);
  const double y = DoubleFromBits(s, b);
  switch (op) {
    case Op::kMax:
      return x < y || std::isnan(y) ? b : a;
    case Op::kMin:
      return y < x || std::isnan(y) ? b : a;
    case Op::kCmpLt:
      return x < y;
    case Op::kCmpNe:
      return x != y;
    default:
      return BitsFromDouble(s, FloatAlu<double>(op, x, y));
  }
}

TG_INLINE int64_t DivideLane(Op op, Scalar s, int64_t a, int64_t b) {
  const bool quotient = op == Op::kFloorDiv || op == Op::kCDiv;
  if (b == 0) return quotient ? 0 : a;
  if (IsUnsigned(s)) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(quotient ? x / y : x % y);
  }
  // min / -1 has no value in C++; as wrapping arithmetic it is -min = min.
  if (b == -1) return quotient ? WrapInt(s, static_cast<int64_t>(-static_cast<uint64_t>(a))) : 0;
  int64_t q = a / b, r = a % b;
  if ((op == Op::kFloorDiv || op == Op::kFloorMod) && r != 0 && (r < 0) != (b < 0)) {
    q -= 1;
    r += b;
  }
  return quotient ? q : r;
}

TG_INLINE int64_t ShiftLane(Op op, Scalar s, int64_t a, int64_t b) {
  const bool outside = static_cast<uint64_t>(b) >= static_cast<uint64_t>(BitWidth(s));
  if (op == Op::kShl) {
    return outside ? 0 : WrapInt(s, static_cast<int64_t>(static_cast<uint64_t>(a) << b));
  }
  if (outside) return IsSigned(s) && a < 0 ? -1 : 0;
  return IsSigned(s) ? a >> b : static_cast<int64_t>(static_cast<uint64_t>(a) >> b);
}

TG_INLINE bool LessLane(Scalar s, int64_t a, int64_t b) {
  return s == Scalar::kU64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// Integers, bools and index.
TG_INLINE bool IntLane(Op op, Scalar s, int64_t a, int64_t b, int64_t c, int64_t* out) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const auto wrap = [&](uint64_t v) { return WrapInt(s, static_cast<int64_t>(v)); };
  switch (op) {
    case Op::kCmpLt:
      *out = LessLane(s, a, b);
      return true;
    case Op::kCmpNe:
      *out = a != b;
      return true;
    case Op::kMax:
      *out = LessLane(s, a, b) ? b : a;
      return true;
    case Op::kMin:
      *out = LessLane(s, b, a) ? b : a;
      return true;
    case Op::kAnd:
      *out = a & b;
      return true;
    case Op::kOr:
      *out = a | b;
      return true;
    case Op::kXor:
      *out = a ^ b;
      return true;
    default:
      break;
  }
  if (s == Scalar::kBool) {
    TG_CHECK(op == Op::kAdd || op == Op::kMul);
    *out = op == Op::kAdd ? a | b : a & b;
    return true;
  }
  switch (op) {
    case Op::kFloorDiv:
    case Op::kCDiv:
    case Op::kFloorMod:
    case Op::kCMod:
      *out = DivideLane(op, s, a, b);
      return s != Scalar::kIndex || b != -1 || a != INT64_MIN || op == Op::kFloorMod ||
             op == Op::kCMod;
    case Op::kShl:
    case Op::kShr:
      *out = ShiftLane(op, s, a, b);
      return true;
    case Op::kThreefry:
      *out = static_cast<int64_t>(Threefry2x32(x, y));
      return true;
    case Op::kDot4: {
      int64_t sum = c;
      for (int byte = 0; byte < 32; byte += 8) {
        sum += static_cast<uint8_t>(x >> byte) * static_cast<int8_t>(y >> byte);
      }
      *out = wrap(static_cast<uint64_t>(sum));
      return true;
    }
    default:
      break;
  }
  // An index is exact; without a value where it overflows.
  const bool exact = s == Scalar::kIndex;
  switch (ArithmeticOp(op)) {
    case ArithmeticOp::kNeg:
      if (exact) return !__builtin_sub_overflow(int64_t{0}, a, out);
      *out = wrap(-x);
      return true;
    case ArithmeticOp::kAdd:
      if (exact) return !__builtin_add_overflow(a, b, out);
      *out = wrap(x + y);
      return true;
    case ArithmeticOp::kSub:
      if (exact) return !__builtin_sub_overflow(a, b, out);
      *out = wrap(x - y);
      return true;
    case ArithmeticOp::kMul:
      if (exact) return !__builtin_mul_overflow(a, b, out);
      *out = wrap(x * y);
      return true;
    case ArithmeticOp::kMulAcc:
      if (exact) {
        return !__builtin_mul_overflow(a, b, out) && !__builtin_add_overflow(*out, c, out);
      }
      *out = wrap(x * y + static_cast<uint64_t>(c));
      return true;
    // Above.
    case ArithmeticOp::kCmpLt:
    case ArithmeticOp::kCmpNe:
    case ArithmeticOp::kMax:
    case ArithmeticOp::kMin:
    case ArithmeticOp::kAnd:
    case ArithmeticOp::kOr:
    case ArithmeticOp::kXor:
    case ArithmeticOp::kFloorDiv:
    case ArithmeticOp::kFloorMod:
    case ArithmeticOp::kCDiv:
    case ArithmeticOp::kCMod:
    case ArithmeticOp::kShl:
    case ArithmeticOp::kShr:
    case ArithmeticOp::kThreefry:
    case ArithmeticOp::kDot4:
    case ArithmeticOp::kWhere:
    // Of floats only.
    case ArithmeticOp::kExp2:
    case ArithmeticOp::kLog2:
    case ArithmeticOp::kSin:
    case ArithmeticOp::kSqrt:
    case ArithmeticOp::kRecip:
    case ArithmeticOp::kTrunc:
    case ArithmeticOp::kDiv:
    case ArithmeticOp::kPow:
      break;
  }
  TG_UNREACHABLE();
}

// The sources that an op lacks are 0.
TG_INLINE bool Lane(Op op, Scalar s, int64_t a, int64_t b, int64_t c, MulAcc mulacc, int64_t* out) {
  if (op == Op::kWhere) {
    *out = a ? b : c;
    return true;
  }
  if (IsIdentity(op)) {
    *out = a;
    return true;
  }
  if (!IsFloat(s)) return IntLane(op, s, a, b, c, out);
  *out = FloatLane(op, s, a, b, c, mulacc);
  return true;
}

// One op on one type: the compiler drops the switches from the loop.
template <Op op, Scalar s>
size_t Loop(size_t n, const int64_t* a, const int64_t* b, const int64_t* c, int64_t* out) {
  for (size_t i = 0; i < n; ++i) {
    const int64_t y = b ? b[i] : 0, z = c ? c[i] : 0;
    if constexpr (s == Scalar::kF32) {
      out[i] = FloatLane(op, s, a[i], y, z, MulAcc::kFused);
    } else if (!IntLane(op, s, a[i], y, z, &out[i])) {
      return i;
    }
  }
  return n;
}

}  // namespace

uint64_t Threefry2x32(uint64_t counter, uint64_t key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t x0 = static_cast<uint32_t>(counter) + keys[0];
  uint32_t x1 = static_cast<uint32_t>(counter >> 32) + keys[1];
  for (uint32_t i = 0; i < 5; ++i) {
    for (int r : kRotations[i % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += keys[(i + 1) % 3];
    x1 += keys[(i + 2) % 3] + i + 1;
  }
  return static_cast<uint64_t>(x1) << 32 | x0;
}

bool IsAlu(Op op) { return IsElementwise(op) && op != Op::kCast && op != Op::kBitcast; }

std::optional<int64_t> EvalAlu(Op op, Scalar s, std::span<const int64_t> srcs, MulAcc mulacc) {
  const auto at = [&](size_t i) { return i < srcs.size() ? srcs[i] : 0; };
  int64_t out = 0;
  if (!Lane(op, s, at(0), at(1), at(2), mulacc, &out)) return std::nullopt;
  return out;
}

size_t EvalAluLanes(Op op, Scalar s, size_t n, const int64_t* a, const int64_t* b, const int64_t* c,
                    int64_t* out, MulAcc mulacc) {
  // Specialized loops for the combinations in which most of a run is spent.
  switch (s) {
#define TG_CASE(name, scalar) \
  case Op::name:              \
    return Loop<Op::name, Scalar::scalar>(n, a, b, c, out);
    case Scalar::kF32:
      switch (op) {
        TG_CASE(kAdd, kF32)
        TG_CASE(kSub, kF32)
        TG_CASE(kMul, kF32)
        TG_CASE(kMax, kF32)
        TG_CASE(kCmpLt, kF32)
        default:
          break;
      }
      break;
    case Scalar::kIndex:
      switch (op) {
        TG_CASE(kAdd, kIndex)
        TG_CASE(kSub, kIndex)
        TG_CASE(kMul, kIndex)
        TG_CASE(kCmpLt, kIndex)
        TG_CASE(kFloorDiv, kIndex)
        TG_CASE(kFloorMod, kIndex)
        default:
          break;
      }
      break;
#undef TG_CASE
    default:
      break;
  }
  if (op == Op::kWhere) {
    for (size_t i = 0; i < n; ++i) out[i] = a[i] ? b[i] : c[i];
    return n;
  }
  for (size_t i = 0; i < n; ++i) {
    if (!Lane(op, s, a[i], b ? b[i] : 0, c ? c[i] : 0, mulacc, &out[i])) return i;
  }
  return n;
}

void CastLanes(Scalar from, Scalar to, size_t n, const int64_t* in, int64_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = CastBits(from, to, in[i]);
}

bool CanConvertAccess(Scalar from, Scalar to) {
  return from == to || (IsFloat(from) && IsFloat(to)) || BitWidth(from) == BitWidth(to);
}

int64_t ConvertAccess(Scalar from, Scalar to, int64_t bits) {
  if (from == to) return bits;
  return IsFloat(from) && IsFloat(to) ? CastBits(from, to, bits) : BitcastBits(from, to, bits);
}

int64_t ReduceIdentity(Op op, Scalar s) {
  switch (op) {
    case Op::kAdd:
    case Op::kOr:
    case Op::kXor:
      return 0;
    case Op::kMul:
      return BitsFromInt(s, 1);
    case Op::kMax:
      return MinValue(s);
    case Op::kMin:
      return MaxValue(s);
    case Op::kAnd:
      return s == Scalar::kBool ? 1 : WrapInt(s, -1);
    default:
      TG_UNREACHABLE();
  }
}

}  // namespace tg::interpret
