#include "tools/fuzz/reduce.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "ir/interpret/run.h"
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

// The first program that is interesting.
RandomProgram Find(const Interesting& interesting) {
  for (uint64_t seed = 0;; ++seed) {
    RandomProgram p = MakeRandomProgram(seed);
    if (Nodes(p).size() > 30 && interesting(p)) return p;
  }
}

// Of more than 30 nodes, what an op needs for its sources' shapes and its result's buffer may stay.
constexpr size_t kFewNodes = 10;

TEST(Reduce, LeavesLittleMoreThanTheCause) {
  for (const Op op : {Op::kExp2, Op::kReduceAxis, Op::kPad, Op::kView, Op::kThreefry}) {
    const Interesting interesting = [op](const RandomProgram& p) { return Has(p, op); };
    const RandomProgram start = Find(interesting);
    const ReduceResult result = Reduce(start, interesting);
    EXPECT_TRUE(Has(result.program, op));
    EXPECT_LE(Nodes(result.program).size(), kFewNodes) << PrintModule(*result.program.module);
    EXPECT_GT(result.kept, 0);
    EXPECT_TRUE(VerifyModule(*result.program.module).ok());
  }
}

TEST(Reduce, TwoCausesStay) {
  const Interesting interesting = [](const RandomProgram& p) {
    return Has(p, Op::kSqrt) && Has(p, Op::kFlip);
  };
  const ReduceResult result = Reduce(Find(interesting), interesting);
  EXPECT_TRUE(interesting(result.program));
  EXPECT_LE(Nodes(result.program).size(), kFewNodes) << PrintModule(*result.program.module);
}

TEST(Reduce, AWriteInPlaceStays) {
  const Interesting interesting = [](const RandomProgram& p) { return Has(p, Op::kAssign); };
  const ReduceResult result = Reduce(Find(interesting), interesting);
  EXPECT_TRUE(Has(result.program, Op::kAssign));
  EXPECT_LE(Nodes(result.program).size(), kFewNodes) << PrintModule(*result.program.module);
}

TEST(Reduce, WithoutASmallerOneTheProgramStays) {
  const RandomProgram p = MakeRandomProgram(3);
  const ReduceResult result = Reduce(
      p, [](const RandomProgram&) { return false; }, 50);
  EXPECT_EQ(PrintModule(*result.program.module), PrintModule(*p.module));
  EXPECT_EQ(result.kept, 0);
  EXPECT_EQ(result.tried, 50);
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
