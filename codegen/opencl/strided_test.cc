// Strided accesses, compiled for the device and compared with the interpreter: every supported
// type, both directions, under a gate with an alternative.
#include "codegen/opencl/testing/check_kernel.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"

namespace tg::opencl {
namespace {

// Work-item g moves column g of x to column g of y, from the bottom up. Columns from 5 on are
// outside x, so they get the alternative of a gated load.
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
      interpret::RandomDataOptions options;
      options.seed = static_cast<uint64_t>(lanes);
      const std::vector<interpret::HostBuffer> buffers = {
          interpret::UndefinedBuffer(t, {8 * lanes}),
          interpret::RandomBuffer(t, {8 * lanes}, options)};
      EXPECT_EQ(CheckOnDevice(*module, buffers, {}, {}, -1), "") << type << " x " << lanes;
    }
  }
}

// Rows of x, from the last to the first with `gap` elements between them, become columns of a tile;
// the tile's columns become rows of y again.
std::string ThereAndBack(const std::string& type, int rows, int columns, int gap) {
  const int from = columns + gap, to = rows + gap;
  const std::string n = std::to_string(rows * from), last = std::to_string((rows - 1) * from);
  const std::string memory = "ptr<" + type + ", " + n + ">";
  const std::string tile = "ptr<" + type + ", " + std::to_string(columns * to) + ", private>";
  const auto copy = [&](const char* name, const char* target, const char* source, int r, int c,
                        int t, int f) {
    return std::string(name) + " = copy_transposed " + target + ", " + source +
           " {rows = " + std::to_string(r) + ", columns = " + std::to_string(c) +
           ", to = " + std::to_string(t) + ", from = " + std::to_string(f) + "}\n";
  };
  return "tg 1\nmodule @m\nkernel @k : expanded {\n%y = define_global {arg = 0} : " + memory +
         "\n%x = define_global {arg = 1} : " + memory + "\n%m = scratch {id = 0} : " + tile +
         "\n%c0 = const 0 : i32\n%last = const " + last +
         " : i32\n%px = index %x, %last : " + memory + "\n%pm = index %m, %c0 : " + tile + "\n" +
         copy("%a", "%pm", "%px", rows, columns, to, -from) + "%m1 = after %m, %a : " + tile +
         "\n%qm = index %m1, %c0 : " + tile + "\n%py = index %y, %c0 : " + memory + "\n" +
         copy("%b", "%py", "%qm", columns, rows, from, to) + "sink %b\n}\n";
}

TEST(Strided, CopiesTransposed) {
  if (!HaveDevice()) GTEST_SKIP() << "no OpenCL device of that kind";
  constexpr int kSizes[][2] = {{16, 16}, {32, 16}, {16, 48}, {8, 24}, {4, 4},
                               {4, 20},  {5, 7},   {2, 16},  {1, 3}};
  for (const char* type : {"f32", "i32", "i64", "f64"}) {
    for (const auto& [rows, columns] : kSizes) {
      Diagnostics diagnostics;
      const auto module = ParseModule(ThereAndBack(type, rows, columns, 3), "t.uop", diagnostics);
      ASSERT_TRUE(module) << diagnostics.ToString();
      const DType t(*ScalarFromName(type));
      const int64_t n = int64_t{rows} * (columns + 3);
      EXPECT_EQ(
          CheckOnDevice(*module,
                        {interpret::UndefinedBuffer(t, {n}), interpret::RandomBuffer(t, {n}, {})},
                        {}, {}, -1),
          "")
          << type << ", " << rows << " x " << columns;
    }
  }
}

}  // namespace
}  // namespace tg::opencl
