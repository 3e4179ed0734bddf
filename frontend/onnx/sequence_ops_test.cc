#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

class SequenceTest : public OperatorTest {
 protected:
  Tensor One(double v) { return Make(ElementType::kFloat, {1}, {v}); }
  Tensor Int(double v) { return Make(ElementType::kInt64, {}, {v}); }
  Tensor Run(const char* op, std::vector<Tensor> inputs) { return Build(op, 16, inputs)[0]; }
  // The first elements of a sequence's tensors.
  Numbers Firsts(const Tensor& t) {
    Numbers all;
    if (t.sequence) {
      for (const Tensor& e : *t.sequence) all.push_back(Elements(e).at(0));
    }
    return all;
  }
};

TEST_F(SequenceTest, InsertsAndErasesByPosition) {
  const Tensor s = Run("SequenceConstruct", {One(1), One(2), One(3)});
  EXPECT_EQ(Elements(Run("SequenceLength", {s})), (Numbers{3}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9)})), (Numbers{1, 2, 3, 9}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9), Int(-1)})), (Numbers{1, 2, 9, 3}));
  EXPECT_EQ(Firsts(Run("SequenceInsert", {s, One(9), Int(3)})), (Numbers{1, 2, 3, 9}));
  EXPECT_EQ(Firsts(Run("SequenceErase", {s})), (Numbers{1, 2}));
  EXPECT_EQ(Firsts(Run("SequenceErase", {s, Int(0)})), (Numbers{2, 3}));
  EXPECT_EQ(Elements(Run("SequenceAt", {s, Int(-3)})), (Numbers{1}));
  // The sequence itself stays as it was.
  EXPECT_EQ(Firsts(s), (Numbers{1, 2, 3}));
}

TEST_F(SequenceTest, RefusesPositionsOutside) {
  const Tensor s = Run("SequenceConstruct", {One(1)});
  Run("SequenceAt", {s, Int(1)});
  EXPECT_EQ(error_, "position 1 in a sequence of 1 tensors");
  Run("SequenceInsert", {s, One(2), Int(2)});
  EXPECT_EQ(error_, "position 2 in a sequence of 1 tensors");
  Run("SequenceErase", {Run("SequenceEmpty", {})});
  EXPECT_EQ(error_, "an element of an empty sequence");
  Run("SequenceAt", {One(1), Int(0)});
  EXPECT_EQ(error_, "input 0 is no sequence");
}

TEST_F(SequenceTest, SplitsAndJoins) {
  const Tensor x = Make(ElementType::kFloat, {5}, {1, 2, 3, 4, 5});
  // One length for all: the last part is shorter.
  const Tensor pairs = Run("SplitToSequence", {x, Int(2)});
  EXPECT_EQ(Firsts(pairs), (Numbers{1, 3, 5}));
  EXPECT_EQ(Elements(Run("ConcatFromSequence", {pairs})), (Numbers{1, 2, 3, 4, 5}));
  const Tensor parts = Run("SplitToSequence", {x, Make(ElementType::kInt64, {2}, {4, 1})});
  EXPECT_EQ(Firsts(parts), (Numbers{1, 5}));
  Set("keepdims", int64_t{0});
  EXPECT_EQ(Shape(Run("SplitToSequence", {x}).sequence->at(0)), "[]");
  for (const auto& lengths : {Numbers{4, 2}, Numbers{2, 2}}) {
    Run("SplitToSequence", {x, Make(ElementType::kInt64, {2}, lengths)});
    EXPECT_EQ(error_, "parts that do not sum to the extent, 5");
  }
  const Tensor two = Run("SequenceConstruct", {One(1), One(2)});
  Set("new_axis", int64_t{1});
  Set("axis", int64_t{-1});
  const Tensor stacked = Run("ConcatFromSequence", {two});
  EXPECT_EQ(Shape(stacked), "[1, 2]");
}

TEST_F(SequenceTest, AnEmptyOptionalHasNoElement) {
  const Tensor empty = Run("Optional", {}), full = Run("Optional", {One(7)});
  EXPECT_EQ(Elements(Run("OptionalHasElement", {empty})), (Numbers{0}));
  EXPECT_EQ(Elements(Run("OptionalHasElement", {full})), (Numbers{1}));
  EXPECT_EQ(Elements(Run("OptionalGetElement", {full})), (Numbers{7}));
  Run("OptionalGetElement", {empty});
  EXPECT_EQ(error_, "the element of an empty optional");
}

}  // namespace
}  // namespace tg::onnx
