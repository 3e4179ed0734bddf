#include "ir/interpret/allowed.h"

#include <cmath>

#include "ir/value.h"

namespace tg::interpret {

double OfAllowed(Scalar s, int64_t expected, int64_t actual, double allowed) {
  if (expected == actual) return 0;
  const double a = DoubleFromBits(s, expected), b = DoubleFromBits(s, actual);
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::isinf(allowed)) return 0;
  if (allowed == 0) return HUGE_VAL;
  if (a == b) return 0;  // 0 and -0
  // Near the largest number one evaluation may overflow while the other does not. A type without
  // infinity (fp8e4m3) then gives a NaN.
  if (std::isnan(a) != std::isnan(b)) {
    const double greatest = std::fabs(std::isnan(a) ? b : a) + allowed;
    return std::isnan(DoubleFromBits(s, BitsFromDouble(s, greatest))) ? 0 : HUGE_VAL;
  }
  if (std::isinf(a) != std::isinf(b)) {
    const double greatest =
        std::fabs(DoubleFromBits(s, BitsFromDouble(s, std::isinf(a) ? b : a))) + allowed;
    return std::isinf(DoubleFromBits(s, BitsFromDouble(s, greatest))) && (a > 0) == (b > 0)
               ? 0
               : HUGE_VAL;
  }
  return std::fabs(a - b) / allowed;
}

bool AllowAnyValueFor(ModuleFlags flags, double v) {
  if (std::isnan(v)) {
    return flags.HasAny(
        {ModuleFlag::kNoNan, ModuleFlag::kZeroMul, ModuleFlag::kInfRatio, ModuleFlag::kFastMath});
  }
  return std::isinf(v) && flags.has(ModuleFlag::kFastMath);
}

bool AllowBoth(ModuleFlags flags, Scalar s, int64_t a, int64_t b) {
  if (a == b) return true;
  if (!IsFloat(s)) return false;
  const double x = DoubleFromBits(s, a), y = DoubleFromBits(s, b);
  if (AllowAnyValueFor(flags, x) || AllowAnyValueFor(flags, y)) return true;
  // 0 and -0: a product with 0, which may be 0, is -0 by definition if the other factor is
  // negative.
  return x == 0 && y == 0 && flags.HasAny({ModuleFlag::kZeroMul, ModuleFlag::kFastMath});
}

}  // namespace tg::interpret
