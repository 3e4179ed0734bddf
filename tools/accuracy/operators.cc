#include "tools/accuracy/operators.h"

#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/value.h"
#include "tools/accuracy/real.h"

namespace tg::accuracy {
namespace {

// ---- Formulas of the operators' definitions, for T = Real and T = double.

template <typename T>
T Positive(const T& x) {
  return x < T(0.0) ? T(0.0) : x;
}
template <typename T>
T Clip01(const T& x) {
  return x < T(0.0) ? T(0.0) : T(1.0) < x ? T(1.0) : x;
}
template <typename T>
T Sigmoid(const T& x) {
  return T(1.0) / (T(1.0) + Exp(-x));
}
template <typename T>
T Softplus(const T& x) {
  return Positive(x) + Log1p(Exp(-Abs(x)));
}
template <typename T>
T Gelu(const T& x) {
  return x * T(0.5) * (T(1.0) + Erf(x * T(std::numbers::sqrt2 / 2)));
}
template <typename T>
T GeluTanh(const T& x) {
  const T inner = (x + T(0.044715) * (x * x * x)) * Sqrt(T(2.0) * T(std::numbers::inv_pi));
  return x * T(0.5) * (T(1.0) + Tanh(inner));
}
// Of the sign of the divisor.
template <typename T>
T FloorMod(const T& x, const T& y) {
  const T r = Fmod(x, y);
  if (r < T(0.0)) return y < T(0.0) ? r : r + y;
  if (T(0.0) < r) return y < T(0.0) ? r + y : r;
  return y < T(0.0) ? -Abs(r) : Abs(r);
}

constexpr double kSeluAlpha = 1.67326319217681884765625;
constexpr double kSeluGamma = 1.05070102214813232421875;

struct OperatorMeaning {
  std::string_view name, attribute;
  int arity;
  Op like;
  int (*exact)(mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr y);
  double (*near)(double x, double y);
};

#define TG_MEANING(name, attribute, arity, like, formula)               \
  {                                                                     \
    name, attribute, arity, like,                                       \
        [](mpfr_ptr r, mpfr_srcptr a, [[maybe_unused]] mpfr_srcptr b) { \
          using T [[maybe_unused]] = Real;                              \
          const T x(a), y(b);                                           \
          const T value = formula;                                      \
          return mpfr_set(r, value.get(), MPFR_RNDN);                   \
        },                                                              \
        [](double x, [[maybe_unused]] double y) -> double {             \
          using T [[maybe_unused]] = double;                            \
          return formula;                                               \
        }                                                               \
  }

const OperatorMeaning kOperatorMeanings[] = {
    TG_MEANING("Acos", "", 1, Op::kSqrt, Acos(x)),
    TG_MEANING("Acosh", "", 1, Op::kLog2, Acosh(x)),
    TG_MEANING("Add", "", 2, Op::kDiv, x + y),
    TG_MEANING("Asin", "", 1, Op::kSqrt, Asin(x)),
    TG_MEANING("Asinh", "", 1, Op::kSqrt, Asinh(x)),
    TG_MEANING("Atan", "", 1, Op::kSqrt, Atan(x)),
    TG_MEANING("Atanh", "", 1, Op::kLog2, Atanh(x)),
    TG_MEANING("BiasGelu", "", 1, Op::kExp2, Gelu(T(2.0) * x)),  // of x + x
    TG_MEANING("Celu", "", 1, Op::kExp2, x < T(0.0) ? Expm1(x) : x),
    TG_MEANING("Cos", "", 1, Op::kSin, Cos(x)),
    TG_MEANING("Cosh", "", 1, Op::kExp2, Cosh(x)),
    TG_MEANING("Div", "", 2, Op::kDiv, x / y),
    TG_MEANING("Elu", "", 1, Op::kExp2, x < T(0.0) ? Expm1(x) : x),
    TG_MEANING("Erf", "", 1, Op::kExp2, Erf(x)),
    TG_MEANING("Exp", "", 1, Op::kExp2, Exp(x)),
    TG_MEANING("FastGelu", "", 1, Op::kExp2, GeluTanh(x)),
    TG_MEANING("Gelu", "", 1, Op::kExp2, Gelu(x)),
    TG_MEANING("HardSigmoid", "", 1, Op::kSqrt, Clip01(T(0.2f) * x + T(0.5))),
    TG_MEANING("HardSwish", "", 1, Op::kSqrt, Clip01(x / T(6.0) + T(0.5)) * x),
    TG_MEANING("LeakyRelu", "", 1, Op::kSqrt, x < T(0.0) ? x * T(0.01f) : x),
    TG_MEANING("Log", "", 1, Op::kLog2, Log(x)),
    TG_MEANING("Mean", "", 1, Op::kSqrt, x),  // of x and x
    TG_MEANING("Mish", "", 1, Op::kExp2, Tanh(Softplus(x)) * x),
    TG_MEANING("Mod", "", 2, Op::kDiv, FloorMod(x, y)),
    TG_MEANING("Mod", "fmod", 2, Op::kDiv, Fmod(x, y)),
    TG_MEANING("Mul", "", 2, Op::kDiv, (x * y)),
    TG_MEANING("PRelu", "", 2, Op::kDiv, x < T(0.0) ? x * y : x),
    TG_MEANING("Pow", "", 2, Op::kPow, Pow(x, y)),
    TG_MEANING("QuickGelu", "", 1, Op::kExp2, Sigmoid(T(1.702f) * x) * x),
    TG_MEANING("Reciprocal", "", 1, Op::kRecip, T(1.0) / x),
    TG_MEANING("Selu", "", 1, Op::kExp2,
               x < T(0.0) ? T(kSeluGamma * kSeluAlpha) * Expm1(x) : T(kSeluGamma) * x),
    TG_MEANING("Sigmoid", "", 1, Op::kExp2, Sigmoid(x)),
    TG_MEANING("Sin", "", 1, Op::kSin, Sin(x)),
    TG_MEANING("Sinh", "", 1, Op::kExp2, Sinh(x)),
    TG_MEANING("Softplus", "", 1, Op::kExp2, Softplus(x)),
    TG_MEANING("Softsign", "", 1, Op::kSqrt, x / (T(1.0) + Abs(x))),
    TG_MEANING("Sqrt", "", 1, Op::kSqrt, Sqrt(x)),
    TG_MEANING("Sub", "", 2, Op::kDiv, x - y),
    TG_MEANING("Sum", "", 1, Op::kSqrt, T(3.0) * x),             // of x, x and x
    TG_MEANING("SwiGLU", "", 1, Op::kExp2, Sigmoid(x) * x * x),  // of x and x
    TG_MEANING("Swish", "", 1, Op::kExp2, Sigmoid(x) * x),
    TG_MEANING("Tan", "", 1, Op::kSin, Tan(x)),
    TG_MEANING("Tanh", "", 1, Op::kExp2, Tanh(x)),
};

#undef TG_MEANING

// How often x is an input of a node that computes a function of x alone.
size_t TimesOfX(std::string_view op) {
  if (op == "Sum") return 3;
  return op == "BiasGelu" || op == "Mean" || op == "SwiGLU" ? 2 : 1;
}

MeasuredOperator Make(std::string_view domain, std::string_view op, std::string_view attribute,
                      std::string_view arguments, std::string_view unit, double f16, double bf16,
                      double f32, double f64) {
  TG_CHECK(unit == "ulp" || unit == "one");
  TG_CHECK(arguments == "all" || arguments == "half");
  const bool is_tanh = attribute == "tanh";
  const std::string_view meaning = is_tanh ? "FastGelu" : op;
  for (const OperatorMeaning& m : kOperatorMeanings) {
    if (m.name != meaning || (!is_tanh && m.attribute != attribute)) continue;
    MeasuredOperator o{{}, "", arguments == "half", f16, bf16, f32, f64};
    Function& f = o.function;
    f.name = absl::StrCat(std::string(op), attribute.empty() ? "" : "_", std::string(attribute));
    o.name = absl::StrCat(domain.empty() ? "" : "Microsoft_", f.name, "_", std::string(unit));
    f.arity = m.arity;
    f.node = OnnxNode{std::string(domain), std::string(op)};
    f.node->inputs = std::vector<std::string>(TimesOfX(op), "x");
    if (m.arity == 2) f.node->inputs.push_back("y");
    if (is_tanh) {
      f.node->strings.emplace_back("approximate", "tanh");
    } else if (!attribute.empty()) {
      f.node->attributes.emplace_back(attribute, 1);
    }
    f.like = m.like;
    f.exact = m.exact;
    f.near = m.near;
    f.high = std::numeric_limits<double>::infinity();
    f.low = -f.high;
    f.absolute = unit == "one";
    return o;
  }
  TG_UNREACHABLE();
}

}  // namespace

Function MeasuredOperator::On(Scalar s) const {
  Function f = function;
  if (half) {
    f.high = DoubleFromBits(s, MaxValue(s) - 1) / 2;
    f.low = -f.high;
  }
  return f;
}

double MeasuredOperator::BoundFor(Scalar s) const { return BoundOf(s, f16, bf16, f32, f64); }

std::span<const MeasuredOperator> MeasuredOperators() {
  static const auto& all = *new std::vector<MeasuredOperator>{
#define TG_OPERATOR(...) Make(__VA_ARGS__),
#include "tools/accuracy/operators.def"
#undef TG_OPERATOR
  };
  return all;
}

}  // namespace tg::accuracy
