// Operators of ONNX on floats whose results are exact: on special values, in all pairs, and on
// random bits.
#include <cmath>

#include "gtest/gtest.h"
#include "ir/value.h"
#include "tools/accuracy/operator_cases.h"
#include "tools/accuracy/samples.h"
#include "tools/accuracy/test_evaluator.h"

namespace tg::accuracy {
namespace {

constexpr double kLow = -1.5, kHigh = 2.5;

double Round(double v) {  // to even
  const double down = std::floor(v), rest = v - down;
  if (rest == 0) return v;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) != 0);
  return std::copysign(down + (up ? 1 : 0), v);
}
double Truth(bool b) { return b ? 1 : 0; }
bool IsNan(double v) { return std::isnan(v); }
double Greatest(double a, double b) { return IsNan(a) || IsNan(b) ? NAN : a < b ? b : a; }
double Least(double a, double b) { return IsNan(a) || IsNan(b) ? NAN : b < a ? b : a; }

struct Exact {
  std::string op, attribute;
  std::vector<std::string> inputs;  // x, y; c, a bool; low, high, scalars
  double (*expected)(double x, double y, bool c);
  bool gives_bool = false;
  bool signs_zeros = false;  // the sign of a zero is defined
};

const Exact kExact[] = {
    {"Abs", "", {"x"}, [](double x, double, bool) { return std::fabs(x); }, false, true},
    {"Ceil", "", {"x"}, [](double x, double, bool) { return std::ceil(x); }, false, true},
    {"Clip",
     "",
     {"x", "low", "high"},
     [](double x, double, bool) { return Least(Greatest(x, kLow), kHigh); }},
    {"Equal", "", {"x", "y"}, [](double x, double y, bool) { return Truth(x == y); }, true},
    {"Floor", "", {"x"}, [](double x, double, bool) { return std::floor(x); }, false, true},
    {"Greater", "", {"x", "y"}, [](double x, double y, bool) { return Truth(x > y); }, true},
    {"GreaterOrEqual",
     "",
     {"x", "y"},
     [](double x, double y, bool) { return Truth(x >= y); },
     true},
    {"Identity", "", {"x"}, [](double x, double, bool) { return x; }, false, true},
    {"IsInf", "", {"x"}, [](double x, double, bool) { return Truth(std::isinf(x)); }, true},
    {"IsInf",
     "detect_positive",
     {"x"},
     [](double x, double, bool) { return Truth(std::isinf(x) && x < 0); },
     true},
    {"IsInf",
     "detect_negative",
     {"x"},
     [](double x, double, bool) { return Truth(std::isinf(x) && x > 0); },
     true},
    {"IsNaN", "", {"x"}, [](double x, double, bool) { return Truth(IsNan(x)); }, true},
    {"Less", "", {"x", "y"}, [](double x, double y, bool) { return Truth(x < y); }, true},
    {"LessOrEqual", "", {"x", "y"}, [](double x, double y, bool) { return Truth(x <= y); }, true},
    {"Max", "", {"x", "y"}, [](double x, double y, bool) { return Greatest(x, y); }},
    {"Max",
     "",
     {"x", "y", "low"},
     [](double x, double y, bool) { return Greatest(Greatest(x, y), kLow); }},
    {"Min", "", {"x", "y"}, [](double x, double y, bool) { return Least(x, y); }},
    {"Neg", "", {"x"}, [](double x, double, bool) { return -x; }, false, true},
    {"Relu", "", {"x"}, [](double x, double, bool) { return Greatest(x, 0); }},
    {"Round", "", {"x"}, [](double x, double, bool) { return Round(x); }, false, true},
    {"Shrink", "", {"x"}, [](double x, double, bool) { return x < -0.5 || x > 0.5 ? x : 0.0; }},
    {"Sign",
     "",
     {"x"},
     [](double x, double, bool) {
       return IsNan(x) ? NAN : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
     }},
    {"ThresholdedRelu", "", {"x"}, [](double x, double, bool) { return x > 1 ? x : 0.0; }},
    {"Where",
     "",
     {"c", "x", "y"},
     [](double x, double y, bool c) { return c ? x : y; },
     false,
     true},
};

class Exactly : public testing::TestWithParam<Exact> {};

TEST_P(Exactly, AsDefined) {
  const Exact& e = GetParam();
  Function pairs;
  pairs.arity = 2;
  pairs.like = Op::kDiv;
  OnnxNode node{"", e.op};
  if (!e.attribute.empty()) node.attributes.emplace_back(e.attribute, 0);
  node.inputs = e.inputs;
  for (const Scalar s : kTestedTypes) {
    const Arguments a = Samples(pairs, s, 4000, 1);
    const auto count = static_cast<int64_t>(a.x.size());
    std::vector<int64_t> conditions;
    for (int64_t i = 0; i < count; ++i) conditions.push_back(i * 7 / 3 % 2);
    std::vector<Evaluator::NodeData> inputs;
    for (const std::string& name : e.inputs) {
      if (name == "x") inputs.push_back({{name, s, {count}}, a.x});
      if (name == "y") inputs.push_back({{name, s, {count}}, a.y});
      if (name == "c") inputs.push_back({{name, Scalar::kBool, {count}}, conditions});
      if (name == "low") inputs.push_back({{name, s, {}}, {BitsFromDouble(s, kLow)}});
      if (name == "high") inputs.push_back({{name, s, {}}, {BitsFromDouble(s, kHigh)}});
    }
    for (const Implementation& by : kTestedImplementations) {
      const auto results = TestEvaluator().RunNode(node, inputs, by);
      ASSERT_TRUE(results.ok()) << results.status().message();
      const interpret::HostBuffer& r = (*results)[0];
      ASSERT_EQ(r.dtype, DType(e.gives_bool ? Scalar::kBool : s));
      ASSERT_EQ(r.shape, std::vector<int64_t>{count});
      for (size_t i = 0; i < a.x.size(); ++i) {
        const double x = DoubleFromBits(s, a.x[i]), y = DoubleFromBits(s, a.y[i]);
        const double want = e.expected(x, y, conditions[i] != 0);
        const double got = DoubleFromBits(r.dtype.scalar(), r.data[i]);
        const bool same = IsNan(want) ? IsNan(got)
                                      : got == want && (!e.signs_zeros ||
                                                        std::signbit(got) == std::signbit(want));
        ASSERT_TRUE(same) << GetScalarInfo(s).text << " by " << by.Name() << " of " << x << " and "
                          << y << " is " << got << ", not " << want;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Exactly, testing::ValuesIn(kExact), [](const auto& info) {
  return info.param.op + (info.param.attribute.empty() ? "" : "_" + info.param.attribute) + "_of_" +
         std::to_string(info.param.inputs.size());
});

}  // namespace

std::set<std::string> ExactOperators() {
  std::set<std::string> names;
  for (const Exact& e : kExact) names.insert(":" + e.op);
  return names;
}

}  // namespace tg::accuracy
