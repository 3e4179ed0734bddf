// Integer decompositions: all pairs of 8-bit values, all magic numbers of a range.
#include "passes/legalize/integer.h"

#include <iterator>
#include <random>

#include "gtest/gtest.h"
#include "passes/legalize/evaluate_for_test.h"

namespace tg::legalize {
namespace {

class ByteOps : public testing::TestWithParam<std::tuple<Op, Scalar>> {};

// A kernel that stores `op` of two loads, so that nothing is known of the operands.
TEST_P(ByteOps, AllPairs) {
  const auto [op, s] = GetParam();
  Module module;
  Body body;
  Builder b(*body.context);
  const UOp* p = b.DefineGlobal(0, DType::Pointer(s, 3, AddrSpace::kGlobal));
  const auto at = [&](int64_t i) { return b.IndexPtr(p, b.ConstInt(kI32, i)); };
  const UOp* x = b.Load(at(0));
  const UOp* y = b.Load(at(1));
  const UOp* store = b.Store(at(2), b.Alu(op, {x, y}));
  body.root = b.Sink(UOpSpan(&store, 1));
  LegalizeIntegers(body, module, PostOrder(body.root));
  const UOp* result = body.root->src(0)->src(1);
  for (const UOp* u : PostOrder(result)) {
    ASSERT_TRUE(u->op != Op::kFloorDiv && u->op != Op::kFloorMod);
  }
  Expression after(result, {x, y});
  for (int64_t i = 0; i < 256; ++i) {
    for (int64_t j = 0; j < 256; ++j) {
      const int64_t args[] = {WrapInt(s, i), WrapInt(s, j)};
      ASSERT_EQ(after({args[0], args[1]}), *interpret::EvalAlu(op, s, args))
          << Mnemonic(op) << " " << args[0] << ", " << args[1];
    }
  }
}

// The same by every constant.
TEST_P(ByteOps, ByConstants) {
  const auto [op, s] = GetParam();
  for (int64_t j = 0; j < 256; ++j) {
    Module module;
    Body body;
    Builder b(*body.context);
    const UOp* p = b.DefineGlobal(0, DType::Pointer(s, 3, AddrSpace::kGlobal));
    const auto at = [&](int64_t i) { return b.IndexPtr(p, b.ConstInt(kI32, i)); };
    const UOp* x = b.Load(at(0));
    const UOp* store = b.Store(at(2), b.Alu(op, {x, b.ConstInt(s, j)}));
    body.root = b.Sink(UOpSpan(&store, 1));
    LegalizeIntegers(body, module, PostOrder(body.root));
    Expression after(body.root->src(0)->src(1), {x});
    for (int64_t i = 0; i < 256; ++i) {
      const int64_t args[] = {WrapInt(s, i), WrapInt(s, j)};
      ASSERT_EQ(after({args[0]}), *interpret::EvalAlu(op, s, args))
          << Mnemonic(op) << " " << args[0] << ", " << args[1];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Integer, ByteOps,
                         testing::Combine(testing::Values(Op::kFloorDiv, Op::kFloorMod, Op::kCDiv,
                                                          Op::kCMod, Op::kShl, Op::kShr),
                                          testing::Values(Scalar::kI8, Scalar::kU8)),
                         [](const auto& info) {
                           return std::string(Mnemonic(std::get<0>(info.param))) + "_" +
                                  std::string(GetScalarInfo(std::get<1>(info.param)).text);
                         });

TEST(Magic, DividesEverythingUpToItsLimit) {
  for (int64_t d = 2; d < 200; ++d) {
    for (int64_t max : {0, 1, 5, 100, 255, 999, 4096, 32767}) {
      const auto m = FindMagic(d, max, INT32_MAX);
      ASSERT_TRUE(m) << d << " " << max;
      for (int64_t x = 0; x <= max; ++x) {
        ASSERT_LE(x * m->multiplier, INT32_MAX);
        ASSERT_EQ(x * m->multiplier >> m->shift, x / d) << x << " / " << d;
      }
    }
  }
}

TEST(Magic, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(FindMagic(7, INT32_MAX, INT32_MAX));
  EXPECT_FALSE(FindMagic(7, INT64_MAX, INT64_MAX));
  const auto m = FindMagic(7, INT32_MAX, INT64_MAX);
  ASSERT_TRUE(m);
  for (int64_t x : {0, 6, 7, 13, 14, INT32_MAX - 1, INT32_MAX}) {
    EXPECT_EQ(x * m->multiplier >> m->shift, x / 7);
  }
}

// x - (x * 11 >> 5) * 3 is x % 3: in 0..2, so what is made of it can be divided without a sign.
TEST(Integers, QuotientsOfRemaindersHaveNoSign) {
  Module module;
  Body body;
  Builder b(*body.context);
  const UOp* p = b.DefineGlobal(0, DType::Pointer(Scalar::kI32, 99, AddrSpace::kGlobal));
  const UOp* x = b.context().Make(Op::kSpecial, kI32, {b.ConstInt(kI32, 9)},
                                  b.context().MakeAttr(Op::kSpecial, {0}));
  const auto number = [&](int64_t v) { return b.ConstInt(kI32, v); };
  const UOp* rest = b.Alu(Op::kFloorMod, {x, number(3)});
  const UOp* q = b.Alu(Op::kFloorDiv, {b.Add(b.Mul(rest, number(40)), number(7)), number(13)});
  const UOp* store = b.Store(b.IndexPtr(p, x), q);
  body.root = b.Sink(UOpSpan(&store, 1));
  LegalizeIntegers(body, module, PostOrder(body.root));
  for (const UOp* u : PostOrder(body.root)) {
    EXPECT_TRUE(u->op != Op::kCDiv && u->op != Op::kCMod && u->op != Op::kWhere) << Mnemonic(u->op);
  }
  Expression after(body.root->src(0)->src(1), {x});
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(after({i}), (i % 3 * 40 + 7) / 13);
}

TEST(LegalizeIntegers, Dot4IsFourProductsUnlessTheTargetHasIt) {
  Module module;
  Body body;
  Builder b(*body.context);
  const UOp* p = b.DefineGlobal(0, DType::Pointer(Scalar::kI32, 4, AddrSpace::kGlobal));
  const auto at = [&](int64_t i) { return b.IndexPtr(p, b.ConstInt(kI32, i)); };
  const UOp *x = b.Load(at(0)), *y = b.Load(at(1)), *z = b.Load(at(2));
  const UOp* store = b.Store(at(3), b.Alu(Op::kDot4, {x, y, z}));
  body.root = b.Sink(UOpSpan(&store, 1));
  LegalizeIntegers(body, module, PostOrder(body.root), /*has_dot4=*/true);
  EXPECT_EQ(body.root->src(0)->src(1)->op, Op::kDot4);
  LegalizeIntegers(body, module, PostOrder(body.root));
  const UOp* sum = body.root->src(0)->src(1);
  for (const UOp* u : PostOrder(sum)) ASSERT_TRUE(u->op != Op::kDot4);
  Expression after(sum, {x, y, z});
  std::mt19937 random(1);
  const int32_t words[] = {0, -1, INT32_MIN, INT32_MAX, 0x01020304, -0x7f7f7f80, 0x7f7f7f7f};
  const auto word = [&] {
    const uint32_t bits = random();
    return bits % 3 == 0 ? words[bits / 3 % std::size(words)] : static_cast<int32_t>(random());
  };
  for (int i = 0; i < 1000; ++i) {
    const int64_t args[] = {word(), word(), word()};
    ASSERT_EQ(after({args[0], args[1], args[2]}),
              *interpret::EvalAlu(Op::kDot4, Scalar::kI32, args))
        << args[0] << ", " << args[1] << ", " << args[2];
  }
}

}  // namespace
}  // namespace tg::legalize
