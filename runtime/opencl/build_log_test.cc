#include "runtime/opencl/build_log.h"

#include "gtest/gtest.h"
#include "runtime/base/status.h"

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
    EXPECT_EQ(DescribeBuildLog(log, kSource), log);
  }
}

TEST(BuildLog, AColumnBehindTheLineHasNoCaret) {
  EXPECT_EQ(DescribeBuildLog("x:5:7: error: end", kSource),
            "kernel @second: line 5, column 7: end\n    }\ncompiler's log:\nx:5:7: error: end");
  EXPECT_EQ(DescribeBuildLog("x:1:1: error: e", ""),
            "line 1, column 1: e\n    \n    ^\ncompiler's log:\nx:1:1: error: e");
}

TEST(BuildLog, ALongLogIsCut) {
  const std::string text = DescribeBuildLog(std::string(5000, 'e'), kSource);
  EXPECT_EQ(text, std::string(4000, 'e') + "\n... (1000 more characters)");
}

}  // namespace
}  // namespace tg::runtime
