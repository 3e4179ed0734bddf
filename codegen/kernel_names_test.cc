#include "codegen/kernel_names.h"

#include "gtest/gtest.h"
#include "passes/analysis/kernel_axes.h"

namespace tg::codegen {
namespace {

std::string Strip(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\x1b') {
      i = s.find('m', i);
    } else {
      out += s[i];
    }
  }
  return out;
}

Kernel Make(std::vector<Axis> axes) {
  Kernel k;
  k.axes = std::move(axes);
  k.name = analysis::KernelName(k.axes);
  return k;
}

TEST(Names, SaysWhetherAKernelReduces) {
  EXPECT_EQ(Make({{"i0", 4, AxisKind::kGlobal}, {"i1", 8, AxisKind::kLocal}}).name, "E_4_8");
  EXPECT_EQ(Make({{"i0", 4, AxisKind::kLocal}, {"r0", 8, AxisKind::kReduce}}).name, "r_4_8");
  EXPECT_EQ(Make({{"g", 16, AxisKind::kGroup}}).name, "r_16");
  EXPECT_EQ(Make({{"u", 3, AxisKind::kUnroll}}).name, "r_3");
  EXPECT_EQ(Make({}).name, "E_1");
  EXPECT_EQ(ColoredName(Make({})), "E_1");
}

TEST(Names, ColoursEachSizeByItsKind) {
  const Kernel k = Make({{"a", 1, AxisKind::kGlobal},
                         {"b", 2, AxisKind::kLocal},
                         {"c", 3, AxisKind::kGroup},
                         {"d", 4, AxisKind::kReduce},
                         {"e", 5, AxisKind::kUnroll},
                         {"f", 6, AxisKind::kUpcast},
                         {"g", 7, AxisKind::kVector}});
  EXPECT_EQ(
      ColoredName(k),
      "r_\x1b[94m1\x1b[0m_\x1b[96m2\x1b[0m_\x1b[92m3\x1b[0m_\x1b[91m4\x1b[0m_\x1b[95m5\x1b[0m_"
      "\x1b[93m6\x1b[0m_\x1b[93m7\x1b[0m");
}

TEST(Names, KeepsSuffixesAndOtherNames) {
  Kernel k = Make({{"a", 4, AxisKind::kGlobal}, {"b", 8, AxisKind::kReduce}});
  k.name = "r_4_8n2";
  EXPECT_EQ(Strip(ColoredName(k)), "r_4_8n2");
  EXPECT_NE(ColoredName(k), k.name);
  k.name = "r_4_80";  // sizes of another kernel
  EXPECT_EQ(ColoredName(k), "r_4_80");
  k.name = "softmax";
  EXPECT_EQ(ColoredName(k), "softmax");
}

}  // namespace
}  // namespace tg::codegen
