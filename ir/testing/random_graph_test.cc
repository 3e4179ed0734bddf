#include "ir/testing/random_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/devices.h"
#include "ir/interpret/run.h"
#include "ir/interpret/scalar.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/value.h"
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

TEST(RandomGraph, IdentitiesOfTuplesChangeNothing) {
  std::set<Scalar> seen;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const RandomProgram p = MakeRandomProgram(seed);
    for (const UOp* u : PostOrder(p.module->graphs[0]->body.root)) {
      if (u->op != Op::kReduceTuple) continue;
      const Scalar s = u->dtype.scalar();
      seen.insert(s);
      const auto bits = [&](int64_t x) {
        return IsFloat(s) ? BitsFromDouble(s, static_cast<double>(x)) : WrapInt(s, x);
      };
      for (const int64_t x : {-400, 400}) {
        const int64_t carried[] = {u->src(2)->word(), u->src(3)->word(), bits(x), bits(1)};
        std::map<const UOp*, int64_t> values;
        for (const UOp* body : {u->src(4), u->src(5)}) {
          for (const UOp* v : PostOrder(body)) {
            std::vector<int64_t> srcs;
            for (const UOp* operand : v->srcs()) srcs.push_back(values.at(operand));
            const int64_t word = v->op == Op::kConst || v->op == Op::kCarried ? v->word() : 0;
            values[v] =
                v->op == Op::kCarried ? carried[word]
                : v->op == Op::kConst
                    ? word
                    : interpret::EvalAlu(v->op, v->srcs().back()->dtype.scalar(), srcs).value();
          }
        }
        EXPECT_EQ(values[u->src(4)], bits(x)) << seed << " " << GetScalarInfo(s).text;
        EXPECT_EQ(values[u->src(5)], bits(1)) << seed << " " << GetScalarInfo(s).text;
      }
    }
  }
  EXPECT_TRUE(seen.count(Scalar::kFp8E4M3));
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
