// If whose condition depends on data.
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class BranchesTest : public OperatorTest {
 protected:
  using Results = std::function<std::vector<Value>()>;

  std::vector<Tensor> Run(const GraphProto& graph, std::span<const Tensor>) override {
    std::vector<Tensor> results;
    for (const Value v : (&graph == then_.get() ? yes_ : no_)()) {
      results.push_back({v, TypeFor(v->dtype.scalar()), nullptr});
    }
    return results;
  }

  std::vector<Value> If(bool condition, Results yes, Results no, size_t outputs) {
    const Value c = Input(Array{{1}, {condition ? 1.0 : 0.0}, Scalar::kBool});
    return If(c, std::move(yes), std::move(no), outputs);
  }

  std::vector<Value> If(Value c, Results yes, Results no, size_t outputs) {
    yes_ = std::move(yes);
    no_ = std::move(no);
    Attribute then_branch = Attr("then_branch", 0), else_branch = Attr("else_branch", 0);
    then_branch.graph = then_;
    else_branch.graph = else_;
    return Import("If", 18, {c}, {then_branch, else_branch}, outputs);
  }

  std::shared_ptr<GraphProto> then_ = std::make_shared<GraphProto>(),
                              else_ = std::make_shared<GraphProto>();
  Results yes_, no_;
};

// A branch of much work is a loop that runs once or not at all.
TEST_F(BranchesTest, OneOfThemRuns) {
  for (const bool condition : {true, false}) {
    const Array x = Random({50, 40}), w = Random({40, 50});
    const Value a = Input(x), b = Input(w);
    const std::vector<Value> y = If(
        condition,
        [&] {
          return std::vector<Value>{g_->MatMul(a, b), a};
        },
        [&] {
          return std::vector<Value>{g_->Neg(g_->MatMul(g_->Exp(a), b)), g_->Add(a, a)};
        },
        2);
    ASSERT_EQ(error_, "");
    const auto expect = [&](const Ints& at) {
      double sum = 0;
      for (int64_t k = 0; k < 40; ++k) {
        sum += condition ? x({at[0], k}) * w({k, at[1]}) : -std::exp(x({at[0], k})) * w({k, at[1]});
      }
      return sum;
    };
    ExpectElements(y[0], {50, 50}, expect, 1e-6);
    EXPECT_EQ(CountNodes(Op::kRepeat), 2);
    // What only the branches need is not computed outside of them.
    EXPECT_EQ(CountNodes(Op::kReduceAxis), 0);
    ExpectElements(y[1], {50, 40}, [&](const Ints& at) { return x(at) * (condition ? 1 : 2); });
  }
}

TEST_F(BranchesTest, BothRunWhereThatIsLessThanToWait) {
  const Array x = Random({5});
  const Value a = Input(x);
  const std::vector<Value> y = If(
      false, [&] { return std::vector<Value>{g_->Neg(a)}; },
      [&] { return std::vector<Value>{g_->Add(a, a)}; }, 1);
  ExpectElements(y[0], {5}, [&](const Ints& at) { return 2 * x(at); });
  EXPECT_EQ(CountNodes(Op::kRepeat), 0);
}

TEST_F(BranchesTest, OfDifferentShapes) {
  for (const bool condition : {true, false}) {
    const Array x = Random({6, 4});
    const Value a = Input(x);
    const Value y = If(
        condition, [&] { return std::vector<Value>{g_->Slice(a, 0, 1, 3)}; },
        [&] { return std::vector<Value>{g_->Neg(g_->Slice(a, 1, 2, 3))}; }, 1)[0];
    ASSERT_EQ(error_, "");
    const auto value = [&](const Ints& at) {
      return condition ? x({at[0] + 1, at[1]}) : -x({at[0], 2});
    };
    ExpectElements(y, condition ? Ints{2, 4} : Ints{6, 1}, value);
    // What follows has the shape of the branch.
    ExpectElements(g_->Sum(y, {0}), {condition ? 4 : 1}, [&](const Ints& at) {
      double sum = 0;
      for (int64_t i = 0; i < (condition ? 2 : 6); ++i) sum += value({i, at[0]});
      return sum;
    });
  }
}

TEST_F(BranchesTest, RefusesOtherTypesAndRanks) {
  const Value a = Input(Random({6, 4}));
  const std::string why =
      "branches whose results differ in type or rank, under a condition that depends on data";
  If(
      true, [&] { return std::vector<Value>{a}; },
      [&] { return std::vector<Value>{g_->Cast(a, Scalar::kI32)}; }, 1);
  EXPECT_EQ(error_, why);
  If(
      true, [&] { return std::vector<Value>{a}; },
      [&] { return std::vector<Value>{g_->Reshape(a, {Dim(24)})}; }, 1);
  EXPECT_EQ(error_, why);
}

// An axis of (n - 3) / 4 elements goes where it has one. Only sizes remain that take the branch of
// the one that is given, or of the greatest.
TEST_F(BranchesTest, ASizeDecidesWhereRanksDiffer) {
  struct Case {
    int64_t max, given, least, most;
    bool drops;
  };
  for (const Case& c : {Case{40, 8, 7, 10, true}, Case{40, 0, 11, 40, false},
                        Case{9, 0, 7, 9, true}, Case{40, 100, 11, 40, false}}) {
    const std::string var = "n" + std::to_string(c.max) + "." + std::to_string(c.given);
    const Array x = Random({c.drops ? 8 : 12, 3});
    const Value a = SymbolicInput(x, var, c.max);
    if (c.given) g_->GiveSize(var, c.given);
    const Dim n = g_->ShapeOf(a)[0];
    const Dim few = g_->FloorDivDim(g_->SubDim(n, 3), 4);
    const Value part = g_->Slice(a, 0, 0, few);
    const Value is_one = Import(
        "Equal", 13, {g_->DimVector(Scalar::kI64, {few}), g_->Constant1D(Scalar::kI64, {1})})[0];
    const Value y = If(
        is_one, [&] { return std::vector<Value>{g_->Squeeze(part, 0)}; },
        [&] { return std::vector<Value>{g_->Neg(part)}; }, 1)[0];
    ASSERT_EQ(error_, "");
    EXPECT_EQ(module_.FindVar(var)->min, c.least);
    EXPECT_EQ(module_.FindVar(var)->max, c.most);
    if (c.drops) {
      ExpectElements(y, {3}, [&](const Ints& at) { return x({0, at[0]}); });
    } else {
      ExpectElements(y, {2, 3}, [&](const Ints& at) { return -x(at); });
    }
  }
}

}  // namespace
}  // namespace tg::onnx
