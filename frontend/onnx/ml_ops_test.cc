#include <cmath>
#include <limits>

#include "frontend/onnx/testing/run_node.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class MachineLearningTest : public OperatorTest {
 protected:
  Tensor Ints32(const Ints& shape, std::initializer_list<double> v) {
    return Make(ElementType::kInt32, shape, v);
  }
  Tensor Floats(const Ints& shape, std::initializer_list<double> v) {
    return Make(ElementType::kFloat, shape, v);
  }
};

// Unigrams 7 and 8, bigrams (7, 8) and (8, 8).
TEST_F(MachineLearningTest, CountsNGramsWithSkips) {
  const auto run = [&](int64_t skips, const char* mode) {
    Set("min_gram_length", int64_t{1});
    Set("max_gram_length", int64_t{2});
    Set("max_skip_count", skips);
    Set("mode", mode);
    Set("ngram_counts", Ints{0, 2});
    Set("ngram_indexes", Ints{3, 0, 1, 2});
    Set("pool_int64s", Ints{7, 8, 7, 8, 8, 8});
    Set("weights", std::vector<float>{1, 10, 100, 1000});
    return Elements(Build("TfIdfVectorizer", 9, {Ints32({4}, {7, 8, 8, 9})})[0]);
  };
  EXPECT_EQ(run(0, "TF"), (Numbers{2, 1, 1, 1}));
  // With one item between them 7 and 8 occur once more; single items count once.
  EXPECT_EQ(run(1, "TF"), (Numbers{2, 2, 1, 1}));
  EXPECT_EQ(run(9, "TF"), (Numbers{2, 2, 1, 1}));
  EXPECT_EQ(run(1, "IDF"), (Numbers{1, 10, 100, 1000}));
  EXPECT_EQ(run(1, "TFIDF"), (Numbers{2, 20, 100, 1000}));
}

class TreeTest : public MachineLearningTest {
 protected:
  // x[0] <= 1 ? 5 for target 0 : (x[1] > 2 ? 7 : 11) for target 1; then a tree that is one leaf.
  void SetTrees() {
    Set("nodes_truenodeids", Ints{0, 1, 3});
    Set("nodes_trueleafs", Ints{1, 1, 1});
    Set("nodes_falsenodeids", Ints{1, 2, 3});
    Set("nodes_falseleafs", Ints{0, 1, 1});
    Set("nodes_featureids", Ints{0, 1, 0});
    Set("nodes_modes", std::vector<float>{0, 3, 0});
    Set("nodes_splits", std::vector<float>{1, 2, 0});
    Set("nodes_missing_value_tracks_true", Ints{1, 0, 0});
    Set("leaf_targetids", Ints{0, 1, 1, 1});
    Set("leaf_weights", std::vector<float>{5, 7, 11, 100});
    Set("tree_roots", Ints{0, 2});
    Set("n_targets", int64_t{2});
  }
  Numbers Run(const Tensor& x) {
    return Elements(Build("TreeEnsemble", 5, {x}, 1, "ai.onnx.ml")[0]);
  }
};

TEST_F(TreeTest, DescendsToLeaves) {
  const Tensor x = Floats({4, 2}, {1, 0, 1.5, 2.5, 1.5, 2, kNan, 3});
  SetTrees();
  EXPECT_EQ(Run(x), (Numbers{5, 100, 0, 107, 0, 111, 5, 100}));
  SetTrees();
  Set("aggregate_function", int64_t{0});
  EXPECT_EQ(Run(Floats({1, 2}, {1.5, 2.5})), (Numbers{0, 53.5}));
  SetTrees();
  Set("aggregate_function", int64_t{2});
  EXPECT_EQ(Run(Floats({1, 2}, {1.5, 2.5}))[1], 7);
}

TEST_F(TreeTest, RefusesNodesThatAreNoTree) {
  Set("nodes_truenodeids", Ints{0});
  Set("nodes_trueleafs", Ints{0});
  Set("nodes_falsenodeids", Ints{0});
  Set("nodes_falseleafs", Ints{1});
  Set("nodes_featureids", Ints{0});
  Set("nodes_modes", std::vector<float>{0});
  Set("nodes_splits", std::vector<float>{0});
  Set("leaf_targetids", Ints{0});
  Set("leaf_weights", std::vector<float>{1});
  Set("tree_roots", Ints{0});
  Run(Floats({1, 1}, {0}));
  EXPECT_EQ(error_, "nodes that form a cycle");
}

TEST_F(TreeTest, RefusesTablesWithoutEnd) {
  SetTrees();
  attributes_.back() = Attr("n_targets", int64_t{1} << 60);
  Run(Floats({1, 2}, {0, 0}));
  EXPECT_EQ(error_, "1152921504606846976 targets of 7 nodes");
}

// Expected values are ONNX Runtime's.
class ClassifierTest : public MachineLearningTest {
 protected:
  // The labels, then the scores.
  Numbers Classify(std::string_view op, const Tensor& x) {
    const auto results = Build(op, 3, {x}, 2, "ai.onnx.ml");
    EXPECT_EQ(error_, "");
    Numbers numbers = Elements(results[0]);
    for (const double v : Elements(results[1])) numbers.push_back(v);
    return numbers;
  }
  // x[0] <= 0 ? low : high.
  void SetStump(float low, float high, std::string_view transform) {
    Set("nodes_treeids", Ints{0, 0, 0});
    Set("nodes_nodeids", Ints{0, 1, 2});
    Set("nodes_featureids", Ints{0, 0, 0});
    Set("nodes_values", std::vector<float>{0, 0, 0});
    Set("nodes_modes", std::vector<std::string_view>{"BRANCH_LEQ", "LEAF", "LEAF"});
    Set("nodes_truenodeids", Ints{1, 0, 0});
    Set("nodes_falsenodeids", Ints{2, 0, 0});
    Set("class_treeids", Ints{0, 0});
    Set("class_nodeids", Ints{1, 2});
    Set("class_ids", Ints{0, 0});
    Set("class_weights", std::vector<float>{low, high});
    Set("classlabels_int64s", Ints{5, 7});
    Set("post_transform", transform);
  }
  void SetLine(std::string_view transform) {
    Set("coefficients", std::vector<float>{1, 0});
    Set("intercepts", std::vector<float>{0.5f});
    Set("classlabels_ints", Ints{5, 7});
    Set("post_transform", transform);
  }
};

TEST_F(ClassifierTest, OneScoreDecidesBetweenTwoClasses) {
  const Tensor x = Floats({2, 2}, {-2, 1, 3, -1});
  SetLine("NONE");
  EXPECT_EQ(Classify("LinearClassifier", x), (Numbers{5, 7, 2.5, -1.5, -2.5, 3.5}));
  SetLine("LOGISTIC");
  EXPECT_NEAR(Classify("LinearClassifier", x)[2], 1 / (1 + std::exp(-1.5)), 1e-6);
  SetStump(-0.25f, 0.75f, "NONE");
  EXPECT_EQ(Classify("TreeEnsembleClassifier", x), (Numbers{5, 7, 0.25, -0.25, -0.75, 0.75}));
  // Weights that may be probabilities.
  SetStump(0.25f, 0.75f, "NONE");
  EXPECT_EQ(Classify("TreeEnsembleClassifier", x), (Numbers{5, 7, 0.75, 0.25, 0.25, 0.75}));
  SetStump(0.25f, 0.375f, "NONE");
  Set("base_values", std::vector<float>{0.25f});
  EXPECT_EQ(Classify("TreeEnsembleClassifier", x), (Numbers{5, 7, 0.5, 0.5, 0.375, 0.625}));
}

TEST_F(ClassifierTest, TheGreatestOfSeveralScoresDecides) {
  Set("coefficients", std::vector<float>{1, 0, 0, 1, -1, -1});
  Set("intercepts", std::vector<float>{0, 0.5f, 0});
  Set("classlabels_ints", Ints{10, 20, 30});
  EXPECT_EQ(Classify("LinearClassifier", Floats({2, 2}, {2, 1, -1, -1})),
            (Numbers{10, 30, 2, 1.5, -3, -1, -0.5, 2}));
}

TEST_F(ClassifierTest, RefusesOtherNumbersOfLabels) {
  Set("coefficients", std::vector<float>{1, 0});
  Set("classlabels_ints", Ints{1, 2, 3});
  Build("LinearClassifier", 3, {Floats({1, 2}, {0, 0})}, 2, "ai.onnx.ml");
  EXPECT_EQ(error_, "one score for 3 labels");
}

}  // namespace
}  // namespace tg::onnx
