#include "tools/accuracy/functions.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"

namespace tg::accuracy {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

#define TG_EXACT(call) \
  [](mpfr_ptr r, mpfr_srcptr x, [[maybe_unused]] mpfr_srcptr y) { return call; }
#define TG_NEAR(expression) [](double x, [[maybe_unused]] double y) -> double { return expression; }

struct Meaning {
  std::string_view name;
  Op like;
  int (*exact)(mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr y);
  double (*near)(double x, double y);
};

const Meaning kMeanings[] = {
    {"exp2", Op::kExp2, TG_EXACT(mpfr_exp2(r, x, MPFR_RNDN)), TG_NEAR(std::exp2(x))},
    {"log2", Op::kLog2, TG_EXACT(mpfr_log2(r, x, MPFR_RNDN)), TG_NEAR(std::log2(x))},
    {"sin", Op::kSin, TG_EXACT(mpfr_sin(r, x, MPFR_RNDN)), TG_NEAR(std::sin(x))},
    {"pow", Op::kPow, TG_EXACT(mpfr_pow(r, x, y, MPFR_RNDN)), TG_NEAR(std::pow(x, y))},
    {"sqrt", Op::kSqrt, TG_EXACT(mpfr_sqrt(r, x, MPFR_RNDN)), TG_NEAR(std::sqrt(x))},
    {"recip", Op::kRecip, TG_EXACT(mpfr_ui_div(r, 1, x, MPFR_RNDN)), TG_NEAR(1 / x)},
    {"div", Op::kDiv, TG_EXACT(mpfr_div(r, x, y, MPFR_RNDN)), TG_NEAR(x / y)},
    {"exp", Op::kExp2, TG_EXACT(mpfr_exp(r, x, MPFR_RNDN)), TG_NEAR(std::exp(x))},
    {"log", Op::kLog2, TG_EXACT(mpfr_log(r, x, MPFR_RNDN)), TG_NEAR(std::log(x))},
    {"cos", Op::kSin, TG_EXACT(mpfr_cos(r, x, MPFR_RNDN)), TG_NEAR(std::cos(x))},
    {"tan", Op::kSin, TG_EXACT(mpfr_tan(r, x, MPFR_RNDN)), TG_NEAR(std::tan(x))},
    {"sigmoid", Op::kExp2,
     [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
       mpfr_neg(r, x, MPFR_RNDN);
       mpfr_exp(r, r, MPFR_RNDN);
       mpfr_add_ui(r, r, 1, MPFR_RNDN);
       return mpfr_ui_div(r, 1, r, MPFR_RNDN);
     },
     TG_NEAR(1 / (1 + std::exp(-x)))},
    {"tanh", Op::kExp2, TG_EXACT(mpfr_tanh(r, x, MPFR_RNDN)), TG_NEAR(std::tanh(x))},
    {"rsqrt", Op::kSqrt, TG_EXACT(mpfr_rec_sqrt(r, x, MPFR_RNDN)), TG_NEAR(1 / std::sqrt(x))},
};

#undef TG_EXACT
#undef TG_NEAR

Function FunctionNamed(std::string_view name) {
  for (const Meaning& m : kMeanings) {
    if (m.name != name) continue;
    Function f;
    f.name = name;
    f.like = m.like;
    f.exact = m.exact;
    f.near = m.near;
    f.low = -kInf;
    f.high = kInf;
    return f;
  }
  TG_UNREACHABLE();
}

Composition Make(std::string_view name, std::string_view body, double low, double high,
                 std::string_view unit, double f16, double bf16, double f32, double f64) {
  TG_CHECK(unit == "ulp" || unit == "one");
  Composition c{FunctionNamed(name), f16, bf16, f32, f64};
  c.function.body = body;
  c.function.low = low;
  c.function.high = high;
  c.function.absolute = unit == "one";
  return c;
}

}  // namespace

Function FunctionOf(Op op) {
  Function f = FunctionNamed(Mnemonic(op));
  f.arity = GetOpInfo(op).max_sources;
  f.body = "  %r = " + f.name + (f.arity == 2 ? " %x, %y" : " %x") + " : $t\n";
  return f;
}

double BoundOf(Scalar s, double f16, double bf16, double f32, double f64) {
  switch (s) {
    case Scalar::kF16:
      return f16;
    case Scalar::kBF16:
      return bf16;
    case Scalar::kF32:
      return f32;
    case Scalar::kF64:
      return f64;
    default:
      TG_UNREACHABLE();
  }
}

double Composition::BoundFor(Scalar s) const { return BoundOf(s, f16, bf16, f32, f64); }

std::span<const Composition> Compositions() {
  static const auto& all = *new std::vector<Composition>{
#define TG_COMPOSITION(...) Make(__VA_ARGS__),
#include "tools/accuracy/compositions.def"
#undef TG_COMPOSITION
  };
  return all;
}

}  // namespace tg::accuracy
