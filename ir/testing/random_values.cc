#include "ir/testing/random_values.h"

#include <cmath>
#include <limits>

#include "ir/value.h"

namespace tg::testing {
namespace {

int64_t SpecialFloat(Rng& rng, Scalar s) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double sign = rng.Percent(50) ? 1 : -1;
  // Bits of the greatest number: one below infinity, or below NaN in a format without infinity.
  const int64_t top = BitsFromDouble(s, kInf) - 1;
  switch (rng.Below(9)) {
    case 0:
      return BitsFromDouble(s, std::numeric_limits<double>::quiet_NaN());
    case 1:
      return BitsFromDouble(s, sign * kInf);
    case 2:
    case 3:
      return BitsFromDouble(s, sign * 0.0);
    case 4:
      return BitsFromDouble(s, sign * DoubleFromBits(s, rng.In(1, 3)));
    case 5:
      return BitsFromDouble(s, sign * DoubleFromBits(s, top - rng.Below(2)));
    case 6:
      return BitsFromDouble(s, sign * std::ldexp(1.0, static_cast<int>(rng.In(-16, 16))));
    case 7:
      return BitsFromDouble(s, sign * 0.5);
    default:
      return BitsFromDouble(s, sign);
  }
}

int64_t SpecialInt(Rng& rng, Scalar s) {
  switch (rng.Below(6)) {
    case 0:
      return WrapInt(s, MinValue(s) + rng.Below(2));
    case 1:
      return WrapInt(s, MaxValue(s) - rng.Below(2));
    case 2:
      return 0;
    case 3:
      return WrapInt(s, -1);
    case 4:
      return WrapInt(s, int64_t{1} << rng.Below(BitWidth(s)));
    default:
      return 1;
  }
}

}  // namespace

int64_t RandomBits(Rng& rng, Scalar s, ValueStyle style) {
  if (s == Scalar::kBool) return rng.Below(2);
  if (style == ValueStyle::kSpecial) {
    return IsFloat(s) ? SpecialFloat(rng, s) : SpecialInt(rng, s);
  }
  if (IsFloat(s)) {
    if (style == ValueStyle::kTame) {
      return BitsFromDouble(s, static_cast<double>(rng.In(-16, 16)) / 4);
    }
    const double v = static_cast<double>(rng.In(-(1 << 22), 1 << 22)) / (1 << 20);
    return BitsFromDouble(s, rng.Percent(85) ? v : std::ldexp(v, static_cast<int>(rng.In(2, 12))));
  }
  if (style == ValueStyle::kTame) return WrapInt(s, rng.In(IsUnsigned(s) ? 0 : -8, 8));
  if (rng.Percent(15)) return SpecialInt(rng, s);
  return WrapInt(s, static_cast<int64_t>(rng.Next() >> rng.Below(BitWidth(s))));
}

interpret::HostBuffer RandomBuffer(Rng& rng, Scalar s, std::vector<int64_t> shape,
                                   ValueStyle style) {
  interpret::HostBuffer b;
  b.dtype = DType(s);
  b.shape = std::move(shape);
  b.data.resize(static_cast<size_t>(interpret::NumElements(b.shape)));
  for (int64_t& bits : b.data) {
    ValueStyle one = style;
    if (style == ValueStyle::kSpecial && rng.Percent(50)) {
      one = rng.Percent(50) ? ValueStyle::kTame : ValueStyle::kWide;
    }
    bits = RandomBits(rng, s, one);
  }
  return b;
}

}  // namespace tg::testing
