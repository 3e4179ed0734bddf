// Imports of kernels with explicit loops and addresses, from both versions.
#include <string>

#include "frontend/tinygrad/import_testing.h"
#include "gtest/gtest.h"

namespace tg::tinygrad {
namespace {

// SINK(STORE(INDEX(data0, i), value)) of a lowered kernel in the notation of v0.10.3. `i` is gidx0
// of size 8.
std::string Lowered(const std::string& value) {
  return Op("SINK", "void", "KernelInfo(name='k', local_dims=0)",
            Op("STORE", "void", "None",
               "UOp(Ops.INDEX, dtypes.int.ptr(8), arg=None, src=(UOp(Ops.DEFINE_GLOBAL, "
               "dtypes.int.ptr(8), arg=0, src=()), UOp(Ops.SPECIAL, dtypes.int, arg=('gidx0', 8), "
               "src=()),)), " +
                   value));
}
// The lines of @k between the definition of i and the store.
std::string KernelLines(const std::string& value) {
  const std::string text = Import(Lowered(value));
  const std::string from = "{name = grid0} : index\n";
  const size_t begin = text.find(from, text.find("kernel @k :")), end = text.find("= store");
  if (begin == std::string::npos || end == std::string::npos) return text;
  return text.substr(begin + from.size(), text.rfind('\n', end) + 1 - begin - from.size());
}
std::string I() { return "UOp(Ops.SPECIAL, dtypes.int, arg=('gidx0', 8), src=())"; }
std::string Int(const std::string& value) {
  return "UOp(Ops.CONST, dtypes.int, arg=" + value + ", src=())";
}

// An expression of coordinates is `int` as a value, and `index` in an address.
TEST(LoweredImportTest, CoordinatesAreIndexInAddressesOnly) {
  EXPECT_EQ(KernelLines(Op("MUL", "int", "None", I() + ", " + Int("3"))),
            R"(  %3 = index %0, %2 : ptr<i32, 8>
  %4 = cast %2 : i32
  %5 = const 3 : i32
  %6 = mul %4, %5 : i32
)");
  const std::string address =
      "UOp(Ops.INDEX, dtypes.int.ptr(64), arg=None, src=("
      "UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(64), arg=1, src=()), " +
      Op("AND", "int", "None", Op("SHL", "int", "None", I() + ", " + Int("2")) + ", " + Int("15")) +
      ",))";
  EXPECT_EQ(KernelLines(Op("LOAD", "int", "None", address)),
            R"(  %3 = index %0, %2 : ptr<i32, 8>
  %4 = define_global {arg = 1} : ptr<i32, 64>
  %5 = const 4 : index
  %6 = mul %2, %5 : index
  %7 = const 16 : index
  %8 = floormod %6, %7 : index
  %9 = index %4, %8 : ptr<i32, 64>
  %10 = load %9 : i32
)");
}

// The last stages of v0.10.3 print such a NOOP between a load and a BITCAST.
TEST(LoweredImportTest, NoopWithAValueIsItsSource) {
  const std::string load =
      Op("LOAD", "float", "None",
         "UOp(Ops.INDEX, dtypes.float.ptr(8), arg=None, src=(UOp(Ops.DEFINE_GLOBAL, "
         "dtypes.float.ptr(8), arg=1, src=()), " +
             I() + ",))");
  EXPECT_EQ(KernelLines(Op("BITCAST", "int", "None", Op("NOOP", "float", "None", load))),
            KernelLines(Op("BITCAST", "int", "None", load)));
  EXPECT_NE(KernelLines(Op("BITCAST", "int", "None", load)).find("bitcast"), std::string::npos);
}

TEST(LoweredImportTest, KernelErrors) {
  const auto fails = [](const std::string& text, const std::string& message) {
    const std::string result = Import(text);
    EXPECT_NE(result.substr(0, result.find('\n')).find("error: " + message), std::string::npos)
        << result;
  };
  fails(Lowered("UOp(Ops.WMMA, dtypes.int, arg=None, src=())"), "WMMA: tg has no counterpart");
  fails(Lowered("UOp(Ops.SPECIAL, dtypes.int, arg=('gidx7', 8), src=())"),
        "SPECIAL: a coordinate 'gidx7'");
  fails(Lowered(Op("DEFINE_ACC", "int", "(0,)", Int("0"))),
        "DEFINE_ACC: nothing is assigned to it");
  fails(Lowered(Op("REDUCE", "int", "None", Int("0"))), "REDUCE: expected the op of a reduction");
  fails(Lowered("UOp(Ops.REDUCE, dtypes.int, arg=<Ops.ADD: 48>, src=())"),
        "REDUCE: it has 0 sources, but needs 1");
  fails(Op("SINK", "void", "None", "UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), arg=0, src=())"),
        "DEFINE_GLOBAL: it is no STORE");
  fails("UOp(Ops.LINEAR, dtypes.void, arg=None, src=(" + Int("0") + ",))",
        "CONST: expected the CALL of a kernel");
}

// ---- v0.14.0: SINK(STORE(INDEX(data0, i), value)), where `i` is gidx0 of 8.

std::string Number(const std::string& value) {
  return Op("CAST", "int", "dtypes.int",
            "UOp(Ops.CONST, dtypes.weakint, arg=" + value + ", src=())");
}
std::string Memory(const std::string& op, int slot, const std::string& space, int size) {
  return Op(op, "int", "ParamArg(" + std::to_string(slot) + ", dtypes.int, " + space + ")",
            Number(std::to_string(size)));
}
std::string Data(int slot, int size) { return Memory("PARAM", slot, "device='CL'", size); }
std::string Shared(int size) { return Memory("BUFFER", 0, "addrspace=AddrSpace.LOCAL", size); }
std::string Gidx() { return Op("SPECIAL", "int", "'gidx0'", Number("8")); }
std::string Lidx() { return Op("SPECIAL", "int", "'lidx0'", Number("8")); }
std::string At(const std::string& memory, const std::string& index) {
  return Op("INDEX", "int", "None", memory + ", " + index);
}
std::string Stores(const std::string& where, const std::string& value) {
  return Op("STORE", "void", "None", where + ", " + value);
}
std::string SinkOf(const std::string& effects) {
  return Op("SINK", "void", "KernelInfo(name='k', axis_types=())", effects);
}
// The kernel's lines between its braces.
std::string Body(const std::string& text) {
  const std::string module = Import(text);
  const std::string from = " {\n";
  const size_t begin = module.find(from, module.find("kernel @k :"));
  const size_t end = module.find("  sink", begin);
  if (begin == std::string::npos || end == std::string::npos) return module;
  return module.substr(begin + from.size(), end - begin - from.size());
}

TEST(LoweredImportTest, ConstantsAreCastsOfWeakOnes) {
  EXPECT_EQ(Body(SinkOf(Stores(At(Data(0, 8), Gidx()), Number("3")))),
            R"(  %0 = define_global {arg = 0} : ptr<i32, 8>
  %1 = const 8 : index
  %2 = special %1 {name = grid0} : index
  %3 = index %0, %2 : ptr<i32, 8>
  %4 = const 3 : i32
  %5 = store %3, %4
)");
}

TEST(LoweredImportTest, ElementsOfMemoryAreLanes) {
  const auto some = [](const std::string& memory) {
    return Op("SHRINK", "int", "None", memory + ", " + Number("4") + ", " + Number("2"));
  };
  const std::string loaded = Op("LOAD", "int", "None", some(Data(1, 8)));
  const std::string turned =
      Op("STACK", "int", "None", At(loaded, Number("1")) + ", " + At(loaded, Number("0")));
  EXPECT_EQ(Body(SinkOf(Stores(some(Data(0, 8)), turned))),
            R"(  %0 = define_global {arg = 0} : ptr<i32, 8>
  %1 = const 4 : index
  %2 = index %0, %1 : ptr<i32, 8>
  %3 = define_global {arg = 1} : ptr<i32, 8>
  %4 = index %3, %1 : ptr<i32, 8>
  %5 = load %4 : i32x2
  %6 = gep %5 {lanes = [1]} : i32
  %7 = gep %5 {lanes = [0]} : i32
  %8 = vectorize %6, %7 : i32x2
  %9 = store %2, %8
)");
}

// LOAD(address, alternative, condition); only instructions have conditions of stores.
TEST(LoweredImportTest, ConditionsOfInstructions) {
  const std::string address = At(Data(0, 8), Gidx()), other = At(Data(1, 8), Gidx());
  const std::string condition = Op("CMPLT", "bool", "None", Gidx() + ", " + Number("5"));
  const std::string value =
      Op("LOAD", "int", "None", At(Data(2, 8), Gidx()) + ", " + Number("7") + ", " + condition);
  const std::string store = Stores(address, value), plain = Stores(other, value);
  const auto block = [&](const std::string& holds) {
    return Op("IF", "void", "None", holds + ", " + address);
  };
  const std::string expected = R"(  %0 = define_global {arg = 0} : ptr<i32, 8>
  %1 = const 8 : index
  %2 = special %1 {name = grid0} : index
  %3 = const 5 : index
  %4 = cmplt %2, %3 : bool
  %5 = index %0, %2, %4 : ptr<i32, 8>
  %6 = define_global {arg = 2} : ptr<i32, 8>
  %7 = index %6, %2, %4 : ptr<i32, 8>
  %8 = const 7 : i32
  %9 = load %7, %8 : i32
  %10 = store %5, %9
  %11 = define_global {arg = 1} : ptr<i32, 8>
  %12 = index %11, %2 : ptr<i32, 8>
  %13 = store %12, %9
)";
  const std::string sink = SinkOf(store + ", " + plain);
  const std::string end = Op("ENDIF", "void", "None", block(condition));
  const std::string gated = block(condition) + ", " + store + ", " + end + ", " + plain;
  // In a list, each instruction prints everything that it uses.
  EXPECT_EQ(Body("[" + gated + ", " + sink + "]"), expected);
  // In a LINEAR, nodes have names.
  EXPECT_EQ(Body(Op("LINEAR", "void", "None",
                    Op("IF", "void", "None", condition + ", x1:=" + address) + ", x2:=" +
                        Stores("x1", value) + ", x3:=" + plain + ", " + SinkOf("x2, x3"))),
            expected);
  // In a PROGRAM, the SINK has the conditions too; its target is not in Python's notation.
  const std::string whole =
      SinkOf(Op("STORE", "void", "None", address + ", " + value + ", " + condition) + ", " + plain);
  EXPECT_EQ(Body(Op("PROGRAM", "void", "ProgramInfo(name='k', target=CPU::x86_64,avx2,-fma)",
                    whole + ", " + Op("LINEAR", "void", "None", Number("1")))),
            expected);

  const auto fails = [](const std::string& text, const std::string& message) {
    const std::string result = Import(text);
    EXPECT_NE(result.substr(0, result.find('\n')).find(message), std::string::npos) << result;
  };
  fails("[" + block(condition) + ", " + block(Op("CMPNE", "bool", "None", Gidx() + ", " + Gidx())) +
            ", " + store + ", " + sink + "]",
        "error: IF: stores to one address under different conditions");
  fails("[" + gated + ", " + SinkOf(store + ", " + Stores(address, Number("1"))) + "]",
        "error: STORE: of several stores to one address some have a condition");
}

// Before the last stages the text has no BARRIER. The importer adds one between the stores and the
// loads of a work-group's memory, and one at the end of an iteration before the next iteration's
// stores.
TEST(LoweredImportTest, BarriersThatNobodyPrinted) {
  const std::string range = Op("RANGE", "int", "(1, AxisType.REDUCE)", Number("4"));
  const std::string set = Stores(At(Shared(8), Lidx()), "x1:=" + range);
  const std::string after = Op("AFTER", "int", "None", Shared(8) + ", " + set);
  const std::string read = Op("LOAD", "int", "None", At(after, Number("0")));
  const auto sum = [&](const std::string& effect) {
    return SinkOf(Op("END", "void", "None", effect + ", x1"));
  };
  const std::string body = Body(sum(Stores(At(Data(0, 8), Lidx()), read)));
  const auto count = [](const std::string& text, const std::string& word) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count(body, "= barrier "), 2u) << body;
  // The text of a later stage has the barrier; the importer adds none.
  const std::string barrier = Op("BARRIER", "void", "None", set);
  const std::string waited =
      Op("LOAD", "int", "None",
         At(Op("AFTER", "int", "None", Shared(8) + ", " + barrier), Number("0")));
  const std::string last = Stores(At(Data(0, 8), Lidx()), "x2:=" + waited);
  EXPECT_EQ(Body(sum(Op("BARRIER", "void", "None", last + ", x2"))), body);
  // Private memory needs no barrier.
  const std::string own = Memory("BUFFER", 0, "addrspace=AddrSpace.REG", 8);
  const std::string stored = Stores(At(own, Number("0")), "x1:=" + range);
  const std::string its = Op("AFTER", "int", "None", own + ", " + stored);
  const std::string alone =
      Body(sum(Stores(At(Data(0, 8), Lidx()), Op("LOAD", "int", "None", At(its, Number("0"))))));
  EXPECT_EQ(count(alone, "barrier"), 0u) << alone;
  EXPECT_EQ(count(alone, "= scratch "), 1u) << alone;
}

// A partly Invalid value makes the address or the store conditional on its predicate.
TEST(LoweredImportTest, PredicatesOfInvalidValues) {
  const std::string invalid = "UOp(Ops.CONST, dtypes.bool, arg=Invalid, src=())";
  const std::string holds = Op("CMPLT", "bool", "None", Gidx() + ", " + Number("5"));
  const auto where = [&](const std::string& yes, const std::string& no) {
    return Op("WHERE", "int", "None", holds + ", " + yes + ", " + no);
  };
  const auto stored = [&](const std::string& value) {
    const std::string body = Body(SinkOf(Stores(At(Data(0, 8), Gidx()), value)));
    return body.substr(0, body.find("= store"));
  };
  const std::string begin = R"(  %0 = define_global {arg = 0} : ptr<i32, 8>
  %1 = const 8 : index
  %2 = special %1 {name = grid0} : index
)";
  EXPECT_EQ(stored(Op("ADD", "int", "None", where(Number("7"), invalid) + ", " + Number("1"))),
            begin + R"(  %3 = const 5 : index
  %4 = cmplt %2, %3 : bool
  %5 = index %0, %2, %4 : ptr<i32, 8>
  %6 = const 7 : i32
  %7 = const 1 : i32
  %8 = add %6, %7 : i32
  %9 )");
  EXPECT_EQ(stored(where(invalid, Number("7"))), begin + R"(  %3 = const 5 : index
  %4 = cmplt %2, %3 : bool
  %5 = const true : bool
  %6 = cmpne %4, %5 : bool
  %7 = index %0, %2, %6 : ptr<i32, 8>
  %8 = const 7 : i32
  %9 )");
  EXPECT_EQ(stored(Op("NEG", "bool", "None", invalid)), begin + R"(  %3 = const false : bool
  %4 = index %0, %2, %3 : ptr<i32, 8>
  %5 = const 0 : i32
  %6 )");
  const std::string index =
      Op("MUL", "int", "None", where(Gidx(), invalid) + ", " + where(Number("2"), invalid));
  EXPECT_EQ(stored(Op("LOAD", "int", "None", At(Data(1, 16), index))),
            begin + R"(  %3 = index %0, %2 : ptr<i32, 8>
  %4 = define_global {arg = 1} : ptr<i32, 16>
  %5 = const 2 : index
  %6 = mul %2, %5 : index
  %7 = const 5 : index
  %8 = cmplt %2, %7 : bool
  %9 = index %4, %6, %8 : ptr<i32, 16>
  %10 = load %9 : i32
  %11 )");
  // Each lane has a predicate; a reduction skips undefined lanes.
  const std::string lanes = Op("STACK", "int", "None", Number("7") + ", " + invalid);
  EXPECT_EQ(stored(At(lanes, Number("1"))), begin + R"(  %3 = const true : bool
  %4 = const false : bool
  %5 = vectorize %3, %4 : boolx2
  %6 = gep %5 {lanes = [1]} : bool
  %7 = index %0, %2, %6 : ptr<i32, 8>
  %8 = const 7 : i32
  %9 = const 0 : i32
  %10 = vectorize %8, %9 : i32x2
  %11 = gep %10 {lanes = [1]} : i32
  %12 )");
  const std::string range = Op("RANGE", "int", "(1, AxisType.REDUCE)", Number("4"));
  const std::string inner = Op("WHERE", "int", "None",
                               Op("CMPLT", "bool", "None", "x1:=" + range + ", " + Number("2")) +
                                   ", " + Number("7") + ", " + invalid);
  const std::string most = stored(Op("REDUCE", "int", "(Ops.MAX, 0)", inner + ", x1"));
  EXPECT_NE(most.find("reduce %6, %4 {op = or} : bool"), std::string::npos) << most;
  EXPECT_NE(most.find("= const -2147483648 : i32"), std::string::npos) << most;
}

TEST(LoweredImportTest, ErrorsOfNewerKernels) {
  const auto fails = [](const std::string& value, const std::string& message) {
    const std::string result = Import(SinkOf(Stores(At(Data(0, 8), Gidx()), value)));
    EXPECT_NE(result.substr(0, result.find('\n')).find("error: " + message), std::string::npos)
        << result;
  };
  fails(Op("RESHAPE", "int", "None", Number("1") + ", " + Number("1")),
        "RESHAPE: a value with a shape inside of a kernel");
  fails(At(Op("STACK", "int", "None", Number("1") + ", " + Number("2")), Number("2")),
        "INDEX: expected memory, or a vector and the number of a lane");
  fails(Op("LOAD", "int", "None",
           Op("INDEX", "int", "None", Data(1, 8) + ", " + Gidx() + ", " + Gidx())),
        "INDEX: an address of several indices");
  fails(Op("LOAD", "int", "None", At(Memory("BUFFER", 0, "device='CL'", 8), Gidx())),
        "BUFFER: a buffer of a kernel's own in neither AddrSpace.LOCAL nor AddrSpace.REG");
  fails(Op("LOAD", "int", "None", At(Op("BITCAST", "short", "dtypes.short", Data(1, 8)), Gidx())),
        "BITCAST: memory as elements of another type");
  fails(Op("LOAD", "int", "None",
           At(Op("AFTER", "int", "None",
                 Shared(8) + ", " + Op("END", "void", "None", Number("1") + ", " + Gidx())),
              Gidx())),
        "END: its source has no effect");
}

}  // namespace
}  // namespace tg::tinygrad
