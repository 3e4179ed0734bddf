#include "tools/fuzz/reduce_program.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/run.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg::fuzz {
namespace {

using testing::MakeRandomProgram;
using testing::RandomProgram;

std::vector<const UOp*> Nodes(const RandomProgram& p) {
  return PostOrder(p.module->graphs[0]->body.root);
}

bool Has(const RandomProgram& p, Op op) {
  const auto nodes = Nodes(p);
  return std::any_of(nodes.begin(), nodes.end(), [&](const UOp* u) { return u->op == op; });
}

// Each op of interest lies between others, and most results depend on several of them.
constexpr std::string_view kProgram = R"(tg 1
module @reduced {flags = ["no-contract"]}
var @n : [1, 4]
buffer @a : f32[4, 6] input
buffer @b : f32[6, 4] input
buffer @i : i32[24] input
buffer @k : u64[4] param = [1, 2, 3, 4]
buffer @s : f32[4, 6] state
buffer @y : f32[6] output
buffer @z : f32[4, 6] output
buffer @w : u64[4] output
buffer @v : f32[@n, 8] output
graph @main {
  %a = buffer @a : f32
  %b = buffer @b : f32
  %i = buffer @i : i32
  %k = buffer @k : u64
  %s = buffer @s : f32
  %n = var @n : index
  %0 = permute %b {axes = [1, 0]} : f32
  %1 = add %a, %0 : f32
  %2 = exp2 %1 : f32
  %3 = reshape %i {shape = [4, 6]} : i32
  %4 = cast %3 : f32
  %5 = mul %2, %4 : f32
  %6 = flip %5 {axes = [1]} : f32
  %7 = const 2.5 : f32
  %8 = max %6, %7 : f32
  %9 = sqrt %8 : f32
  %10 = shrink %9 {ranges = [(1, 3), (0, 4)]} : f32
  %11 = pad %10 {widths = [(1, 1), (2, 0)]} : f32
  %12 = sub %11, %a : f32
  %13 = reduce_axis %12 {op = add, axes = [0]} : f32
  %14 = reshape %13 {shape = [6]} : f32
  %15 = view %14 {views = [view(shape = [4, 6], strides = [0, 1], offset = 0, mask = [(0, 4), (1, 5)])]} : f32
  %16 = add %15, %12 : f32
  %17 = assign %s, %16 : f32
  %18 = mul %17, %7 : f32
  %19 = const 7 : u64
  %20 = add %k, %19 : u64
  %21 = threefry %20, %k : u64
  %22 = xor %21, %20 : u64
  %23 = const 1.0 : f32
  %24 = reshape %23 {shape = [1, 1]} : f32
  %25 = expand %24 {shape = [%n, 8]} : f32
  %26 = neg %25 : f32
  sink %14 -> @y, %18 -> @z, %22 -> @w, %26 -> @v, %17
}
)";

RandomProgram Start() {
  RandomProgram p;
  Diagnostics diags;
  p.module = ParseModule(kProgram, "reduced", diags);
  EXPECT_TRUE(p.module) << diags.ToString();
  p.vars["n"] = 3;
  p.inputs = RandomInputs(*p.module, p.vars, {});
  return p;
}

// The minimum that remains of more than 30 nodes: the op, a leaf for each operand, a shape or a
// second leaf if needed, and the sink.
void ExpectSmall(const Interesting& interesting, size_t most) {
  const RandomProgram start = Start();
  ASSERT_GT(Nodes(start).size(), 30u);
  ASSERT_TRUE(interesting(start));
  const ReduceResult result = Reduce(start, interesting);
  EXPECT_TRUE(interesting(result.program));
  EXPECT_LE(Nodes(result.program).size(), most) << PrintModule(*result.program.module);
  EXPECT_GT(result.kept, 0);
  EXPECT_TRUE(VerifyModule(*result.program.module).ok());
  const auto run =
      Interpret(*result.program.module, "main", result.program.inputs, result.program.vars);
  EXPECT_TRUE(run.ok()) << PrintModule(*result.program.module);
}

TEST(Reduce, LeavesLittleMoreThanTheCause) {
  for (const Op op : {Op::kExp2, Op::kSqrt, Op::kFlip, Op::kReduceAxis, Op::kPad, Op::kView,
                      Op::kThreefry, Op::kXor}) {
    SCOPED_TRACE(std::string(Mnemonic(op)));
    ExpectSmall([op](const RandomProgram& p) { return Has(p, op); }, 4);
  }
}

TEST(Reduce, TwoCausesStay) {
  ExpectSmall([](const RandomProgram& p) { return Has(p, Op::kSqrt) && Has(p, Op::kFlip); }, 5);
  ExpectSmall([](const RandomProgram& p) { return Has(p, Op::kThreefry) && Has(p, Op::kPad); }, 7);
}

TEST(Reduce, AWriteInPlaceStays) {
  ExpectSmall([](const RandomProgram& p) { return Has(p, Op::kAssign); }, 4);
}

TEST(Reduce, ASymbolicExtentStays) {
  ExpectSmall([](const RandomProgram& p) { return Has(p, Op::kVar) && Has(p, Op::kNeg); }, 7);
}

// The failure depends on values: the first result changes with the input's last column.
TEST(Reduce, WhatTheValueDependsOnStays) {
  const Interesting depends = [](const RandomProgram& p) {
    const auto input = p.inputs.find("a");
    if (input == p.inputs.end() || !p.module->FindBuffer("y")) return false;
    RandomProgram q = CopyProgram(p);
    HostBuffer& a = q.inputs.find("a")->second;
    for (size_t i = 5; i < a.data.size(); i += 6) a.data[i] = 0x42f60000;  // 123.0f
    const auto one = Interpret(*p.module, "main", p.inputs, p.vars);
    const auto two = Interpret(*q.module, "main", q.inputs, q.vars);
    if (!one.ok() || !two.ok() || !one->count("y")) return false;
    return one->find("y")->second.data != two->find("y")->second.data;
  };
  ExpectSmall(depends, 6);
}

TEST(Reduce, WithoutASmallerOneTheProgramStays) {
  const RandomProgram p = Start();
  const ReduceResult result =
      Reduce(p, [](const RandomProgram&) { return false; }, {.max_tries = 50});
  EXPECT_EQ(PrintModule(*result.program.module), PrintModule(*p.module));
  EXPECT_EQ(result.kept, 0);
  EXPECT_EQ(result.tried, 50);
}

TEST(Reduce, TellsEachCandidateAndKeepsTheBestWhenItIsStopped) {
  const RandomProgram start = Start();
  int told = 0, last_kept = 0;
  size_t nodes = Nodes(start).size();
  ReduceOptions options;
  options.stop = [&] { return last_kept == 3; };
  options.progress = [&](const ReduceResult& best, size_t now, bool kept) {
    EXPECT_EQ(best.tried, ++told);
    EXPECT_EQ(best.kept, last_kept + (kept ? 1 : 0));
    EXPECT_LE(now, nodes);
    EXPECT_EQ(now, Nodes(best.program).size());
    last_kept = best.kept;
    nodes = now;
  };
  const Interesting interesting = [](const RandomProgram& p) { return Has(p, Op::kSqrt); };
  const ReduceResult result = Reduce(start, interesting, options);
  EXPECT_EQ(result.kept, 3);
  EXPECT_EQ(result.tried, told);
  EXPECT_TRUE(interesting(result.program));
  EXPECT_LT(Nodes(result.program).size(), Nodes(start).size());
}

TEST(Reduce, InlinedInputsAreTheSameInputs) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed);
    RandomProgram q = CopyProgram(p);
    InlineInputs(q);
    const auto a = Interpret(*p.module, "main", p.inputs, p.vars);
    const auto b = Interpret(*q.module, "main", q.inputs, q.vars);
    ASSERT_TRUE(a.ok() && b.ok()) << PrintModule(*q.module);
    for (const auto& [name, buffer] : *a) EXPECT_EQ(buffer.data, b->find(name)->second.data);
  }
}

}  // namespace
}  // namespace tg::fuzz
