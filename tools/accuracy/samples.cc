#include "tools/accuracy/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>

#include "ir/float_format.h"
#include "ir/value.h"

namespace tg::accuracy {
namespace {

constexpr double kSpecial[] = {0.0,
                               1.0,
                               2.0,
                               0.5,
                               3.0,
                               10.0,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

class Collector {
 public:
  Collector(Scalar scalar, uint64_t seed)
      : scalar_(scalar), format_(FormatOf(scalar)), random_(seed) {}

  // Adds a value and its neighbours, with both signs.
  void Around(double v, int distance) {
    const int64_t bits = BitsFromDouble(scalar_, v);
    for (int64_t d = -distance; d <= distance; ++d) Add(bits + d);
  }
  void Add(int64_t bits) {
    all_.push_back(WrapInt(BitsType(scalar_), bits));
    all_.push_back(all_.back() ^ WrapInt(BitsType(scalar_), int64_t{1} << (BitWidth(scalar_) - 1)));
  }
  // Adds `count` random significands at each exponent.
  void EveryExponent(int count) {
    for (int64_t e = 0; e < int64_t{1} << format_.exponent_bits; ++e) {
      const int64_t base = e << format_.mantissa_bits;
      for (int64_t end : {int64_t{0}, int64_t{1}, (int64_t{1} << format_.mantissa_bits) - 1}) {
        Add(base | end);
      }
      for (int i = 0; i < count; ++i) Add(base | RandomSignificand());
    }
  }
  void Uniform(double low, double high, int64_t count) {
    std::uniform_real_distribution<double> d(low, high);
    for (int64_t i = 0; i < count; ++i) all_.push_back(BitsFromDouble(scalar_, d(random_)));
  }
  int64_t RandomSignificand() {
    return static_cast<int64_t>(random_() & ((1ull << format_.mantissa_bits) - 1));
  }
  void RandomBits(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      all_.push_back(WrapInt(BitsType(scalar_), static_cast<int64_t>(random_())));
    }
  }
  std::mt19937_64& random() { return random_; }
  const FloatFormat& format() const { return format_; }
  int64_t size() const { return static_cast<int64_t>(all_.size()); }
  std::vector<int64_t>& all() { return all_; }

 private:
  Scalar scalar_;
  FloatFormat format_;
  std::mt19937_64 random_;
  std::vector<int64_t> all_;
};

void Difficult(Op op, Collector& c, int64_t count) {
  const FloatFormat& f = c.format();
  const double overflow = f.bias() + 1, underflow = f.min_exponent() - f.mantissa_bits - 1;
  switch (op) {
    case Op::kExp2:
      for (double v : {overflow, underflow, underflow + 1.0, double(f.min_exponent())}) {
        c.Around(v, 200);
      }
      c.Uniform(underflow - 2, overflow + 1, count / 2);
      c.Uniform(-1, 1, count / 8);
      for (int64_t n = -150; n < 128; ++n) {
        c.Around(static_cast<double>(n), 3);
        c.Around(static_cast<double>(n) + 0.5, 3);
      }
      break;
    case Op::kLog2:
      c.Around(1, 2000);
      c.Uniform(0.5, 2, count / 2);
      for (int n = -30; n <= 30; ++n) {
        c.Around(1 + std::ldexp(1.0, n), 2);
        c.Around(1 - std::ldexp(1.0, -std::abs(n)), 2);
        c.Around(std::ldexp(std::numbers::sqrt2, n), 20);
        c.Around(std::ldexp(1.0, n), 20);
      }
      break;
    case Op::kSin:
      c.Uniform(-7, 7, count / 4);
      c.Uniform(-1000, 1000, count / 8);
      for (int64_t n = 1; n <= count / 200; ++n) {
        c.Around(static_cast<double>(n) * std::numbers::pi / 2, 1);
      }
      for (int i = 0; i < 4000; ++i) {
        const double large = std::floor(std::ldexp(1.0, static_cast<int>(c.random()() % 52)));
        c.Around(large * std::numbers::pi / 2, 1);
        c.Around((2 * large + 1) * std::numbers::pi / 4, 1);
      }
      // The floats closest to multiples of pi/2: Muller, "Elementary Functions", 2016.
      c.Around(16367173.0 * std::ldexp(1.0, 72), 1);
      c.Around(6381956970095103.0 * std::ldexp(1.0, 797), 1);
      break;
    default:
      c.Uniform(0, 4, count / 4);
      break;
  }
}

// Exponents that keep x^y in the type's range. Half of them are near its ends.
int64_t ExponentFor(Scalar s, const FloatFormat& f, int64_t x, std::mt19937_64& random) {
  const double base = std::fabs(DoubleFromBits(s, x));
  const double log = std::log2(base);
  std::uniform_real_distribution<double> d(f.min_exponent() - f.mantissa_bits - 1.0,
                                           f.bias() + 1.0);
  if (!std::isfinite(log) || log == 0) return WrapInt(BitsType(s), static_cast<int64_t>(random()));
  double y = d(random) / log;
  if (random() % 4 == 0) y = std::round(y);
  return BitsFromDouble(s, y);
}

// All values, or samples, for a function of one argument.
std::vector<int64_t> OneArgument(const Function& function, Scalar scalar, int64_t count,
                                 uint64_t seed) {
  std::vector<int64_t> all;
  if (BitWidth(scalar) <= 16) {
    for (int64_t i = 0; i < int64_t{1} << BitWidth(scalar); ++i) all.push_back(i);
    return all;
  }
  Collector c(scalar, seed);
  for (double v : kSpecial) c.Around(v, 3);
  c.EveryExponent(static_cast<int>(count / 8 >> FormatOf(scalar).exponent_bits));
  Difficult(function.like, c, count);
  if (std::isfinite(function.low)) c.Uniform(function.low, function.high, count / 4);
  c.RandomBits(std::max<int64_t>(0, count - c.size()));
  return std::move(c.all());
}

Arguments TwoArguments(const Function& function, Scalar scalar, int64_t count, uint64_t seed) {
  Collector c(scalar, seed);
  for (double v : kSpecial) c.Around(v, 3);
  std::vector<int64_t> special = c.all();
  for (int64_t i : {-5, -4, 4, 5, 255, 256, 1 << 24}) special.push_back(BitsFromInt(scalar, i));
  c.EveryExponent(1);
  // All pairs of special values.
  Arguments out;
  for (int64_t x : special) {
    for (int64_t y : special) {
      out.x.push_back(x);
      out.y.push_back(y);
    }
  }
  c.RandomBits(std::max<int64_t>(0, (count - c.size()) / 2));
  c.Uniform(0.5, 2, std::max<int64_t>(0, count - c.size()));
  for (int64_t x : c.all()) {
    const bool any = function.like == Op::kDiv || c.random()() % 4 == 0;
    out.x.push_back(x);
    out.y.push_back(any ? WrapInt(BitsType(scalar), static_cast<int64_t>(c.random()()))
                        : ExponentFor(scalar, c.format(), x, c.random()));
  }
  return out;
}

}  // namespace

Arguments Samples(const Function& function, Scalar scalar, int64_t count, uint64_t seed) {
  Arguments out;
  if (function.arity == 2) {
    out = TwoArguments(function, scalar, count, seed);
  } else {
    for (int64_t x : OneArgument(function, scalar, count, seed)) {
      const double v = DoubleFromBits(scalar, x);
      const bool everything = std::isinf(function.low) && std::isinf(function.high);
      if (everything || (v >= function.low && v <= function.high)) out.x.push_back(x);
    }
  }
  std::mt19937_64 random(seed);
  for (size_t i = out.x.size(); i > 1; --i) {
    const size_t j = random() % i;
    std::swap(out.x[i - 1], out.x[j]);
    if (!out.y.empty()) std::swap(out.y[i - 1], out.y[j]);
  }
  return out;
}

}  // namespace tg::accuracy
