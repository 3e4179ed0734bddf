#include "ir/interpret/compare_values.h"

#include <cmath>
#include <cstdio>

#include "ir/float_format.h"
#include "ir/interpret/allowed.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

std::string Hex(int64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string ValueText(Scalar s, int64_t bits) {
  if (!IsFloat(s)) {
    return s == Scalar::kU64 ? std::to_string(static_cast<uint64_t>(bits)) : std::to_string(bits);
  }
  char text[64];
  std::snprintf(text, sizeof text, s == Scalar::kF64 ? "%.17g" : "%.9g", DoubleFromBits(s, bits));
  const uint64_t mask = BitWidth(s) == 64 ? ~0ull : (1ull << BitWidth(s)) - 1;
  return std::string(text) + " (" + Hex(static_cast<int64_t>(static_cast<uint64_t>(bits) & mask)) +
         ")";
}

std::string Coordinates(const std::vector<int64_t>& shape, size_t flat) {
  std::string text = "]";
  auto rest = static_cast<int64_t>(flat);
  for (size_t i = shape.size(); i-- > 0;) {
    text = std::to_string(rest % shape[i]) + (i + 1 < shape.size() ? ", " : "") + text;
    rest /= shape[i];
  }
  return "[" + text;
}

// The difference of two elements beyond the tolerance, as a multiple of it. 0 if they are equal.
double Excess(Scalar s, int64_t expected, int64_t actual, double bound, const Tolerance& t) {
  double allowed = bound;
  if (IsFloat(s)) {
    const double a = DoubleFromBits(s, expected);
    if (AllowAnyValueFor(t.flags, a)) return 0;
    allowed += t.absolute;
    if (std::isfinite(a)) allowed += t.relative * std::fabs(a) + t.ulps * UlpOf(s, a);
  }
  const double of_allowed = OfAllowed(s, expected, actual, allowed);
  return of_allowed <= 1 ? 0 : of_allowed;
}

}  // namespace

double UlpOf(Scalar s, double v) {
  const double tiny = DoubleFromBits(s, 1);
  if (v == 0 || !std::isfinite(v)) return tiny;
  return std::fmax(tiny, std::ldexp(1.0, std::ilogb(v) - FormatOf(s).mantissa_bits));
}

std::optional<std::string> Difference(const HostBuffer& expected, const HostBuffer& actual,
                                      const Tolerance& t) {
  if (expected.dtype != actual.dtype) {
    return "types differ: expected " + expected.dtype.ToString() + ", got " +
           actual.dtype.ToString();
  }
  if (expected.shape != actual.shape || expected.data.size() != actual.data.size()) {
    return "shapes differ: expected " + std::to_string(expected.data.size()) + " elements, got " +
           std::to_string(actual.data.size());
  }
  const Scalar s = expected.dtype.scalar();
  size_t count = 0, first = 0, worst = 0;
  double worst_excess = 0;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    if (!expected.IsDefined(i)) continue;  // any value will do
    const double bound =
        t.use_error_bounds && !expected.error.empty() ? t.scale_bounds * expected.error[i] : 0;
    const double excess =
        actual.IsDefined(i) ? Excess(s, expected.data[i], actual.data[i], bound, t) : HUGE_VAL;
    if (excess == 0) continue;
    if (count++ == 0) first = i;
    if (excess > worst_excess) {
      worst_excess = excess;
      worst = i;
    }
  }
  if (count == 0) return std::nullopt;
  const auto describe = [&](size_t i) {
    std::string text = Coordinates(expected.shape, i) + ": expected " +
                       ValueText(s, expected.data[i]) + ", got " +
                       (actual.IsDefined(i) ? ValueText(s, actual.data[i]) : "no value");
    if (!expected.error.empty() && t.use_error_bounds && expected.error[i] > 0) {
      text += " +- " + std::to_string(expected.error[i]);
    }
    return text;
  };
  std::string text = "element " + describe(first) + "; " + std::to_string(count) + " of " +
                     std::to_string(expected.data.size()) + " differ";
  if (worst != first) text += ", worst " + describe(worst);
  return text;
}

std::optional<std::string> Difference(const HostBuffers& expected, const HostBuffers& actual,
                                      const Tolerance& tolerance) {
  for (const auto& [name, buffer] : expected) {
    const auto it = actual.find(name);
    if (it == actual.end()) return "buffer @" + name + " is missing";
    if (const auto d = Difference(buffer, it->second, tolerance))
      return "buffer @" + name + ", " + *d;
  }
  return std::nullopt;
}

}  // namespace tg::interpret
