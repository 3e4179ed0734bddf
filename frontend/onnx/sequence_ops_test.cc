#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

using Numbers = std::vector<double>;

class SequenceTest : public testing::Test {
 protected:
  Tensor One(double v) { return r_.Make(ElementType::kFloat, {1}, {v}); }
  Tensor Int(double v) { return r_.Make(ElementType::kInt64, {}, {v}); }
  Tensor Run(const char* op, std::vector<Tensor> inputs) { return r_.Run(op, 16, inputs)[0]; }
  // The first elements of a sequence's tensors.
  Numbers Firsts(const Tensor& t) {
    Numbers all;
    if (t.sequence) {
      for (const Tensor& e : *t.sequence) all.push_back(r_.Numbers(e).at(0));
    }
    return all;
  }

  NodeRunner r_;
};

TEST_F(SequenceTest, InsertsAndErasesByPosition) {
  const Tensor s = Run("SequenceConstruct", {One(1), One(2), One(3)});
  EXPECT_EQ(r_.Numbers(Run("SequenceLength", {s})), (Numbers{3}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9)})), (Numbers{1, 2, 3, 9}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9), Int(-1)})), (Numbers{1, 2, 9, 3}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9), Int(3)})), (Numbers{1, 2, 3, 9}));
  EXPECT_EQ(Firsts(Run("SequenceErase", {s})), (Numbers{1, 2}));
  EXPECT_EQ(Firsts(Run("SequenceErase", {s, Int(0)})), (Numbers{2, 3}));
  EXPECT_EQ(r_.Numbers(Run("SequenceAt", {s, Int(-3)})), (Numbers{1}));
  // The sequence itself stays as it was.
  EXPECT_EQ(Firsts(s), (Numbers{1, 2, 3}));
}

TEST_F(SequenceTest, RefusesPositionsOutside) {
  const Tensor s = Run("SequenceConstruct", {One(1)});
  Run("SequenceAt", {s, Int(1)});
  EXPECT_EQ(r_.Error(), "position 1 in a sequence of 1 tensors");
  Run("SequenceInsert", {s, One(2), Int(2)});
  EXPECT_EQ(r_.Error(), "position 2 in a sequence of 1 tensors");
  Run("SequenceErase", {Run("SequenceEmpty", {})});
  EXPECT_EQ(r_.Error(), "an element of an empty sequence");
  Run("SequenceAt", {One(1), Int(0)});
  EXPECT_EQ(r_.Error(), "input 0 is no sequence");
}

TEST_F(SequenceTest, SplitsAndJoins) {
  const Tensor x = r_.Make(ElementType::kFloat, {5}, {1, 2, 3, 4, 5});
  // One length for all: the last part is shorter.
  const Tensor pairs = Run("SplitToSequence", {x, Int(2)});
  EXPECT_EQ(Firsts(pairs), (Numbers{1, 3, 5}));
  EXPECT_EQ(r_.Numbers(Run("ConcatFromSequence", {pairs})), (Numbers{1, 2, 3, 4, 5}));
  const Tensor parts = Run("SplitToSequence", {x, r_.Make(ElementType::kInt64, {2}, {4, 1})});
  EXPECT_EQ(Firsts(parts), (Numbers{1, 5}));
  r_.Set("keepdims", int64_t{0});
  EXPECT_EQ(r_.Shape(Run("SplitToSequence", {x}).sequence->at(0)), "[]");
  for (const auto& lengths : {Numbers{4, 2}, Numbers{2, 2}}) {
    Run("SplitToSequence", {x, r_.Make(ElementType::kInt64, {2}, lengths)});
    EXPECT_EQ(r_.Error(), "parts that do not sum to the extent, 5");
  }
  const Tensor two = Run("SequenceConstruct", {One(1), One(2)});
  r_.Set("new_axis", int64_t{1});
  r_.Set("axis", int64_t{-1});
  const Tensor stacked = Run("ConcatFromSequence", {two});
  EXPECT_EQ(r_.Shape(stacked), "[1, 2]");
}

TEST_F(SequenceTest, AnEmptyOptionalHasNoElement) {
  const Tensor empty = Run("Optional", {}), full = Run("Optional", {One(7)});
  EXPECT_EQ(r_.Numbers(Run("OptionalHasElement", {empty})), (Numbers{0}));
  EXPECT_EQ(r_.Numbers(Run("OptionalHasElement", {full})), (Numbers{1}));
  EXPECT_EQ(r_.Numbers(Run("OptionalGetElement", {full})), (Numbers{7}));
  Run("OptionalGetElement", {empty});
  EXPECT_EQ(r_.Error(), "the element of an empty optional");
}

}  // namespace
}  // namespace tg::onnx
