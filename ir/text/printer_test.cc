#include "ir/text/printer.h"

#include <string>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/text/parser.h"

namespace tg {
namespace {

struct Fixture {
  Graph graph;
  Builder b{*graph.body.context};
  Fixture() { graph.name = "g"; }
  void Name(const UOp* u, std::string_view name) {
    graph.body.side.SetName(u, graph.body.context->Intern(name));
  }
  std::string Print(std::vector<const UOp*> roots) {
    graph.body.root = b.Sink(roots);
    return PrintGraph(graph);
  }
};

TEST(Printer, NamesThatClashGetASuffix) {
  Fixture f;
  const UOp* one = f.b.ConstInt(kI32, 1);
  const UOp* two = f.b.ConstInt(kI32, 2);
  const UOp* three = f.b.ConstInt(kI32, 3);
  const UOp* four = f.b.ConstInt(kI32, 4);
  f.Name(one, "x");
  f.Name(two, "x");
  f.Name(three, "x.1");
  f.Name(four, "x");
  EXPECT_EQ(f.Print({one, two, three, four}),
            "graph @g {\n  %x = const 1 : i32\n  %x.2 = const 2 : i32\n  %x.1 = const 3 : i32\n"
            "  %x.3 = const 4 : i32\n  sink %x, %x.2, %x.1, %x.3\n}\n");
}

TEST(Printer, NamesThatNoTextCanHoldAreChanged) {
  Fixture f;
  const UOp* one = f.b.ConstInt(kI32, 1);
  const UOp* two = f.b.ConstInt(kI32, 2);
  const UOp* three = f.b.ConstInt(kI32, 3);
  f.Name(one, "conv/w:0");
  f.Name(two, "conv_w_0");
  f.Name(three, "1");
  EXPECT_EQ(f.Print({one, two, three}),
            "graph @g {\n  %conv_w_0.1 = const 1 : i32\n  %conv_w_0 = const 2 : i32\n"
            "  %_1 = const 3 : i32\n  sink %conv_w_0.1, %conv_w_0, %_1\n}\n");
}

TEST(Printer, EffectsThatNobodyUsesHaveNoName) {
  Fixture f;
  Context& ctx = *f.graph.body.context;
  const UOp* p = f.b.DefineGlobal(0, DType::Pointer(Scalar::kF32, 4, AddrSpace::kGlobal));
  const UOp* first = f.b.Store(p, f.b.Const(kF32, 1));
  const UOp* second = f.b.Store(f.b.After(p, {&first, 1}), f.b.Const(kF32, 2));
  const UOp* barrier = ctx.Make(Op::kBarrier, kVoid, {second});
  f.graph.body.root = ctx.Make(Op::kSink, kVoid, {barrier}, ctx.MakeAttr(Op::kSink, {0}));
  EXPECT_EQ(PrintBody(f.graph.body),
            "  %0 = define_global {arg = 0} : ptr<f32, 4>\n"
            "  %1 = const 1.0 : f32\n"
            "  %2 = store %0, %1\n"
            "  %3 = after %0, %2 : ptr<f32, 4>\n"
            "  %4 = const 2.0 : f32\n"
            "  %5 = store %3, %4\n"
            "  %6 = barrier %5\n"
            "  sink %6\n");
}

TEST(Printer, ANodeAlone) {
  Fixture f;
  const UOp* x = f.b.Const(kF32, 0.5);
  const UOp* y = f.b.Add(x, f.b.Const(kF32, 2));
  f.Print({y});
  EXPECT_EQ(PrintNode(f.graph.body, y), "%2 = add %0, %1 : f32");
  // The node is not in the body, so it has no name there.
  EXPECT_EQ(PrintNode(f.graph.body, f.b.Alu(Op::kNeg, {y})), "%? = neg %2 : f32");
}

TEST(Printer, Strings) {
  std::string out;
  AppendQuoted(out, std::string_view("a\"\\\n\t\r\0\x1f\x7f\xc3\xa4", 11));
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\t\\r\\x00\\x1f\\x7f\xc3\xa4\"");
}

TEST(Printer, LoopsIndent) {
  const auto module = ReadModuleFile("ir/text/corpus/linear.uop");
  ASSERT_TRUE(module.ok());
  const std::string text = PrintModule(**module);
  EXPECT_NE(text.find("\n  %r = range"), std::string::npos);
  EXPECT_NE(text.find("\n    %s = range"), std::string::npos);
  EXPECT_NE(text.find("\n        %6 = store"), std::string::npos);
  EXPECT_NE(text.find("\n      endif %5"), std::string::npos);
  EXPECT_NE(text.find("\n  %7 = end %6, %s, %r"), std::string::npos);
}

}  // namespace
}  // namespace tg
