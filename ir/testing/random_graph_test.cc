#include "ir/testing/random_graph.h"

#include <algorithm>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ir/devices.h"
#include "ir/interpret/run.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

TEST(RandomGraph, SameSeedSameProgram) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RandomProgram a = MakeRandomProgram(seed), b = MakeRandomProgram(seed);
    EXPECT_EQ(PrintModule(*a.module), PrintModule(*b.module));
    for (const auto& [name, buffer] : a.inputs) {
      EXPECT_EQ(buffer.data, b.inputs.find(name)->second.data);
    }
  }
}

TEST(RandomGraph, ProgramsAreValidPrintBackAndRun) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed);
    const std::string text = PrintModule(*p.module);
    Diagnostics diags;
    ASSERT_TRUE(VerifyModule(*p.module, diags)) << diags.ToString() << text;
    const auto back = ParseModule(text, "random", diags);
    ASSERT_TRUE(back) << diags.ToString() << text;
    ASSERT_EQ(PrintModule(*back), text);
    const auto result = interpret::Interpret(*p.module, "main", p.inputs, p.vars);
    ASSERT_TRUE(result.ok()) << seed << ": " << std::string(result.status().message()) << text;
  }
}

TEST(RandomGraph, NarrowOnesAreOfIntegersThatWrap) {
  RandomGraphOptions options;
  options.narrow = true;
  int64_t arithmetic = 0, narrow = 0;
  std::set<std::pair<Op, Scalar>> seen;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed, options);
    Diagnostics diags;
    ASSERT_TRUE(VerifyModule(*p.module, diags)) << diags.ToString() << PrintModule(*p.module);
    for (const UOp* u : PostOrder(p.module->graphs[0]->body.root)) {
      if (!(IsElementwise(u->op) || u->op == Op::kReduceAxis) || u->srcs().empty()) continue;
      const Scalar s = u->srcs().back()->dtype.scalar();
      if (s == Scalar::kIndex) continue;
      ++arithmetic;
      if (!IsInt(s) || BitWidth(s) > 16) continue;
      ++narrow;
      seen.emplace(u->op, s);
    }
  }
  EXPECT_GT(narrow, arithmetic / 2);
  for (const Op op : {Op::kNeg, Op::kAdd, Op::kSub, Op::kMul, Op::kMulAcc, Op::kMax, Op::kMin,
                      Op::kCDiv, Op::kCMod, Op::kShr, Op::kCmpLt, Op::kWhere, Op::kReduceAxis}) {
    for (const Scalar s : {Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16}) {
      EXPECT_TRUE(seen.count({op, s})) << Mnemonic(op) << " of " << GetScalarInfo(s).text;
    }
  }
}

TEST(RandomGraph, SomeAreOverSeveralDevices) {
  int several = 0, copies = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed);
    several += DeviceNames(*p.module).size() > 1;
    for (const UOp* u : PostOrder(p.module->graphs[0]->body.root)) copies += u->op == Op::kCopy;
  }
  EXPECT_GT(several, 20);
  EXPECT_LT(several, 60);
  EXPECT_GT(copies, 3 * several);
}

TEST(RandomGraph, EveryElementwiseOpWithEveryTypeThatItTakes) {
  std::set<std::pair<Op, Scalar>> seen;
  std::vector<size_t> sizes;  // number of ops that are not leaves
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed);
    const auto order = PostOrder(p.module->graphs[0]->body.root);
    sizes.push_back(static_cast<size_t>(std::count_if(order.begin(), order.end(), [](const UOp* u) {
      return !u->srcs().empty() && u->op != Op::kSink;
    })));
    for (const UOp* u : order) {
      if (!u->srcs().empty()) seen.emplace(u->op, u->srcs().back()->dtype.scalar());
    }
  }
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& info = GetOpInfo(op);
    if (!IsElementwise(op) || IsIdentity(op) || info.classes.empty()) continue;
    for (int k = 0; k < kNumScalars; ++k) {
      const auto s = static_cast<Scalar>(k);
      const char cls = s == Scalar::kBool    ? 'b'
                       : s == Scalar::kIndex ? 'x'
                       : IsInt(s)            ? 'i'
                       : IsFloat(s)          ? 'f'
                                             : '?';
      if (!info.AllowsClass(cls) || (op == Op::kThreefry && s != Scalar::kU64)) continue;
      if (op == Op::kDot4 && s != Scalar::kI32) continue;
      EXPECT_TRUE(seen.count({op, s})) << Mnemonic(op) << " of " << GetScalarInfo(s).text;
    }
  }
  std::nth_element(sizes.begin(), sizes.begin() + 3000, sizes.end());
  EXPECT_GE(sizes[3000], 20u);
}

}  // namespace
}  // namespace tg::testing
