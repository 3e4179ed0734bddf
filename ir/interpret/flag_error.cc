#include "ir/interpret/flag_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "ir/interpret/tensor_ops.h"
#include "ir/value.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::interpret {
namespace {

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op) || u->op == Op::kContiguous || u->op == Op::kNeg) u = u->src(0);
  return u;
}

bool IsOne(const UOp* u) {
  u = BelowMovement(u);
  return u->op == Op::kConst && IsFloat(u->dtype.scalar()) &&
         std::fabs(DoubleFromBits(u->dtype.scalar(), u->word())) == 1;
}

// x + 1, or the same with the signs that rules give it.
bool AddsOne(const UOp* u) {
  u = BelowMovement(u);
  return (u->op == Op::kAdd || u->op == Op::kSub) && (IsOne(u->src(0)) || IsOne(u->src(1)));
}

// Whether 1/(x + 1) is a factor or a term of `u`; `in_sum`: it is in a term.
bool HoldsReciprocal(const UOp* u, bool* in_sum) {
  // The rules for this flag match small expressions only, so larger ones are not searched.
  constexpr size_t kMaxParts = 16;
  llvm::SmallVector<const UOp*, kMaxParts> parts = {BelowMovement(u)};
  for (size_t i = 0; i < parts.size(); ++i) {
    const UOp* part = parts[i];
    if (part->op == Op::kRecip && AddsOne(part->src(0))) return true;
    if (part->op == Op::kDiv && AddsOne(part->src(1))) return true;
    const bool is_sum = part->op == Op::kAdd || part->op == Op::kSub;
    if (!is_sum && part->op != Op::kMul) continue;
    if (parts.size() + 2 > kMaxParts) return false;
    *in_sum |= is_sum;
    for (const UOp* s : part->srcs()) parts.push_back(BelowMovement(s));
  }
  return false;
}

// The products of the constant factors below 1 and of those above 1 among the factors of `u`. The
// product of the other factors is greater by the inverse of the first, or less by the inverse of
// the second. Only the first few factors are considered.
std::pair<double, double> ConstantFactors(const UOp* u) {
  constexpr size_t kMaxFactors = 64;
  llvm::SmallVector<const UOp*, 16> factors{u};
  double small = 1, large = 1;
  for (size_t i = 0; i < factors.size() && i < kMaxFactors; ++i) {
    const UOp* f = BelowMovement(factors[i]);
    if (f->op == Op::kMul) factors.append(f->srcs().begin(), f->srcs().end());
    if (f->op != Op::kConst || !f->dtype.is_float()) continue;
    const double c = std::fabs(DoubleFromBits(f->dtype.scalar(), f->word()));
    (c < 1 ? small : large) *= c;
  }
  return {small, large};
}

// Whether the result, a half, may be a value that was not rounded.
bool MayBeWide(const UOp* u, ModuleFlags flags) {
  if (u->dtype.scalar() != Scalar::kF16 && u->dtype.scalar() != Scalar::kBF16) return false;
  return flags.has(ModuleFlag::kWideHalves) ||
         (u->op == Op::kMul && flags.has(ModuleFlag::kWideProducts));
}

bool RoundsFactors(const UOp* u, ModuleFlags flags) {
  return u->op == Op::kMul && u->dtype.scalar() == Scalar::kF32 && flags.has(ModuleFlag::kTf32);
}

// The error of product `y` if both factors are first rounded to tf32, to the nearest or towards
// zero: by 2^-10 of themselves, or below its least normal number by 2^-136. Factors beyond its
// greatest number become infinite.
double ErrorOfRounded(std::span<const double> x, double y) {
  constexpr double kRounding = 0x1p-10, kTiny = 0x1p-136, kInfiniteFrom = 0x1.ffep127;
  const double a = std::fabs(x[0]), b = std::fabs(x[1]);
  if (std::isinf(y) || std::max(a, b) >= kInfiniteFrom) {
    return std::numeric_limits<double>::infinity();
  }
  return 3 * kRounding * std::fabs(y) + kTiny * (a + b) + DoubleFromBits(Scalar::kF32, 1);
}

}  // namespace

FlagError::FlagError(const UOp* u, ModuleFlags flags)
    : op_(u->op),
      exact_algebra_(flags.has(ModuleFlag::kFastMath)),
      zero_mul_(flags.has(ModuleFlag::kZeroMul)),
      no_nan_(flags.has(ModuleFlag::kNoNan)),
      wide_(MayBeWide(u, flags)),
      rounds_factors_(RoundsFactors(u, flags)) {
  if (!exact_algebra_ && !flags.has(ModuleFlag::kInfRatio)) return;
  if (op_ == Op::kDiv) ratio_[0] = AddsOne(u->src(1));
  if (op_ == Op::kMul) {
    if (exact_algebra_) std::tie(small_factors_, large_factors_) = ConstantFactors(u);
    ratio_[0] = HoldsReciprocal(u->src(1), &sum_);
    ratio_[1] = HoldsReciprocal(u->src(0), &sum_);
  }
}

// The difference between x * factor, where factor is y/(x + 1), and (1 - 1/(x + 1)) * y. Both are
// right up to the rounding of w = x + 1, the rounding of its reciprocal, and the effect of both on
// each form.
double FlagError::OfRatio(Scalar s, double x, double factor) const {
  if (!std::isfinite(x) || !std::isfinite(factor)) return std::numeric_limits<double>::infinity();
  const double unit = UnitRoundoff(s), tiny = DoubleFromBits(s, 1);
  const double w = std::fabs(x + 1), a = std::fabs(x), f = std::fabs(factor);
  double e = 4 * unit * f * (3 * a + w + 2) + 2 * tiny * (1 + a) * (1 + f * w);
  // factor = 1/(x + 1) + y, against (1 - 1/(x + 1)) + x * y.
  if (sum_)
    e += w == 0 ? std::numeric_limits<double>::infinity()
                : 4 * unit * (1 + 3 * (a + 1) / w) + 2 * tiny * (1 + a);
  return e;
}

double FlagError::Of(Scalar s, std::span<const double> x, std::span<const double> error,
                     double y) const {
  const auto may_be_zero = [&](size_t k) { return std::fabs(x[k]) <= error[k]; };
  if (no_nan_ || exact_algebra_) {
    // A NaN, or a value computed from a NaN, may be anything: the module says that there are none,
    // or that floats behave like real numbers, which do not overflow.
    const bool nan =
        std::isnan(y) || std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
    if (nan || (exact_algebra_ && std::isinf(y))) return std::numeric_limits<double>::infinity();
  }
  if (!IsFloat(s)) return 0;
  const double tiny = DoubleFromBits(s, 1);
  double e = 0;
  if (exact_algebra_) {
    // A power may be computed by square roots, and minus infinity has none.
    if (op_ == Op::kPow && std::isinf(x[0]) && x[0] < 0)
      return std::numeric_limits<double>::infinity();
    // A quotient may be a product with the reciprocal, which may be infinite where this is not.
    const bool divides = op_ == Op::kDiv;
    if (divides && !std::isfinite(DoubleFromBits(s, BitsFromDouble(s, 1 / x[1]))))
      return std::numeric_limits<double>::infinity();
    if (divides) e += std::fabs(x[0]) * tiny;
    // Factors may be multiplied in another order, which overflows where this one does not.
    const double without = std::fabs(y) / small_factors_;
    if (op_ == Op::kMul && !std::isfinite(DoubleFromBits(s, BitsFromDouble(s, without))))
      return std::numeric_limits<double>::infinity();
    // Or which underflows there, and multiplies the error by the factors that follow.
    const double least_normal = tiny / (2 * UnitRoundoff(s));
    if (op_ == Op::kMul && !(std::fabs(y) / large_factors_ >= least_normal))
      e += tiny * large_factors_;
    // Every op rounds where another form of the same algebra does not, or does it elsewhere.
    double greatest = std::fabs(y);
    if (op_ == Op::kAdd || op_ == Op::kSub) greatest = std::fabs(x[0]) + std::fabs(x[1]);
    const bool rounds = op_ != Op::kWhere && op_ != Op::kMax && op_ != Op::kMin &&
                        op_ != Op::kNeg && !IsMovement(op_) && op_ != Op::kBitcast;
    if (rounds) e += 2 * UnitRoundoff(s) * greatest + tiny;
  }
  // The value may not be rounded, so that it does not overflow either.
  if (wide_)
    e += std::isinf(y) ? std::numeric_limits<double>::infinity()
                       : UnitRoundoff(s) * std::fabs(y) + tiny;
  if (rounds_factors_) e += ErrorOfRounded(x, y);
  if (zero_mul_) {
    const bool product = op_ == Op::kMul || op_ == Op::kMulAcc;
    if (product && (may_be_zero(0) || may_be_zero(1))) {
      // NaN or infinity times 0 may be 0, and so may -0 be.
      if (std::isnan(y)) return std::numeric_limits<double>::infinity();
      if (y == 0 && std::signbit(y)) e += tiny;
    }
    // By definition x - x and x + -x are NaN for an infinite x or a NaN; in algebra they are 0.
    if (op_ == Op::kSub && std::isnan(y)) return std::numeric_limits<double>::infinity();
    if (op_ == Op::kAdd && std::isnan(y) && !std::isfinite(x[0]) && !std::isfinite(x[1])) {
      return std::numeric_limits<double>::infinity();
    }
  }
  if (op_ == Op::kDiv && ratio_[0]) e += OfRatio(s, x[0], 1 / x[1]);
  if (op_ == Op::kMul && ratio_[0]) e += OfRatio(s, x[0], x[1]);
  if (op_ == Op::kMul && ratio_[1]) e += OfRatio(s, x[1], x[0]);
  return e;
}

}  // namespace tg::interpret
