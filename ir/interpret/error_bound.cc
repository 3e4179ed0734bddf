#include "ir/interpret/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "ir/accuracy.h"
#include "ir/interpret/flag_error.h"
#include "ir/op_groups.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A value and its error.
struct Approx {
  double v = 0;
  double e = 0;
};

// The smallest positive number of the type: rounding below the normal numbers loses up to that.
double Tiny(Scalar s) { return IsFloat(s) ? DoubleFromBits(s, 1) : 0; }

double LeastNormal(Scalar s) { return Tiny(s) / (2 * UnitRoundoff(s)); }
double Greatest(Scalar s) { return DoubleFromBits(s, BitsFromDouble(s, kInf) - 1); }

double PowError(Approx a, Approx b, double y) {
  if (a.e >= std::fabs(a.v)) return kInf;
  // A power of a negative number is a number only for an integer exponent, and an uncertain
  // exponent may be none.
  if (a.v < 0 && b.e > 0) return kInf;
  const double t =
      std::fabs(b.v) * a.e / (std::fabs(a.v) - a.e) + b.e * std::fabs(std::log(std::fabs(a.v)));
  return 2 * std::fabs(y) * std::expm1(t);
}

// The error that the sources' errors cause; `y` is the result.
double Propagated(Op op, Approx a, Approx b, Approx c, double y) {
  if (IsIdentity(op)) return a.e;
  if (GroupOf(op) != OpGroup::kArithmetic) return kInf;
  switch (ArithmeticOp(op)) {
    case ArithmeticOp::kAdd:
    case ArithmeticOp::kSub:
      return a.e + b.e;
    case ArithmeticOp::kMul:
      return std::fabs(a.v) * b.e + std::fabs(b.v) * a.e + a.e * b.e;
    case ArithmeticOp::kMulAcc:
      return std::fabs(a.v) * b.e + std::fabs(b.v) * a.e + a.e * b.e + c.e;
    case ArithmeticOp::kNeg:
      return a.e;
    case ArithmeticOp::kMax:
    case ArithmeticOp::kMin:
      return std::max(a.e, b.e);
    case ArithmeticOp::kCmpLt:
    case ArithmeticOp::kCmpNe:
      // If an error is infinite, a value may be any number, and the comparison may have either
      // result, even if the value is NaN here.
      return std::isinf(a.e + b.e) || std::fabs(a.v - b.v) <= a.e + b.e ? 1 : 0;
    case ArithmeticOp::kWhere:
      if (a.e > 0 && std::isnan(b.v) != std::isnan(c.v)) return kInf;
      return (a.e > 0 ? std::fabs(b.v - c.v) : 0) +
             (a.e > 0 ? std::max(b.e, c.e) : (a.v != 0 ? b.e : c.e));
    case ArithmeticOp::kRecip:
      return a.e >= std::fabs(a.v) ? kInf : a.e / (std::fabs(a.v) * (std::fabs(a.v) - a.e));
    case ArithmeticOp::kDiv:
      return b.e >= std::fabs(b.v) ? kInf : (a.e + std::fabs(y) * b.e) / (std::fabs(b.v) - b.e);
    case ArithmeticOp::kSqrt:
      if (a.e == 0) return 0;
      return a.e >= a.v ? (a.v < 0 ? kInf : std::sqrt(a.v + a.e))
                        : a.e / (std::sqrt(a.v) + std::sqrt(a.v - a.e));
    case ArithmeticOp::kTrunc:
      if (std::isinf(a.e)) return kInf;
      // The result is a zero with the sign of the argument, and that sign is uncertain.
      if (y == 0 && std::fabs(a.v) <= a.e && a.e < 1) return a.e;
      return std::max(std::fabs(std::trunc(a.v - a.e) - y), std::fabs(std::trunc(a.v + a.e) - y));
    case ArithmeticOp::kExp2:
      return std::fabs(y) * std::expm1(a.e * std::log(2.0));
    case ArithmeticOp::kLog2:
      return a.e >= a.v ? kInf : -std::log1p(-a.e / a.v) / std::log(2.0);
    case ArithmeticOp::kSin:
      // An argument that may have any value may be infinite or NaN; then the sine is NaN.
      return std::isinf(a.e) ? kInf : std::min(2.0, a.e);
    case ArithmeticOp::kPow:
      return PowError(a, b, y);
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
      return kInf;  // not of floats
  }
  TG_UNREACHABLE();
}

// Whether the result of `op` may be beyond an end of its integer type, given that it differs from
// `y` by at most `e`: there it wraps, and may be any number.
bool MayWrap(Op op, Scalar s, double y, double e) {
  if (!IsInt(s) || e == 0) return false;
  if (op != Op::kNeg && op != Op::kAdd && op != Op::kSub && op != Op::kMul && op != Op::kMulAcc)
    return false;
  const int bits = BitWidth(s) - (IsSigned(s) ? 1 : 0);
  const double above = std::ldexp(1.0, bits);
  return y - e < (IsSigned(s) ? -above : 0) || y + e > above - 1;
}

// Cast of an uncertain value: the conversions of both ends of its interval.
double CastError(Scalar to, Approx a, double y) {
  if (IsFloat(to)) return a.e + 2 * UnitRoundoff(to) * std::fabs(y) + Tiny(to);
  if (std::isinf(a.e)) return kInf;
  // 0 is false, and the numbers on both sides of it are true.
  if (to == Scalar::kBool) return std::fabs(a.v) <= a.e ? 1 : 0;
  const auto end = [&](double v) { return DoubleFromBits(to, BitsFromDouble(to, v)); };
  return std::max(std::fabs(end(a.v - a.e) - y), std::fabs(end(a.v + a.e) - y));
}

// The units in the last place by which implementations of an op may differ on equal sources: the
// sum of the errors allowed to a device's function and to the interpreter's.
double FreeUlps(Op op, Scalar s, const InterpretOptions& options) {
  if (op == Op::kDiv || op == Op::kRecip || op == Op::kSqrt) return options.div_sqrt_ulp;
  const Accuracy* a = FindAccuracy(op, s);
  return a ? std::max({a->opencl, a->pocl, a->own}) + a->interpreter : 0;
}

// Whether a value is a product or the negative of one, possibly computed in another kernel: between
// the product and a later addition other ops may be moved.
bool IsProduct(const UOp* u) {
  while (IsMovement(u->op) || u->op == Op::kNeg || u->op == Op::kContiguous) u = u->src(0);
  return u->op == Op::kMul;
}

ErrorBounds NullIfZero(std::vector<double> bounds) {
  const bool zero = std::all_of(bounds.begin(), bounds.end(), [](double e) { return e == 0; });
  return zero ? nullptr : std::make_shared<const std::vector<double>>(std::move(bounds));
}

}  // namespace

ErrorBounds ElementwiseError(const UOp* u, std::span<const Tensor> srcs, const Tensor& result,
                             const InterpretOptions& options) {
  const Scalar s = result.scalar;
  const bool is_float = IsFloat(s);
  bool uncertain = false;
  for (const Tensor& t : srcs) uncertain |= t.error != nullptr;
  // A product that may be fused into this sum is then not rounded.
  bool fusable = u->op == Op::kMulAcc;
  for (const UOp* operand : u->srcs()) {
    fusable |= (u->op == Op::kAdd || u->op == Op::kSub) && IsProduct(operand);
  }
  fusable &= is_float && options.allow_contraction;
  const double ulps = is_float ? FreeUlps(u->op, s, options) : 0;
  const FlagError flags(u, options.flags);
  if (!uncertain && !fusable && ulps == 0 && !flags.IsAny()) return nullptr;

  const double unit = UnitRoundoff(s);
  std::vector<double> bounds(result.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    Approx in[3];
    double value[3] = {}, error[3] = {};
    double source_error = 0;
    for (size_t k = 0; k < srcs.size(); ++k) {
      const size_t at = srcs[k].size() == 1 ? 0 : i;
      in[k] = {DoubleFromBits(srcs[k].scalar, (*srcs[k].data)[at]), srcs[k].ErrorAt(at)};
      value[k] = in[k].v;
      error[k] = in[k].e;
      source_error += in[k].e;
    }
    const double y = DoubleFromBits(s, (*result.data)[i]);
    // Exact results that differ may be rounded to different neighbours.
    const double rounding = is_float ? 2 * unit * std::fabs(y) + Tiny(s) : 0;
    double e = ulps > 0 ? 2 * unit * std::fabs(y) * ulps + Tiny(s) : 0;
    if (source_error > 0) {
      if (u->op == Op::kCast) {
        e += CastError(s, in[0], y);
      } else if (u->op == Op::kBitcast) {
        e = kInf;
      } else {
        const double propagated = Propagated(u->op, in[0], in[1], in[2], y);
        const bool selects =
            u->op == Op::kWhere || u->op == Op::kMax || u->op == Op::kMin || u->op == Op::kNeg;
        e += propagated + (propagated > 0 && !selects ? rounding : 0);
        if (MayWrap(u->op, s, y, e)) e = kInf;
      }
      // A product of 0 with a value whose sign is uncertain may be 0 or -0.
      if (e == 0 && is_float && (u->op == Op::kMul || u->op == Op::kMulAcc)) e = Tiny(s);
    }
    if (flags.IsAny()) e += flags.Of(s, {value, srcs.size()}, {error, srcs.size()}, y);
    if (s == Scalar::kBool && e > 0) e = 1;
    if (fusable) {
      const double product = u->op == Op::kMulAcc
                                 ? std::fabs(in[0].v * in[1].v)
                                 : std::max(std::fabs(in[0].v), std::fabs(in[1].v));
      e += unit * product + rounding;
    }
    bounds[i] = std::isnan(e) ? kInf : e;
  }
  return NullIfZero(std::move(bounds));
}

ReduceErrors::ReduceErrors(Op op, Scalar s, size_t n)
    : op_(op),
      scalar_(s),
      rounds_(IsFloat(s) && (op == Op::kAdd || op == Op::kMul)),
      bounds_(n),
      magnitude_(op == Op::kAdd ? n : 0),
      least_(op == Op::kMul ? n : 0, 1),
      greatest_(op == Op::kMul ? n : 0, 1) {}

void ReduceErrors::Add(std::span<const int64_t> values, std::span<const int64_t> targets,
                       const Tensor& x, size_t first) {
  uncertain_ |= x.error != nullptr;
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto at = static_cast<size_t>(targets[i]);
    const double v = std::fabs(DoubleFromBits(scalar_, values[i])), e = x.ErrorAt(first + i);
    switch (op_) {
      case Op::kAdd:
        magnitude_[at] += v;
        bounds_[at] += e;
        break;
      case Op::kMul:
        // Relative errors add up.
        bounds_[at] += e == 0 ? 0 : (e >= v ? kInf : e / (v - e));
        least_[at] *= std::min(v, 1.0);
        greatest_[at] *= std::max(v, 1.0);
        break;
      case Op::kMax:
      case Op::kMin:
        bounds_[at] = std::max(bounds_[at], e);
        break;
      default:
        if (e > 0) bounds_[at] = scalar_ == Scalar::kBool ? 1 : kInf;
    }
  }
}

namespace {

// By which a sum over windows of 3x3 that comes from transformed tiles is off, in roundings of the
// greatest sum of magnitudes for each channel, and for what transforms add up: the products of the
// sums of magnitudes in the rows of the transforms' matrices (docs/accuracy.md).
constexpr double kWindow = 9, kTransformed = 2304 / kWindow, kTransforms = 36;

}  // namespace

ErrorBounds ReduceErrors::Take(double elements, const Tensor& result, ModuleFlags flags) {
  const Scalar s = scalar_;
  const bool flagged = flags.HasAny({ModuleFlag::kNoNan, ModuleFlag::kFastMath});
  if (!rounds_ && !uncertain_ && !flagged) return nullptr;
  const size_t n = result.size();
  const double terms = n == 0 ? 0 : elements / static_cast<double>(n);
  double tiles = 0;
  if (op_ == Op::kAdd && s == Scalar::kF32 && flags.has(ModuleFlag::kWinograd) && terms > 0 &&
      std::fmod(terms, kWindow) == 0) {
    const double most = *std::max_element(magnitude_.begin(), magnitude_.end());
    tiles = (terms / kWindow + kTransforms) * UnitRoundoff(s) * kTransformed * most + Tiny(s);
    if (most * kTransformed > Greatest(s)) tiles = kInf;
  }
  for (size_t i = 0; i < n; ++i) {
    const double value = DoubleFromBits(s, (*result.data)[i]), y = std::fabs(value);
    bounds_[i] += tiles;
    if (op_ == Op::kMul) bounds_[i] = y * std::expm1(bounds_[i]);
    const double sum = op_ == Op::kAdd ? magnitude_[i] : y;
    if (rounds_ && terms > 1) bounds_[i] += terms * UnitRoundoff(s) * sum + Tiny(s);
    if (rounds_ && terms <= 1 && bounds_[i] > 0) bounds_[i] += 2 * UnitRoundoff(s) * y;
    if (rounds_ && terms > 1) {
      if (op_ == Op::kMul && least_[i] < LeastNormal(s)) {
        bounds_[i] += terms * Tiny(s) * greatest_[i];
      }
      // Each of the operations may round up, so a partial result may be greater than the exact one
      // and overflow.
      const double most =
          (op_ == Op::kAdd ? sum : greatest_[i]) * std::exp(terms * UnitRoundoff(s));
      if (std::max(most, y) > Greatest(s)) bounds_[i] = kInf;
    }
    // 0 + -0 is 0, yet a sum of one term may be that term.
    if (rounds_ && terms == 1 && y == 0) bounds_[i] += Tiny(s);
    if (s == Scalar::kBool && bounds_[i] > 0) bounds_[i] = 1;
    if (MayWrap(op_, s, value, bounds_[i])) bounds_[i] = kInf;
    // The flags permit other values than NaN, and with fast-math than infinities.
    if (IsFloat(s) && !std::isfinite(value) && flags.has(ModuleFlag::kFastMath)) bounds_[i] = kInf;
    if (std::isnan(value) && flags.has(ModuleFlag::kNoNan)) bounds_[i] = kInf;
    if (std::isnan(bounds_[i])) bounds_[i] = kInf;
  }
  return NullIfZero(std::move(bounds_));
}

}  // namespace tg::interpret
