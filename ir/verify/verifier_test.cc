// Tests modules that can only be invalid if a program built them, and modules that the verifier
// must accept. Texts that it rejects are in ir/text/errors.
#include "ir/verify/verifier.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/text/testing.h"

namespace tg {
namespace {

std::string FirstError(const Module& module) {
  Diagnostics diags;
  const bool valid = VerifyModule(module, diags);
  EXPECT_EQ(valid, !diags.has_errors());
  return diags.errors().empty() ? "" : diags.errors()[0].FirstLine();
}

// A module with one graph (or one kernel) that is filled by hand.
struct Built {
  Module module;
  Body* body;
  explicit Built(Stage stage = Stage::kTensor) {
    module.name = "m";
    if (stage == Stage::kTensor) {
      module.graphs.push_back(std::make_unique<Graph>());
      module.graphs[0]->name = "g";
      body = &module.graphs[0]->body;
    } else {
      module.kernels.push_back(std::make_unique<Kernel>());
      module.kernels[0]->name = "k";
      module.kernels[0]->stage = stage;
      body = &module.kernels[0]->body;
    }
  }
  Context& ctx() { return *body->context; }
  Builder b() { return Builder(*body->context); }
  void Sink(std::initializer_list<const UOp*> roots) {
    body->root = ctx().Make(Op::kSink, kVoid, roots, ctx().MakeAttr(Op::kSink, {0}));
  }
};

TEST(Verifier, Root) {
  Built m;
  EXPECT_EQ(FirstError(m.module), "error: [V101] graph @g: the body has no sink as its root");
  m.body->root = m.b().Const(kF32, 1);
  EXPECT_EQ(FirstError(m.module), "error: [V101] graph @g: the body has no sink as its root");
  m.Sink({});
  EXPECT_EQ(FirstError(m.module), "");
  m.Sink({m.body->root});
  EXPECT_EQ(FirstError(m.module),
            "error: [V101] sink: a second sink; it is the root of a body and nothing else");
}

TEST(Verifier, MessageWithoutATextShowsTheNode) {
  Built m;
  const UOp* one = m.b().Const(kF32, 1);
  m.Sink({m.ctx().Make(Op::kAdd, kF32, {one, m.b().Const(kF16, 1)})});
  Diagnostics diags;
  EXPECT_FALSE(VerifyModule(m.module, diags));
  EXPECT_EQ(diags.ToString(),
            "error: [V203] add: sources have types f32 and f16\n"
            "  in graph @g: %2 = add %0, %1 : f32\n");
  EXPECT_EQ(VerifyModule(m.module).message(),
            "error: [V203] add: sources have types f32 and f16\n"
            "  in graph @g: %2 = add %0, %1 : f32");
}

TEST(Verifier, Arity) {
  Built m;
  const UOp* one = m.b().Const(kF32, 1);
  m.Sink({m.ctx().Make(Op::kAdd, kF32, {one})});
  EXPECT_EQ(FirstError(m.module), "error: [V103] add: it takes 2 operands, not 1");
  // A symbolic entry without its source.
  Built n;
  n.Sink({n.ctx().Make(Op::kReshape, kF32, {n.b().Const(kF32, 1)},
                       n.ctx().MakeAttr(Op::kReshape, {1, kSymbolic}))});
  EXPECT_EQ(FirstError(n.module), "error: [V103] reshape: it takes 1 operands, not 0");
}

TEST(Verifier, Encoding) {
  Built m;
  const UOp* one = m.b().Const(kF32, 1);
  for (const std::vector<int64_t>& words :
       std::vector<std::vector<int64_t>>{{}, {2, 1}, {-1}, {INT64_MAX, 1}, {1, 1, 1}}) {
    m.Sink({m.ctx().Make(Op::kReshape, kF32, {one}, m.ctx().MakeAttr(Op::kReshape, words))});
    EXPECT_EQ(FirstError(m.module),
              "error: [V104] reshape: its attribute is not encoded as the op table says");
  }
  for (const std::vector<int64_t>& words : std::vector<std::vector<int64_t>>{
           {0}, {2, 0, 0}, {4, 1, 5, 1, 0}, {3, 0, 0, 2}, {1, INT64_MAX}}) {
    m.Sink({m.ctx().Make(Op::kView, kF32, {one}, m.ctx().MakeAttr(Op::kView, words))});
    const std::string error = FirstError(m.module);
    if (words == std::vector<int64_t>{3, 0, 0, 2}) {
      EXPECT_EQ(error, "");  // rank 0, offset 0, a mask of no axes
    } else {
      EXPECT_EQ(error.substr(0, 19), "error: [V104] view:") << error;
    }
  }
  m.Sink({m.ctx().Make(Op::kReduceAxis, kF32, {one},
                       m.ctx().MakeAttr(Op::kReduceAxis, {kNumOps, 0}))});
  EXPECT_EQ(FirstError(m.module), "error: [V104] reduce_axis: an op of no number");
}

TEST(Verifier, Symbols) {
  Built m;
  m.Sink({m.b().Buffer("x", kF32)});
  EXPECT_EQ(FirstError(m.module), "error: [V105] buffer: no buffer '@x' is declared");
  m.module.buffers.push_back({.name = "x", .dtype = kF32});
  EXPECT_EQ(FirstError(m.module), "");
  m.module.buffers.push_back({.name = "x", .dtype = kF32});
  EXPECT_EQ(FirstError(m.module), "error: [V109] buffer @x: another one has this name");
  m.module.buffers[1].name = "a b";
  EXPECT_EQ(FirstError(m.module),
            "error: [V109] buffer @a b: its name is no word of the text format");
}

TEST(Verifier, ConstantBits) {
  Built m;
  m.Sink({m.ctx().Make(Op::kConst, DType(Scalar::kU8), {}, m.ctx().MakeAttr(Op::kConst, {256}))});
  EXPECT_EQ(FirstError(m.module), "error: [V106] const: 256 is not the bits of a u8");
  m.Sink({m.ctx().Make(Op::kConst, kBool, {}, m.ctx().MakeAttr(Op::kConst, {2}))});
  EXPECT_EQ(FirstError(m.module), "error: [V106] const: 2 is not the bits of a bool");
}

struct Loop : Built {
  const UOp *n, *p, *c, *range, *address, *store, *end;
  Loop() : Built(Stage::kLinear) {
    n = b().Index(4);
    p = b().DefineGlobal(0, DType::Pointer(Scalar::kF32, 4, AddrSpace::kGlobal));
    c = b().Const(kF32, 1);
    range = b().Range(n);
    address = b().IndexPtr(p, range);
    store = b().Store(address, c);
    end = b().End(store, {&range, 1});
    Sink({end});
  }
  std::string Verify(std::vector<const UOp*> list) {
    body->linear = std::move(list);
    body->linear.push_back(body->root);
    return FirstError(module);
  }
};

TEST(Verifier, LinearList) {
  Loop m;
  EXPECT_EQ(m.Verify({m.n, m.p, m.c, m.range, m.address, m.store, m.end}), "");
  EXPECT_EQ(m.Verify({m.n, m.p, m.range, m.c, m.address, m.store, m.end}), "");
  EXPECT_EQ(m.Verify({m.n, m.p, m.c, m.range, m.address, m.store, m.end, m.c}),
            "error: [V601] const: it is in the list twice");
  EXPECT_EQ(m.Verify({m.n, m.p, m.range, m.address, m.c, m.store, m.end, m.body->root}),
            "error: [V601] sink: it is in the list twice");
  EXPECT_EQ(m.Verify({m.n, m.p, m.range, m.address, m.store, m.end}),
            "error: [V602] store: %4 (const) does not stand above it");
  EXPECT_EQ(m.Verify({m.n, m.p, m.range, m.store, m.c, m.address, m.end}),
            "error: [V602] store: %5 (index) does not stand above it");
  m.body->linear = {m.n};
  EXPECT_EQ(FirstError(m.module),
            "error: [V601] kernel @k: the list of nodes does not end with the sink");
}

TEST(Verifier, TooManyErrorsStop) {
  std::string text = "tg 1\nmodule @m\n\ngraph @g {\n  %x = const 1 : i32\n  %y = const 1 : i8\n";
  std::string roots = "  sink %x";
  for (int i = 0; i < 200; ++i) {
    const std::string name = "%a" + std::to_string(i);
    text += "  " + name + " = reshape %x {shape = [1, " + std::to_string(i + 2) + "]} : i32\n";
    roots += ", " + name;
  }
  const auto module = ParseOrFail(text + roots + "\n}\n");
  ASSERT_TRUE(module);
  Diagnostics diags(5);
  EXPECT_FALSE(VerifyModule(*module, diags));
  EXPECT_EQ(diags.errors().size(), 5u);
}

TEST(Verifier, AnErrorIsNotRepeatedByUsers) {
  const auto module = ParseOrFail(
      "tg 1\nmodule @m\n\ngraph @g {\n  %x = const 1 : i32\n  %y = const 1 : i8\n"
      "  %0 = add %x, %y : i32\n  %1 = neg %0 : f32\n  %2 = mul %1, %x : i32\n  sink %2\n}\n");
  ASSERT_TRUE(module);
  Diagnostics diags;
  EXPECT_FALSE(VerifyModule(*module, diags));
  EXPECT_EQ(diags.num_errors(), 1u) << diags.ToString();
}

// Valid programs that are close to an invalid one.
TEST(Verifier, WriteOrder) {
  const std::string head =
      "tg 1\nmodule @m\nbuffer @s : f32[4, 8] state\n\ngraph @g {\n  %s = buffer @s : f32\n"
      "  %c = const 1.0 : f32\n  %1 = reshape %c {shape = [1, 1]} : f32\n"
      "  %h = expand %1 {shape = [2, 8]} : f32\n  %v = expand %1 {shape = [4, 4]} : f32\n"
      "  %all = expand %1 {shape = [4, 8]} : f32\n"
      "  %top = shrink %s {ranges = [(0, 2), (0, 8)]} : f32\n"
      "  %low = shrink %s {ranges = [(2, 4), (0, 8)]} : f32\n"
      "  %left = shrink %s {ranges = [(0, 4), (0, 4)]} : f32\n"
      "  %right = shrink %s {ranges = [(0, 4), (4, 8)]} : f32\n"
      "  %flat = reshape %s {shape = [32]} : f32\n"
      "  %tail = shrink %flat {ranges = [(28, 32)]} : f32\n"
      "  %row = reshape %c {shape = [1]} : f32\n  %four = expand %row {shape = [4]} : f32\n"
      "  %turned = permute %right {axes = [1, 0]} : f32\n";
  struct Case {
    const char* body;
    bool ok;
  };
  const Case cases[] = {
      {"  %a = assign %top, %h : f32\n  %b = assign %low, %h : f32\n", true},
      {"  %a = assign %left, %v : f32\n  %b = assign %right, %v : f32\n", true},
      {"  %a = assign %left, %v : f32\n  %b = assign %turned, %v : f32\n", true},
      {"  %a = assign %right, %v : f32\n  %b = assign %turned, %v : f32\n", false},
      {"  %a = assign %top, %h : f32\n  %b = assign %left, %v : f32\n", false},
      {"  %a = assign %top, %h : f32\n  %b = assign %tail, %four : f32\n", true},
      {"  %a = assign %low, %h : f32\n  %b = assign %tail, %four : f32\n", false},
      {"  %a = assign %right, %v : f32\n  %b = assign %tail, %four : f32\n", false},
      {"  %a = assign %left, %v : f32\n  %b = assign %tail, %four : f32\n", true},
      {"  %a = assign %top, %h : f32\n  %b = assign %s, %all : f32\n", false},
      // With a path between them: as target, as value, as a further source.
      {"  %a = assign %s, %all : f32\n  %b = assign %a, %all : f32\n", true},
      {"  %a = assign %s, %all : f32\n  %n = neg %a : f32\n  %b = assign %s, %n : f32\n", true},
      {"  %a = assign %top, %h : f32\n  %b = assign %s, %all, %a : f32\n", true},
  };
  for (const Case& c : cases) {
    const auto module = ParseOrFail(head + c.body + "  sink %a, %b\n}\n");
    ASSERT_TRUE(module);
    const std::string error = FirstError(*module);
    EXPECT_EQ(error.empty(), c.ok) << c.body << error;
    EXPECT_EQ(error.find("[V404]") == std::string::npos, c.ok) << error;
  }
}

// A slice with a step is a pad whose padding is cut off again.
TEST(Verifier, AssignThroughPadding) {
  const auto error_of = [](const std::string& ranges) {
    const auto module = ParseOrFail(
        "tg 1\nmodule @m\nbuffer @s : f32[5] state\n\ngraph @g {\n  %s = buffer @s : f32\n"
        "  %p = pad %s {widths = [(0, 1)]} : f32\n  %r = reshape %p {shape = [3, 2]} : f32\n"
        "  %k = shrink %r {ranges = [" +
        ranges + "]} : f32\n  %v = neg %k : f32\n  %a = assign %k, %v : f32\n  sink %a\n}\n");
    return module ? FirstError(*module) : "not parsed";
  };
  EXPECT_EQ(error_of("(0, 3), (0, 1)"), "");
  EXPECT_EQ(error_of("(0, 2), (0, 2)"), "");
  EXPECT_NE(error_of("(0, 3), (1, 2)").find("[V403] assign: its target holds padding"),
            std::string::npos);
}

TEST(Verifier, ManyWritesToOneBuffer) {
  // More than one word of bits: row i of 200; then a second write of row 0, unordered.
  std::string text =
      "tg 1\nmodule @m\nbuffer @s : f32[200, 8] state\n\ngraph @g {\n  %s = buffer @s : f32\n"
      "  %c = const 1.0 : f32\n  %1 = reshape %c {shape = [1, 1]} : f32\n"
      "  %h = expand %1 {shape = [1, 8]} : f32\n  %m = neg %h : f32\n";
  std::string sink = "  sink ";
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    text += "  %v" + n + " = shrink %s {ranges = [(" + n + ", " + std::to_string(i + 1) +
            "), (0, 8)]} : f32\n  %a" + n + " = assign %v" + n + ", %h : f32\n";
    sink += "%a" + n + ", ";
  }
  const auto good = ParseOrFail(text + sink + "%h\n}\n");
  ASSERT_TRUE(good);
  EXPECT_EQ(FirstError(*good), "");
  const auto bad = ParseOrFail(text + "  %b = assign %v70, %m : f32\n" + sink + "%b\n}\n");
  ASSERT_TRUE(bad);
  EXPECT_NE(FirstError(*bad).find("that %a70 writes too"), std::string::npos) << FirstError(*bad);
}

TEST(Verifier, ValuesGoBetweenDevicesByCopy) {
  // Constants, iota and variables are on every device. Loops, and sources that an op only waits
  // for, may be on any device.
  const auto module = ParseOrFail(R"(tg 1
module @m
var @n : [1, 4]
buffer @x : f32[4] input
buffer @w : f32[4] param on "gpu"
buffer @s : f32[4] state on "gpu"
buffer @y : f32[4] output
buffer @z : f32[4] output on "cpu"

graph @body {
  %v = carried {arg = 0, shape = [4]} : f32
  %2 = const 2.0 : f32
  %1 = mul %v, %2 : f32
  sink %1
}

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %n = var @n : index
  %i = iota {size = 4} : index
  %0 = add %i, %n : index
  %1 = cast %0 : f32
  %a = mul %w, %1 : f32
  %b = copy %a : f32
  %c = add %b, %x : f32
  %d = sub %c, %1 : f32
  %e = copy %d {device = "gpu"} : f32
  %s = buffer @s : f32
  %f = assign %s, %e, %d : f32
  %g = loop @body(%n, %f) {result = 0} : f32
  %h = copy %g {device = "cpu"} : f32
  %k = after %w, %f : f32
  sink %d -> @y, %h -> @z, %k
}
)");
  ASSERT_TRUE(module);
  EXPECT_EQ(FirstError(*module), "");
}

TEST(Verifier, RulesAreNumberedOnce) {
  std::set<int> numbers;
  std::set<std::string_view> names;
  int last = 0;
  for (const VerifierRule& rule : VerifierRules()) {
    EXPECT_TRUE(numbers.insert(rule.number).second) << rule.number;
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_GT(rule.number, last);
    last = rule.number;
  }
}

}  // namespace
}  // namespace tg
