// Checks the operators of ONNX on floats: those of operators.def against MPFR, within their bounds,
// and those whose results are exact against their definitions.
#include "tools/accuracy/operators.h"

#include <cstdlib>
#include <set>

#include "frontend/onnx/operators.h"
#include "gtest/gtest.h"
#include "tools/accuracy/measure.h"
#include "tools/accuracy/operator_cases.h"
#include "tools/accuracy/test_evaluator.h"

namespace tg::accuracy {
namespace {

using Kind = Implementation::Kind;

int64_t NumSamples() {
  const char* n = std::getenv("TG_ACCURACY_SAMPLES");
  return n ? std::atoll(n) : 20000;
}

class Operators : public testing::TestWithParam<MeasuredOperator> {};

TEST_P(Operators, AreAsAccurateAsStated) {
  for (const Scalar s : kTestedTypes) {
    const Function function = GetParam().On(s);
    const Arguments arguments = Samples(function, s, NumSamples(), 1);
    for (const Kind kind : {Kind::kInterpreter, Kind::kDevice, Kind::kOwn}) {
      // The table states no bounds for the built-in functions of other devices.
      if (kind == Kind::kDevice && !TestEvaluator().is_pocl()) continue;
      // tg's expansions are those of f32 and f64.
      if (kind == Kind::kOwn && BitWidth(s) < 32) continue;
      const Implementation by{kind, false, true};
      const auto m = Measure(TestEvaluator(), function, s, by, arguments);
      ASSERT_TRUE(m.ok()) << m.status().message();
      EXPECT_LE(m->ulps, GetParam().BoundFor(s)) << Describe(*m, function, s, by);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Operators,
                         testing::ValuesIn(MeasuredOperators().begin(), MeasuredOperators().end()),
                         [](const auto& info) { return info.param.name; });

// Of integers and bools, and conversions, which rounding_test.cc and scalar_test.cc check.
const std::set<std::string> kOthers = {":And",        ":BitCast",   ":BitShift",   ":BitwiseAnd",
                                       ":BitwiseNot", ":BitwiseOr", ":BitwiseXor", ":Cast",
                                       ":CastLike",   ":Not",       ":Or",         ":Xor"};

TEST(Operators, NoneIsLeftOut) {
  std::set<std::string> tested = ExactOperators();
  tested.merge(ReducingOperators());
  for (const MeasuredOperator& o : MeasuredOperators()) {
    tested.insert(o.function.node->domain + ":" + o.function.node->op);
  }
  for (const auto& operators : {onnx::ElementwiseOperators(), onnx::ReduceOperators()}) {
    for (const onnx::Operator& o : operators) {
      const std::string name = std::string(o.domain) + ":" + std::string(o.name);
      EXPECT_NE(tested.count(name), kOthers.count(name)) << name;
    }
  }
}

}  // namespace
}  // namespace tg::accuracy
