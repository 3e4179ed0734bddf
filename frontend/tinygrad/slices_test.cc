// Imports slices of values whose extents are variables.
#include <string>

#include "frontend/tinygrad/import_testing.h"
#include "gtest/gtest.h"

namespace tg::tinygrad {
namespace {

std::string Number(const std::string& n) {
  return "UOp(Ops.CONST, dtypes.weakint, arg=" + n + ", src=())";
}
std::string Stack(const std::string& sources) { return Op("STACK", "weakint", "None", sources); }
// tinygrad's SHRINK of two axes to extents behind offsets.
std::string Shrink(const std::string& x, const std::string& offsets, const std::string& extents) {
  return Op("SHRINK", "float", "None", x + ", " + Stack(offsets) + ", " + Stack(extents));
}
// The columns of 3 x 10 numbers up to the variable i.
std::string ColumnsToI() {
  const std::string memory =
      "UOp(Ops.PARAM, dtypes.float, arg=ParamArg(0, dtypes.float, device='CL'), src=(" +
      Number("30") + ",))";
  const std::string i =
      "UOp(Ops.PARAM, dtypes.weakint, arg=ParamArg(-1, dtypes.weakint, vmin_vmax=(2, 10), "
      "multiple_of=1, name='i', addrspace=AddrSpace.ALU), src=(UOp(Ops.STACK, dtypes.void, "
      "arg=None, src=()),))";
  const std::string rows =
      Op("RESHAPE", "float", "None", memory + ", " + Stack(Number("3") + ", " + Number("10")));
  return Shrink(rows, Number("0") + ", " + Number("0"), Number("3") + ", " + i);
}
const std::string kOrigin = Number("0") + ", " + Number("0");

// tinygrad moves indices: a slice past the value of a variable reads memory.
TEST(SlicesTest, SlicesPastAVariable) {
  const std::string to_four = Number("3") + ", " + Number("4");
  EXPECT_EQ(Main(Shrink(ColumnsToI(), Number("0") + ", " + Number("1"), to_four)),
            "  %buf0 = buffer @buf0 : f32\n"
            "  %0 = shrink %buf0 {ranges = [(0, 3), (1, 5)]} : f32\n");
  // What is computed element by element is computed for the slice.
  const std::string sum =
      Op("ADD", "float", "None",
         Op("EXP2", "float", "None", ColumnsToI()) + ", " +
             Op("MUL", "float", "None",
                ColumnsToI() + ", UOp(Ops.CONST, dtypes.float, arg=2.0, src=())"));
  EXPECT_EQ(Main(Shrink(sum, kOrigin, to_four)),
            "  %buf0 = buffer @buf0 : f32\n"
            "  %0 = shrink %buf0 {ranges = [(0, 3), (0, 4)]} : f32\n"
            "  %1 = exp2 %0 : f32\n"
            "  %2 = const 2.0 : f32\n"
            "  %3 = mul %0, %2 : f32\n"
            "  %4 = add %1, %3 : f32\n");
  const std::string columns = Op("PERMUTE", "float", "(1, 0)", ColumnsToI());
  EXPECT_EQ(Main(Shrink(columns, kOrigin, Number("4") + ", " + Number("3"))),
            "  %buf0 = buffer @buf0 : f32\n"
            "  %0 = shrink %buf0 {ranges = [(0, 3), (0, 4)]} : f32\n"
            "  %1 = permute %0 {axes = [1, 0]} : f32\n");
  const std::string sums = Op("REDUCE", "float", "(Ops.ADD, 1)", ColumnsToI());
  EXPECT_EQ(Main(Op("SHRINK", "float", "None", sums + ", " + Number("0") + ", " + Number("4"))),
            "  %buf0 = buffer @buf0 : f32\n"
            "  %0 = shrink %buf0 {ranges = [(0, 3), (0, 4)]} : f32\n"
            "  %1 = reduce_axis %0 {op = add, axes = [0]} : f32\n"
            "  %2 = reshape %1 {shape = [4]} : f32\n");
}

// A slice that ends inside for all values of the variable remains one of the computed value, and
// one that memory does not hold is left to the run's comparison of extents.
TEST(SlicesTest, SlicesInsideAVariable) {
  const std::string computed = Op("EXP2", "float", "None", ColumnsToI());
  for (const std::string end : {"2", "11"}) {
    EXPECT_EQ(Main(Shrink(computed, kOrigin, Number("3") + ", " + Number(end))),
              "  %buf0 = buffer @buf0 : f32\n"
              "  %0 = var @i : index\n"
              "  %1 = shrink %buf0 {ranges = [(0, 3), (0, %0)]} : f32\n"
              "  %2 = exp2 %1 : f32\n"
              "  %3 = shrink %2 {ranges = [(0, 3), (0, " +
                  end + ")]} : f32\n");
  }
}

}  // namespace
}  // namespace tg::tinygrad
