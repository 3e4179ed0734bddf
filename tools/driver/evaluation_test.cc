#include "tools/driver/evaluation.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text/testing.h"
#include "ir/value.h"

namespace tg::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A module that applies `op` to a buffer of 64 floats and sums the result.
std::string SumText(std::string_view op) {
  return "tg 1\nmodule @m\nbuffer @x : f32[64] input\nbuffer @t : f32[1] temp\n"
         "buffer @y : f32[1] output\n\ngraph @main {\n  %x = buffer @x : f32\n  %0 = " +
         std::string(op) +
         " : f32\n  %1 = reduce_axis %0 {op = add, axes = [0]} : f32\n"
         "  sink %1 -> @y, %1 -> @t\n}\n";
}

interpret::HostBuffers Values(const Module& module, const EvaluationCase& c) {
  absl::StatusOr<interpret::HostBuffers> values = Evaluate(module, c, GivesBounds(module));
  EXPECT_TRUE(values.ok()) << values.status();
  return *std::move(values);
}

TEST(Evaluation, VariablesTakeTheirMaximumThenOthers) {
  const auto module = ParseOrFail(
      "tg 1\nmodule @m\nvar @n : [2, 1000000]\nvar @k : [3, 3]\nbuffer @x : f32[4] input\n"
      "buffer @y : f32[4] output\n\ngraph @main {\n  %x = buffer @x : f32\n  sink %x -> @y\n}\n");
  EXPECT_EQ(MakeCases(*module, 0)[0].Title(), "graph @main with @k = 3, @n = 1000000");
  for (uint64_t seed = 1; seed < 100; seed += 2) {
    const interpret::VarValues vars = MakeCases(*module, seed)[0].vars;
    EXPECT_GE(vars.at("n"), 2);
    EXPECT_LT(vars.at("n"), 1000000);
    EXPECT_EQ(vars.at("k"), 3);
  }
  EXPECT_EQ(MakeCases(*module, 5)[0].Title(), MakeCases(*module, 5)[0].Title());
}

TEST(Evaluation, ABoundVariableHasItsValue) {
  const auto module = ParseOrFail(
      "tg 1\nmodule @m\nvar @n : [2, 9]\nbuffer @x : f32[@n] input\nbuffer @y : f32[1] output\n\n"
      "graph @main {\n  %x = buffer @x : f32\n  %n = var @n : index\n  %0 = const 4 : index\n"
      "  %1 = bind %n, %0 : index\n  %2 = reduce_axis %x {op = add, axes = [0]} : f32\n"
      "  sink %2 -> @y, %1\n}\n");
  const EvaluationCase c = MakeCases(*module, 0)[0];
  EXPECT_EQ(c.vars.at("n"), 4);
  EXPECT_EQ(c.inputs.at("x").shape, std::vector<int64_t>{4});
}

TEST(Evaluation, TemporariesDoNotCount) {
  const auto module = ParseOrFail(SumText("mul %x, %x"));
  const interpret::HostBuffers values = Values(*module, MakeCases(*module, 0)[0]);
  EXPECT_EQ(values.count("y"), 1u);
  EXPECT_EQ(values.count("t"), 0u);
}

TEST(Evaluation, ErrorsNameTheCase) {
  const auto module = ParseOrFail(SumText("mul %x, %x"));
  EvaluationCase c = MakeCases(*module, 0)[0];
  c.name = "other";
  EXPECT_EQ(Evaluate(*module, c, false).status().message(), "graph @other: it is gone");
  c.name = "main";
  c.inputs.clear();
  const std::string message(Evaluate(*module, c, false).status().message());
  EXPECT_THAT(message, StartsWith("graph @main: "));
  EXPECT_THAT(message, HasSubstr("@x"));
}

TEST(Evaluation, RoundingIsNoDisagreementOtherValuesAre) {
  const auto module = ParseOrFail(SumText("mul %x, %x"));
  const EvaluationCase c = MakeCases(*module, 0)[0];
  const interpret::HostBuffers expected = Values(*module, c);
  EXPECT_EQ(Disagreement(expected, expected, true, {}), std::nullopt);

  interpret::HostBuffers rounded = expected;
  ++rounded["y"].data[0];  // the next greater float
  EXPECT_EQ(Disagreement(expected, rounded, true, {}), std::nullopt);
  EXPECT_EQ(Disagreement(expected, rounded, false, {}), std::nullopt);

  interpret::HostBuffers wrong = expected;
  const double y = DoubleFromBits(Scalar::kF32, expected.at("y").data[0]);
  wrong["y"].data[0] = BitsFromDouble(Scalar::kF32, y * 1.001);
  EXPECT_THAT(Disagreement(expected, wrong, true, {}).value_or(""), HasSubstr("'y': element [0]"));
  EXPECT_THAT(Disagreement(expected, wrong, false, {}).value_or(""), HasSubstr("'y': element [0]"));
}

TEST(Evaluation, WhatIsExactIsComparedExactly) {
  const auto module = ParseOrFail(
      "tg 1\nmodule @m\nbuffer @x : f32[4] input\nbuffer @y : f32[4] output\n\n"
      "graph @main {\n  %x = buffer @x : f32\n  %0 = neg %x : f32\n  sink %0 -> @y\n}\n");
  const interpret::HostBuffers expected = Values(*module, MakeCases(*module, 0)[0]);
  interpret::HostBuffers rounded = expected;
  ++rounded["y"].data[2];
  EXPECT_THAT(Disagreement(expected, rounded, true, {}).value_or(""),
              HasSubstr("'y': element [2]"));
}

TEST(Evaluation, WritesThatComeOrGoAreDisagreements) {
  const auto module = ParseOrFail(SumText("mul %x, %x"));
  const interpret::HostBuffers expected = Values(*module, MakeCases(*module, 0)[0]);
  EXPECT_EQ(Disagreement(expected, {}, true, {}), "'y' is not written any more");
  interpret::HostBuffers more = expected;
  more["x"] = expected.at("y");
  EXPECT_EQ(Disagreement(expected, more, true, {}), "'x' is written, which it was not before");
}

TEST(Evaluation, KernelsThatNoGraphRunsAreCases) {
  const auto module = ParseOrFail(R"(tg 1
module @m

kernel @double : lowered {
  %0 = define_global {arg = 0} : ptr<f32, 2>
  %1 = const 1 : index
  %2 = index %0, %1 : ptr<f32, 2>
  %3 = define_global {arg = 1} : ptr<f32, 3>
  %4 = index %3, %1 : ptr<f32, 3>
  %5 = load %4 : f32
  %6 = add %5, %5 : f32
  %7 = store %2, %6
  sink %7
}
)");
  const std::vector<EvaluationCase> cases = MakeCases(*module, 0);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].Title(), "kernel @double");
  EXPECT_FALSE(GivesBounds(*module));
  const interpret::HostBuffers values = Values(*module, cases[0]);
  ASSERT_EQ(values.size(), 1u);
  const interpret::HostBuffer& y = values.at("slot 0");
  const interpret::HostBuffer &before = cases[0].inputs.at("0"), &x = cases[0].inputs.at("1");
  EXPECT_EQ(y.data[0], before.data[0]);  // not written
  EXPECT_EQ(DoubleFromBits(Scalar::kF32, y.data[1]), 2 * DoubleFromBits(Scalar::kF32, x.data[1]));
}

// `schedule` names kernels by their axes. Here it gives the first kernel the name that the second
// one had.
TEST(Evaluation, AKernelMayGetAnotherName) {
  const auto text = [](const std::vector<std::pair<std::string, std::string>>& kernels) {
    std::string out = "tg 1\nmodule @m\n";
    for (const auto& [name, op] : kernels) {
      out += "\nkernel @" + name +
             " : kernel {\n  %0 = define_global {arg = 0} : ptr<f32, 4>\n"
             "  %1 = define_global {arg = 1} : ptr<f32, 4>\n  %2 = load %1 : f32\n  %3 = " +
             op + " %2 : f32\n  %4 = store %0, %3\n  sink %4\n}\n";
    }
    return out;
  };
  const auto before = ParseOrFail(text({{"mine", "neg"}, {"E_4", "sin"}}));
  const auto renamed = ParseOrFail(text({{"E_4", "neg"}, {"E_4_2", "sin"}}));
  const auto wrong = ParseOrFail(text({{"E_4", "sin"}, {"E_4_2", "neg"}}));
  for (const EvaluationCase& c : MakeCases(*before, 0)) {
    const interpret::HostBuffers expected = Values(*before, c);
    EXPECT_EQ(Disagreement(expected, Values(*renamed, c), true, {}), std::nullopt);
    EXPECT_NE(Disagreement(expected, Values(*wrong, c), true, {}), std::nullopt);
  }
  // Without the second kernel, the remaining one is found by name.
  EXPECT_EQ(Evaluate(*ParseOrFail(text({{"E_4", "sin"}})), MakeCases(*before, 0)[0], false)
                .status()
                .message(),
            "kernel @mine: it is gone");
}

}  // namespace
}  // namespace tg::driver
