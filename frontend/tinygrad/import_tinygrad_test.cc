// Imports texts as modules: the translation of each kind of op, and the refused inputs.
#include <string>

#include "frontend/tinygrad/import_testing.h"
#include "gtest/gtest.h"

namespace tg::tinygrad {
namespace {

std::string Device() { return "UOp(Ops.DEVICE, dtypes.void, arg='GPU', src=())"; }
std::string Buffer(int number, const std::string& type, int size) {
  return "UOp(Ops.BUFFER, dtypes." + type + ", arg=" + std::to_string(size) +
         ", src=(UOp(Ops.UNIQUE, dtypes.void, arg=" + std::to_string(number) + ", src=()), " +
         Device() + "))";
}
std::string Const(const std::string& type, const std::string& value) {
  return "UOp(Ops.CONST, dtypes." + type + ", arg=" + value +
         ", src=(UOp(Ops.VIEW, dtypes.void, arg=ShapeTracker(views=(View(shape=(), strides=(), "
         "offset=0, mask=None, contiguous=True),)), src=(" +
         Device() + ",)),))";
}

TEST(ImportTest, BuffersAreDeclaredByUse) {
  EXPECT_EQ(Import(Op("SINK", "void", "None",
                      Op("ADD", "float", "None",
                         Op("RESHAPE", "float", "(2, 3)", Buffer(7, "float", 6)) + ", " +
                             Op("RESHAPE", "float", "(2, 3)", Buffer(3, "float", 6))))),
            R"(tg 1
module @t {flags = ["inf-ratio"]}
buffer @buf0 : f32[2, 3] input
buffer @buf1 : f32[2, 3] input
buffer @out0 : f32[2, 3] output

graph @main {
  %buf0 = buffer @buf0 : f32
  %buf1 = buffer @buf1 : f32
  %0 = add %buf0, %buf1 : f32
  sink %0 -> @out0
}
)");
}

// Two uses with different shapes leave the buffer flat.
TEST(ImportTest, BuffersOfTwoShapesAreFlat) {
  const std::string text = Import(Op("SINK", "void", "None",
                                     Op("RESHAPE", "float", "(2, 3)", Buffer(7, "float", 6)) +
                                         ", " + Op("NEG", "float", "None", Buffer(7, "float", 6))));
  EXPECT_NE(text.find("buffer @buf0 : f32[6] input"), std::string::npos) << text;
}

TEST(ImportTest, IntegerDivisionTruncates) {
  const std::string a = Buffer(0, "int", 4), b = Buffer(1, "int", 4);
  EXPECT_EQ(Main(Op("IDIV", "int", "None", a + ", " + Op("MOD", "int", "None", a + ", " + b))),
            R"(  %buf0 = buffer @buf0 : i32
  %buf1 = buffer @buf1 : i32
  %0 = cmod %buf0, %buf1 : i32
  %1 = cdiv %buf0, %0 : i32
)");
}

TEST(ImportTest, ConstantsTakeTheirType) {
  EXPECT_EQ(Main(Const("uchar", "-1")), "  %0 = const 255 : u8\n");
  EXPECT_EQ(Main(Const("ulong", "18446744073709551615")),
            "  %0 = const 18446744073709551615 : u64\n");
  EXPECT_EQ(Main(Const("float", "1")), "  %0 = const 1.0 : f32\n");
  EXPECT_EQ(Main(Const("half", "1e-30")), "  %0 = const 0.0 : f16\n");
  EXPECT_EQ(Main(Const("float", "-0.0")), "  %0 = const -0.0 : f32\n");
  EXPECT_EQ(Main(Const("bool", "True")), "  %0 = const true : bool\n");
  EXPECT_EQ(Main(Const("double", "0.1")), "  %0 = const 0.1 : f64\n");
}

TEST(ImportTest, Movement) {
  const std::string x = Op("RESHAPE", "float", "(2, 3)", Buffer(0, "float", 6));
  const auto line = [&](const std::string& op, const std::string& arg) {
    const std::string main = Main(Op(op, "float", arg, x));
    return main.substr(main.find('\n') + 1);
  };
  EXPECT_EQ(line("PERMUTE", "(1, 0)"), "  %0 = permute %buf0 {axes = [1, 0]} : f32\n");
  EXPECT_EQ(line("FLIP", "(False, True)"), "  %0 = flip %buf0 {axes = [1]} : f32\n");
  EXPECT_EQ(line("PAD", "((0, 1), (2, 0))"),
            "  %0 = pad %buf0 {widths = [(0, 1), (2, 0)]} : f32\n");
  EXPECT_EQ(line("SHRINK", "((0, 1), (1, 3))"),
            "  %0 = shrink %buf0 {ranges = [(0, 1), (1, 3)]} : f32\n");
  EXPECT_EQ(line("REDUCE_AXIS", "(Ops.MAX, (1,))"),
            "  %0 = reduce_axis %buf0 {op = max, axes = [1]} : f32\n");
  EXPECT_EQ(line("VIEW",
                 "ShapeTracker(views=(View(shape=(3, 2), strides=(1, 3), offset=0, "
                 "mask=((0, 3), (0, 1)), contiguous=False),))"),
            "  %0 = view %buf0 {views = [view(shape = [3, 2], strides = [1, 3], offset = 0, mask = "
            "[(0, 3), (0, 1)])]} : f32\n");
}

TEST(ImportTest, AssignMakesState) {
  const std::string text = Import(
      Op("SINK", "void", "None",
         Op("ASSIGN", "float", "None",
            Buffer(0, "float", 4) + ", " +
                Op("ADD", "float", "None", Buffer(0, "float", 4) + ", " + Buffer(1, "float", 4)))));
  EXPECT_NE(text.find("buffer @buf0 : f32[4] state"), std::string::npos) << text;
  EXPECT_NE(text.find("%1 = assign %buf0, %0 : f32\n  sink %1\n"), std::string::npos) << text;
}

TEST(ImportTest, DirectivesGiveNames) {
  const std::string text =
      "# tg: module net\n# tg: param fc.weight = 0 [2, 2] file(\"net.safetensors\", "
      "\"fc.weight\")\n# tg: input x = 1 [4]\n# tg: output y = 0 [4]\n" +
      Op("SINK", "void", "None",
         Op("ADD", "float", "None", Buffer(0, "float", 4) + ", " + Buffer(1, "float", 4)));
  EXPECT_EQ(Import(text), R"(tg 1
module @net {flags = ["inf-ratio"]}
buffer @fc.weight : f32[2, 2] param = file("net.safetensors", "fc.weight")
buffer @x : f32[4] input
buffer @y : f32[4] output

graph @main {
  %fc.weight = buffer @fc.weight : f32
  %0 = reshape %fc.weight {shape = [4]} : f32
  %x = buffer @x : f32
  %1 = add %0, %x : f32
  sink %1 -> @y
}
)");
}

TEST(ImportTest, Variables) {
  const std::string view =
      "ShapeTracker(views=(View(shape=(), strides=(), offset=0, mask=None, contiguous=True),))";
  const std::string var =
      "UOp(Ops.BIND, dtypes.int, arg=None, src=(\n"
      "  UOp(Ops.DEFINE_VAR, dtypes.int, arg=('i', 1, 10), src=(UOp(Ops.VIEW, "
      "dtypes.void, arg=" +
      view + ", src=(" + Device() +
      ",)),)),\n"
      "  UOp(Ops.CONST, dtypes.int, arg=3, src=()),))";
  const std::string text =
      Import(Op("SHRINK", "float", "((0, " + var + "),)", Buffer(0, "float", 10)));
  EXPECT_EQ(text, R"(tg 1
module @t {flags = ["inf-ratio"]}
var @i : [1, 10]
buffer @buf0 : f32[10] input
buffer @out0 : f32[@i] output

graph @main {
  %buf0 = buffer @buf0 : f32
  %0 = var @i : index
  %1 = shrink %buf0 {ranges = [(0, %0)]} : f32
  sink %1 -> @out0
}
)");
}

// The first element holds the lowest bits.
TEST(ImportTest, BitcastToAnotherSize) {
  EXPECT_EQ(Import(Op("BITCAST", "float", "None", Buffer(0, "ushort", 6))), R"(tg 1
module @t {flags = ["inf-ratio"]}
buffer @buf0 : u16[6] input
buffer @out0 : f32[3] output

graph @main {
  %buf0 = buffer @buf0 : u16
  %0 = reshape %buf0 {shape = [3, 2]} : u16
  %1 = shrink %0 {ranges = [(0, 3), (0, 1)]} : u16
  %2 = cast %1 : u32
  %3 = shrink %0 {ranges = [(0, 3), (1, 2)]} : u16
  %4 = cast %3 : u32
  %5 = const 16 : u32
  %6 = shl %4, %5 : u32
  %7 = or %2, %6 : u32
  %8 = reshape %7 {shape = [3]} : u32
  %9 = bitcast %8 : f32
  sink %9 -> @out0
}
)");
  EXPECT_EQ(Import(Op("BITCAST", "uchar", "None", Buffer(0, "half", 3))), R"(tg 1
module @t {flags = ["inf-ratio"]}
buffer @buf0 : f16[3] input
buffer @out0 : u8[6] output

graph @main {
  %buf0 = buffer @buf0 : f16
  %0 = bitcast %buf0 : u16
  %1 = reshape %0 {shape = [3, 1]} : u16
  %2 = cast %1 : u8
  %3 = pad %2 {widths = [(0, 0), (0, 1)]} : u8
  %4 = const 8 : u16
  %5 = shr %1, %4 : u16
  %6 = cast %5 : u8
  %7 = pad %6 {widths = [(0, 0), (1, 0)]} : u8
  %8 = or %3, %7 : u8
  %9 = reshape %8 {shape = [6]} : u8
  sink %9 -> @out0
}
)");
}

TEST(ImportTest, StatesMayHaveContents) {
  const std::string text =
      Import("# tg: state s = 3 [2, 2] file(\"m.safetensors\", \"w.s\")\n" +
             Op("ASSIGN", "float", "None", Buffer(3, "float", 4) + ", " + Buffer(4, "float", 4)));
  EXPECT_NE(text.find("buffer @s : f32[2, 2] state = file(\"m.safetensors\", \"w.s\")\n"),
            std::string::npos)
      << text;
}

// v0.14.0 prints no CAST below functions of floats.
TEST(ImportTest, FunctionsOfIntegersConvert) {
  EXPECT_EQ(Main(Op("RECIPROCAL", "half", "None", Buffer(0, "int", 5))),
            "  %buf0 = buffer @buf0 : i32\n"
            "  %0 = cast %buf0 : f16\n"
            "  %1 = recip %0 : f16\n");
  // Weak operands are computed as integers; a constant takes the function's type.
  const std::string quotient =
      Op("FLOORDIV", "weakint", "None",
         Op("BIND", "weakint", "None",
            "UOp(Ops.DEFINE_VAR, dtypes.weakint, arg=('i', 0, 9), src=())") +
             ", UOp(Ops.CONST, dtypes.weakint, arg=2, src=())");
  EXPECT_EQ(
      Main(Op("MUL", "float", "None",
              Op("SQRT", "float", "None", quotient) + ", " +
                  Op("SQRT", "float", "None", "UOp(Ops.CONST, dtypes.weakint, arg=2, src=())"))),
      "  %0 = var @i : index\n"
      "  %1 = const 2 : index\n"
      "  %2 = floordiv %0, %1 : index\n"
      "  %3 = cast %2 : f32\n"
      "  %4 = sqrt %3 : f32\n"
      "  %5 = const 2.0 : f32\n"
      "  %6 = sqrt %5 : f32\n"
      "  %7 = mul %4, %6 : f32\n");
}

TEST(ImportTest, PowersOfIntegersAreProducts) {
  const std::string x = Buffer(0, "int", 5);
  const auto power = [&](const std::string& n) {
    return Op("POW", "int", "None", x + ", UOp(Ops.CONST, dtypes.int, arg=" + n + ", src=())");
  };
  EXPECT_EQ(Main(power("5")),
            "  %buf0 = buffer @buf0 : i32\n"
            "  %0 = mul %buf0, %buf0 : i32\n"
            "  %1 = mul %0, %0 : i32\n"
            "  %2 = mul %buf0, %1 : i32\n");
  EXPECT_EQ(Main(power("0")),
            "  %0 = const 1 : i32\n"
            "  %1 = reshape %0 {shape = [1]} : i32\n"
            "  %2 = expand %1 {shape = [5]} : i32\n");
  EXPECT_NE(Import(Op("POW", "int", "None", x + ", " + x)).find("error: POW: of integers"),
            std::string::npos);
}

// The other elements of a row that a one-hot row selects from may be infinite.
TEST(ImportTest, SumsTakeNothingOfWhatIsTimesZero) {
  const std::string text =
      Import(Op("REDUCE_AXIS", "float", "(Ops.ADD, (0,))", Buffer(0, "float", 5)));
  EXPECT_NE(text.find("flags = [\"zero-mul\", \"inf-ratio\"]"), std::string::npos) << text;
}

// Products of halves that are summed in f32 need not be rounded; others are.
TEST(ImportTest, ProductsOfHalves) {
  const std::string x = Buffer(0, "half", 5), product = Op("MUL", "half", "None", x + ", " + x);
  const std::string sum =
      Op("REDUCE_AXIS", "float", "(Ops.ADD, (0,))", Op("CAST", "float", "None", product));
  EXPECT_NE(Import(sum).find("\"wide-products\""), std::string::npos) << Import(sum);
  EXPECT_EQ(Import(product).find("\"wide-products\""), std::string::npos);
}

// `after` takes a buffer: the `after` of a view becomes that view of the buffer.
TEST(ImportTest, AfterOfAView) {
  const std::string buffer =
      "UOp(Ops.PARAM, dtypes.float, arg=ParamArg(0, dtypes.float, device='CL'), "
      "src=(UOp(Ops.CONST, "
      "dtypes.weakint, arg=6, src=()),))";
  const std::string rows = Op("RESHAPE", "float", "(2, 3)", buffer);
  const std::string row = Op("SHRINK", "float", "((1, 2), (0, 3))", rows);
  const std::string write =
      Op("AFTER", "float", "None",
         row + ", " + Op("STORE", "void", "None", row + ", " + Op("NEG", "float", "None", row)));
  const std::string columns = Op("PERMUTE", "float", "(1, 0)", rows);
  EXPECT_EQ(Main(Op("NEG", "float", "None", Op("AFTER", "float", "None", columns + ", " + write))),
            "  %buf0 = buffer @buf0 : f32\n"
            "  %0 = shrink %buf0 {ranges = [(1, 2), (0, 3)]} : f32\n"
            "  %1 = neg %0 : f32\n"
            "  %2 = assign %0, %1 : f32\n"
            "  %3 = after %buf0, %2 : f32\n"
            "  %4 = permute %3 {axes = [1, 0]} : f32\n"
            "  %5 = neg %4 : f32\n");
}

TEST(ImportTest, InputsMayBeUnread) {
  const std::string text = Import("# tg: input z = none [2, 3] dtypes.half\n" +
                                  Op("NEG", "float", "None", Buffer(4, "float", 4)));
  EXPECT_NE(text.find("buffer @z : f16[2, 3] input\n"), std::string::npos) << text;
}

TEST(ImportTest, Errors) {
  const auto starts = [](const std::string& text, const std::string& message) {
    const std::string result = Import(text);
    EXPECT_EQ(result.substr(0, result.find('\n')), message);
  };
  starts("UOp(Ops.ADDD, dtypes.float, arg=None, src=())",
         "t.repr:1:1: error: unknown op 'ADDD'; did you mean 'ADD'?");
  starts("UOp(Ops.ADD, dtypes.floaty, arg=None, src=())",
         "t.repr:1:14: error: unknown type 'dtypes.floaty'");
  starts(Op("NEG", "float", "None", Device()),
         "t.repr:1:1: error: NEG: source 0, a DEVICE, has no value");
  starts(Op("ADD", "float", "None", Const("float", "1.0")),
         "t.repr:1:1: error: ADD: it has 1 sources, not 2");
  starts(Op("RESHAPE", "float", "(2, 3)", Buffer(0, "float", 5)),
         "t.repr:1:1: error: RESHAPE: [5] and [2, 3] have different numbers of elements");
  starts(Op("RESHAPE", "float", "None", Buffer(0, "float", 5)),
         "t.repr:1:1: error: RESHAPE: expected a tuple of extents");
  starts(Op("BITCAST", "double", "None", Buffer(0, "float", 5)),
         "t.repr:1:1: error: BITCAST: from f32 to f64: the last axis does not divide by 2");
  starts(Op("BITCAST", "void", "None", Buffer(0, "float", 5)),
         "t.repr:1:1: error: BITCAST: from f32 to void");
  starts(Op("BITCAST", "void.ptr(4)", "None", Buffer(0, "float", 5)),
         "t.repr:1:1: error: BITCAST: from f32 to ptr<void, 4>");
  starts(Op("NEG", "float.ptr(-2)", "None", Buffer(0, "float", 5)),
         "t.repr:1:14: error: unknown type 'dtypes.float.ptr'");
  starts(Op("ADD", "bool", "None", Const("bool", "Invalid") + ", " + Const("bool", "True")),
         "t.repr:1:1: error: ADD: an output that is Invalid everywhere");
  starts("# tg: param w = 4 [3] file(\"a\", \"b\")\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: there is no buffer with number 4");
  starts("# tg: input w = 0 [3]\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: buffer 0 has 5 elements");
  starts("# tg: input w = 0 [5] file(\"a\", \"b\")\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: unexpected text behind the directive");
  starts("# tg: input w = none [3]\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: expected a type, as dtypes.float");
  starts("# tg: param w = none [3] dtypes.float\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: expected '= NUMBER' behind the name");
  starts("# tg: inputs w = 0 [3]\n" + Buffer(0, "float", 5),
         "t.repr:1:2: error: directive: expected module, input, param, state or output, found "
         "'inputs'");
}

TEST(ImportTest, RecognisesTheFormat) {
  EXPECT_TRUE(IsTinygradText("UOp(Ops.ADD"));
  EXPECT_TRUE(IsTinygradText("# a comment\n\n  [UOp(Ops.ADD"));
  EXPECT_TRUE(IsTinygradText("x0:=UOp(Ops.ADD"));
  EXPECT_FALSE(IsTinygradText("tg 1\nmodule @m\n"));
  EXPECT_FALSE(IsTinygradText("// UOp(\ntg 1\n"));
  EXPECT_FALSE(IsTinygradText(""));
  EXPECT_FALSE(IsTinygradText("# only a comment"));
}

}  // namespace
}  // namespace tg::tinygrad
