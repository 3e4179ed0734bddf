// Checks the bounds of docs/accuracy.md: ir/accuracy.def and compositions.def against MPFR, on the
// device that TG_DEVICE names (default: PoCL) and in the interpreter.
#include "ir/accuracy.h"

#include <cstdlib>

#include "gtest/gtest.h"
#include "tools/accuracy/measure.h"
#include "tools/accuracy/test_evaluator.h"

namespace tg::accuracy {
namespace {

using Kind = Implementation::Kind;

int64_t NumSamples() {
  const char* n = std::getenv("TG_ACCURACY_SAMPLES");
  return n ? std::atoll(n) : 20000;
}

void Expect(const Function& function, Scalar scalar, const Implementation& by,
            const Arguments& arguments, double stated) {
  const auto m = Measure(TestEvaluator(), function, scalar, by, arguments);
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_EQ(m->count, static_cast<int64_t>(arguments.x.size()));
  EXPECT_LE(m->ulps, stated) << Describe(*m, function, scalar, by);
}

class Ops : public testing::TestWithParam<Accuracy> {};

TEST_P(Ops, AreAsAccurateAsStated) {
  const Accuracy& row = GetParam();
  const Function function = FunctionOf(row.op);
  const Arguments arguments = Samples(function, row.scalar, NumSamples(), 1);
  for (const Implementation& by :
       {Implementation{Kind::kInterpreter, false, true}, Implementation{Kind::kDevice, false, true},
        Implementation{Kind::kDevice, true, true}, Implementation{Kind::kOwn, false, true},
        Implementation{Kind::kOwn, false, false}, Implementation{Kind::kOwn, true, true}}) {
    // Functions of types narrower than f32 round the f32 result, so one configuration of each is
    // enough.
    if (BitWidth(row.scalar) < 32 && (by.scalars || !by.contract)) continue;
    Expect(function, row.scalar, by, arguments, StatedUlps(TestEvaluator(), row, by.kind));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Ops, testing::ValuesIn(Accuracies().begin(), Accuracies().end()),
                         [](const auto& info) {
                           return std::string(Mnemonic(info.param.op)) + "_" +
                                  std::string(GetScalarInfo(info.param.scalar).text);
                         });

class Built : public testing::TestWithParam<Composition> {};

TEST_P(Built, AreAsAccurateAsStated) {
  const Composition& c = GetParam();
  for (const Scalar s : {Scalar::kF16, Scalar::kBF16, Scalar::kF32, Scalar::kF64}) {
    const Arguments arguments = Samples(c.function, s, NumSamples(), 1);
    for (const Kind kind : {Kind::kInterpreter, Kind::kDevice, Kind::kOwn}) {
      // The table states no bounds for the built-in functions of other devices.
      if (kind == Kind::kDevice && !TestEvaluator().is_pocl()) continue;
      Expect(c.function, s, {kind, false, true}, arguments, c.BoundFor(s));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Built,
                         testing::ValuesIn(Compositions().begin(), Compositions().end()),
                         [](const auto& info) { return info.param.function.name; });

}  // namespace
}  // namespace tg::accuracy
