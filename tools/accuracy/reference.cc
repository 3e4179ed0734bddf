#include "tools/accuracy/reference.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ir/float_format.h"
#include "ir/value.h"

namespace tg::accuracy {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// More than twice the digits of f64.
constexpr mpfr_prec_t kPrecision = 120;

// The exponent of the last place of a number with the leading bit 2^exponent.
int LastPlace(const FloatFormat& f, int64_t exponent, bool absolute) {
  const int64_t least = absolute ? 0 : f.min_exponent();
  return static_cast<int>(std::max<int64_t>(exponent, least)) - f.mantissa_bits;
}

}  // namespace

struct Reference::Numbers {
  Numbers() { mpfr_inits2(kPrecision, x, y, exact, difference, nullptr); }
  ~Numbers() { mpfr_clears(x, y, exact, difference, nullptr); }
  mpfr_t x, y, exact, difference;
};

Reference::Reference(Function function, Scalar scalar)
    : function_(std::move(function)), scalar_(scalar), numbers_(std::make_unique<Numbers>()) {}
Reference::~Reference() = default;

double Reference::UlpsFrom(int64_t x, int64_t y, int64_t result, double enough) {
  const double a = DoubleFromBits(scalar_, x), b = DoubleFromBits(scalar_, y);
  if (enough > 0 && scalar_ != Scalar::kF64) {
    // The error of f64's functions is far below a thousandth of a unit of the narrower types.
    const double near = function_.near(a, b);
    const double got = DoubleFromBits(scalar_, result);
    const FloatFormat f = FormatOf(scalar_);
    if (std::isfinite(near) && std::isfinite(got) && near != 0 &&
        std::fabs(near) < std::ldexp(1, f.bias())) {
      const double ulps = std::fabs(got - near) *
                          std::ldexp(1.0, -LastPlace(f, std::ilogb(near), function_.absolute));
      if (ulps < enough - 0.001) return ulps;
    }
  }
  return Exactly(a, b, result);
}

double Reference::Exactly(double x, double y, int64_t result_bits) {
  Numbers& n = *numbers_;
  const FloatFormat f = FormatOf(scalar_);
  const double result = DoubleFromBits(scalar_, result_bits);
  mpfr_set_d(n.x, x, MPFR_RNDN);
  mpfr_set_d(n.y, y, MPFR_RNDN);
  function_.exact(n.exact, n.x, n.y);
  if (mpfr_nan_p(n.exact)) return std::isnan(result) ? 0 : kInf;
  if (mpfr_zero_p(n.exact) && !function_.absolute) {
    return result == 0 && std::signbit(result) == (mpfr_signbit(n.exact) != 0) ? 0 : kInf;
  }
  const bool negative = mpfr_sgn(n.exact) < 0;
  // Overflow: the greatest number of the type and its successor in an unbounded range.
  const double greatest = DoubleFromBits(scalar_, MaxValue(scalar_) - (f.has_inf ? 1 : 0));
  const int top = LastPlace(f, f.has_inf ? f.bias() : f.bias() + 1, false);
  const bool infinite = f.has_inf ? std::isinf(result) : std::isnan(result);
  if (mpfr_inf_p(n.exact))
    return infinite && (!f.has_inf || std::signbit(result) == negative) ? 0 : kInf;
  if (std::isnan(result) && f.has_inf) return kInf;
  mpfr_abs(n.exact, n.exact, MPFR_RNDN);
  if (infinite) {
    if (f.has_inf && std::signbit(result) != negative) return kInf;
    // The exact value may lie below the successor of the greatest number.
    mpfr_set_d(n.difference, greatest, MPFR_RNDN);
    mpfr_t unit;
    mpfr_init2(unit, kPrecision);
    mpfr_set_ui_2exp(unit, 1, top, MPFR_RNDN);
    mpfr_add(n.difference, n.difference, unit, MPFR_RNDN);
    mpfr_clear(unit);
    mpfr_sub(n.difference, n.difference, n.exact, MPFR_RNDN);
    mpfr_mul_2si(n.difference, n.difference, -top, MPFR_RNDN);
    return std::max(0.0, mpfr_get_d(n.difference, MPFR_RNDU));
  }
  const double magnitude = negative ? -result : result;
  const int64_t exponent =
      mpfr_zero_p(n.exact) ? f.min_exponent() : int64_t{mpfr_get_exp(n.exact)} - 1;
  mpfr_set_d(n.difference, magnitude, MPFR_RNDN);
  mpfr_sub(n.difference, n.difference, n.exact, MPFR_RNDN);
  mpfr_abs(n.difference, n.difference, MPFR_RNDN);
  const int place = std::min(LastPlace(f, exponent, function_.absolute), top);
  mpfr_mul_2si(n.difference, n.difference, -place, MPFR_RNDN);
  return mpfr_get_d(n.difference, MPFR_RNDU);
}

}  // namespace tg::accuracy
