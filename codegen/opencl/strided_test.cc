// Accesses of elements that are equally far apart, compiled for the device and compared with the
// interpreter: every type that has them, both directions, under a gate with an alternative.
#include "codegen/opencl/testing/check.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"

namespace tg {
namespace {

// Work-item g moves column g of x to column g of y, from the bottom up; columns from 5 on are not
// there, and are written as what a gated load gives instead.
std::string Columns(const std::string& type, int lanes) {
  const std::string n = std::to_string(8 * lanes), vector = type + "x" + std::to_string(lanes);
  std::string alternative = "%alt = vconst {values = [";
  for (int i = 0; i < lanes; ++i) {
    alternative += (i ? ", " : "") + std::to_string(i + 1) + (type[0] == 'f' ? ".5" : "");
  }
  return "tg 1\nmodule @m\nkernel @k : expanded {\n"
         "%y = define_global {arg = 0} : ptr<" +
         type + ", " + n +
         ">\n"
         "%x = define_global {arg = 1} : ptr<" +
         type + ", " + n +
         ">\n"
         "%c8 = const 8 : i32\n%g = special %c8 {name = grid0} : i32\n"
         "%c5 = const 5 : i32\n%holds = cmplt %g, %c5 : bool\n" +
         alternative + "]} : " + vector +
         "\n"
         "%xi = index %x, %g, %holds : ptr<" +
         type + ", " + n +
         ">\n"
         "%v = load %xi, %alt {stride = 8} : " +
         vector +
         "\n"
         "%last = const " +
         std::to_string(8 * (lanes - 1)) +
         " : i32\n"
         "%j = add %g, %last : i32\n"
         "%yj = index %y, %j : ptr<" +
         type + ", " + n +
         ">\n"
         "%s = store %yj, %v {stride = -8}\nsink %s\n}\n";
}

TEST(Strided, Columns) {
  if (!HaveDevice()) GTEST_SKIP() << "no OpenCL device of that kind";
  for (const char* type : {"f32", "i32", "u32", "i64", "f64"}) {
    for (int lanes : {2, 8, 16}) {
      Diagnostics diagnostics;
      const auto module = ParseModule(Columns(type, lanes), "test.uop", diagnostics);
      ASSERT_TRUE(module) << diagnostics.ToString();
      const DType t(*ScalarFromName(type));
      RandomDataOptions options;
      options.seed = static_cast<uint64_t>(lanes);
      const std::vector<HostBuffer> buffers = {UndefinedBuffer(t, {8 * lanes}),
                                               RandomBuffer(t, {8 * lanes}, options)};
      EXPECT_EQ(CheckOnDevice(*module, buffers, {}, {}, -1), "") << type << " x " << lanes;
    }
  }
}

}  // namespace
}  // namespace tg
