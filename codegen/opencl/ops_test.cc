// Every op of the spelling table, on every type and vector width that it takes, compiled for the
// device and compared with the interpreter on random and special values.
#include "codegen/opencl/testing/check_kernel.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "codegen/testing/op_cases.h"
#include "gtest/gtest.h"

namespace tg::opencl {
namespace {

class Ops : public testing::TestWithParam<std::tuple<Scalar, int>> {
 protected:
  void SetUp() override {
    if (!HaveDevice()) GTEST_SKIP() << "no OpenCL device of that kind";
  }
};

TEST_P(Ops, GiveWhatTheInterpreterGives) {
  for (codegen::OpCase& c :
       codegen::MakeOpCases(std::get<0>(GetParam()), std::get<1>(GetParam()))) {
    const BothResults r = RunBothWays(*c.module, c.buffers);
    ASSERT_EQ(r.error, "");
    for (const auto& [slot, what, tolerance] : c.outputs) {
      const auto at = static_cast<size_t>(slot);
      const auto d = interpret::Difference(r.expected[at], r.actual[at], tolerance);
      EXPECT_FALSE(d) << what << ": " << *d << "\n" << r.source;
    }
  }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Scalar, int>>& info) {
  return DType(std::get<0>(info.param), std::get<1>(info.param)).ToString();
}
INSTANTIATE_TEST_SUITE_P(Types, Ops,
                         testing::Combine(testing::ValuesIn(codegen::kOpScalars),
                                          testing::ValuesIn(codegen::kOpLanes)),
                         NameOf);

}  // namespace
}  // namespace tg::opencl
