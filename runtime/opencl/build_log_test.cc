#include "runtime/opencl/build_log.h"

#include "base/status.h"
#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

constexpr std::string_view kSource =
    "__kernel void first(__global float* x) { x[0] = 1; }\n"
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "void second(__global float* x) {\n"
    "  x[0] = y;\n"
    "}\n";

TEST(BuildLog, QuotesTheLineOfTheFirstError) {
  const std::string log =
      "<kernel>:1:10: warning: odd\n<kernel>:4:10: error: use of undeclared identifier 'y'";
  EXPECT_EQ(DescribeBuildLog(log, kSource),
            Cat("kernel @second: line 4, column 10: use of undeclared identifier 'y'\n"
                "      x[0] = y;\n"
                "             ^\n"
                "compiler's log:\n",
                log));
}

TEST(BuildLog, UnderstandsPocl) {
  const std::string log = "error: /some/where/tempfile_a:1:b.cl:1:42: no such thing";
  EXPECT_EQ(
      DescribeBuildLog(log, kSource).find("kernel @first: line 1, column 42: no such thing\n"), 0u);
}

TEST(BuildLog, WithoutAPlaceTheLogIsAll) {
  for (const std::string_view log :
       {"", "error", "out of registers: error", "x:99:1: error: past the end", "x:1:b: error",
        "x:0:1: error", ":::error:::", "1:2:3 error", "x:99999999999999999999:1: error: a"}) {
    EXPECT_EQ(DescribeBuildLog(log, kSource), Cat("one of the kernels @first, @second: ", log));
  }
  std::string many;
  for (int i = 0; i < 7; ++i) many += Cat("__kernel void k", i, "(__global int* x) {}\n");
  EXPECT_EQ(DescribeBuildLog("error", many),
            "one of the kernels @k0, @k1, @k2, @k3, @k4 and 2 more: error");
  EXPECT_EQ(DescribeBuildLog("error", "__kernel void only(__global int* x) {}\n"),
            "kernel @only: error");
  EXPECT_EQ(DescribeBuildLog("error", ""), "error");
}

// Functions that kernels call, directly and through another one, precede them or are between them.
TEST(BuildLog, AnErrorInAFunctionNamesAKernelThatCallsIt) {
  constexpr std::string_view source =
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "typedef struct { int a; } pair;\n"
      "static inline half2 of(uint x) {\n"
      "  union { uint from; half2 to; } bits;\n"
      "  return bits.to;\n"
      "}\n"
      "static inline half4 of_two(uint2 x) { return (half4)(of(x.s0), of(x.s1)); }\n"
      "static inline int unused(int x) { return x; }\n"
      "// of, of_two\n"
      "__kernel void plain(__global int* of_twos) { of_twos[0] = 1; }\n"
      "static __attribute__((noinline)) int outlined(int x) {\n"
      "  return y;\n"
      "}\n"
      "// max\n"
      "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
      "void second(__global int* x) {\n"
      "  if (x[0] > 1) { x[0] = outlined(of_two(x)); }\n"
      "}\n";
  const auto first_line = [&](std::string_view log) {
    const std::string text = DescribeBuildLog(log, source);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line("a.cl:3:15: error: unknown type name 'half2'"),
            "kernel @second, in of: line 3, column 15: unknown type name 'half2'");
  EXPECT_EQ(first_line("a.cl:7:15: error: e"), "kernel @second, in of_two: line 7, column 15: e");
  EXPECT_EQ(first_line("a.cl:12:10: error: e"),
            "kernel @second, in outlined: line 12, column 10: e");
  EXPECT_EQ(first_line("a.cl:10:40: error: e"), "kernel @plain: line 10, column 40: e");
  EXPECT_EQ(first_line("a.cl:17:5: error: e"), "kernel @second: line 17, column 5: e");
  EXPECT_EQ(first_line("a.cl:8:40: error: e"), "line 8, column 40: e");
}

TEST(BuildLog, AColumnBehindTheLineHasNoCaret) {
  EXPECT_EQ(DescribeBuildLog("x:5:7: error: end", kSource),
            "kernel @second: line 5, column 7: end\n    }\ncompiler's log:\nx:5:7: error: end");
  EXPECT_EQ(DescribeBuildLog("x:1:1: error: e", ""),
            "line 1, column 1: e\n    \n    ^\ncompiler's log:\nx:1:1: error: e");
}

TEST(BuildLog, ALongLogIsCut) {
  const std::string text = DescribeBuildLog(std::string(5000, 'e'), kSource);
  EXPECT_EQ(text, "one of the kernels @first, @second: " + std::string(4000, 'e') +
                      "\n... (1000 more characters)");
}

}  // namespace
}  // namespace tg::runtime
