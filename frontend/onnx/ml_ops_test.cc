#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

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

// Random trees, compared with a walk: of a few leaves, of several words, with all comparisons,
// missing numbers, equal ones and infinities.
class ForestTest : public TreeTest {
 protected:
  struct Node {
    int64_t feature, mode, missing;
    double split;
    int64_t yes, no;  // leaves from -1 down
  };

  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }

  // A tree of `count` inner nodes at random places.
  void AddTree(int64_t count, int64_t modes) {
    roots_.push_back(static_cast<int64_t>(nodes_.size()));
    for (int64_t i = 0; i < count; ++i) {
      const auto here = static_cast<int64_t>(nodes_.size());
      while (i > 0) {
        Node& parent = nodes_[static_cast<size_t>(roots_.back() + Below(i))];
        int64_t& child = Below(2) ? parent.yes : parent.no;
        if (child >= 0) continue;
        child = here;
        break;
      }
      const double split = Below(12) == 0 ? kInfinity : static_cast<double>(Below(9)) / 4 - 0.75;
      nodes_.push_back({Below(3), Below(modes), Below(2), split, -1, -1});
    }
  }

  // The scores of the rows, one target, of 3 features each.
  std::vector<double> Scores(const std::vector<double>& x) {
    Ints yes, yes_leaf, no, no_leaf, features, missing, targets;
    std::vector<float> modes, splits, weights;
    for (const Node& node : nodes_) {
      for (const bool is_yes : {true, false}) {
        const int64_t to = is_yes ? node.yes : node.no;
        (is_yes ? yes_leaf : no_leaf).push_back(to < 0);
        (is_yes ? yes : no).push_back(to < 0 ? static_cast<int64_t>(weights.size()) : to);
        if (to >= 0) continue;
        weights.push_back(static_cast<float>(Below(1000)));
        targets.push_back(0);
      }
      features.push_back(node.feature);
      missing.push_back(node.missing);
      modes.push_back(static_cast<float>(node.mode));
      splits.push_back(static_cast<float>(node.split));
    }
    std::vector<double> scores;
    for (size_t row = 0; row * 3 < x.size(); ++row) {
      double sum = 0;
      for (int64_t at : roots_) {
        while (true) {
          const Node& node = nodes_[static_cast<size_t>(at)];
          const double v = x[row * 3 + static_cast<size_t>(node.feature)], s = node.split;
          const bool holds[] = {v <= s, v<s, v >= s, v> s, v == s, v != s};
          const bool takes = std::isnan(v) ? node.missing || node.mode == 5 : holds[node.mode];
          const auto i = static_cast<size_t>(at);
          at = takes ? yes[i] : no[i];
          if (takes ? yes_leaf[i] : no_leaf[i]) break;
        }
        sum += static_cast<double>(weights[static_cast<size_t>(at)]);
      }
      scores.push_back(sum);
    }
    Set("nodes_truenodeids", yes);
    Set("nodes_trueleafs", yes_leaf);
    Set("nodes_falsenodeids", no);
    Set("nodes_falseleafs", no_leaf);
    Set("nodes_featureids", features);
    Set("nodes_modes", modes);
    Set("nodes_splits", splits);
    Set("nodes_missing_value_tracks_true", missing);
    Set("leaf_targetids", targets);
    Set("leaf_weights", weights);
    Set("tree_roots", roots_);
    return scores;
  }

  int64_t CountConjunctions() {
    int64_t count = 0;
    for (uint32_t i = 0; i < g_->ir().context().num_nodes(); ++i) {
      const UOp* u = g_->ir().context().node(i);
      count += u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == Op::kAnd;
    }
    return count;
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 rng_{7};
  std::vector<Node> nodes_;
  Ints roots_;
};

TEST_F(ForestTest, EndsWhereAWalkEnds) {
  std::vector<double> x;
  for (int i = 0; i < 3 * 24; ++i) {
    const int64_t kind = Below(10);
    x.push_back(kind == 0   ? kNan
                : kind == 1 ? (Below(2) ? kInfinity : -kInfinity)
                            : static_cast<double>(Below(17)) / 8 - 1);
  }
  for (const int64_t nodes : {1, 5, 32, 63, 70}) {
    for (const int64_t modes : {1, 4, 6}) {
      nodes_.clear();
      roots_.clear();
      for (int i = 0; i < 2; ++i) AddTree(std::max<int64_t>(1, nodes - i), modes);
      // A split of 0 makes subnormal numbers of some comparisons.
      for (Node& node : nodes_) node.split += 0.125;
      for (const ElementType type : {ElementType::kFloat, ElementType::kDouble}) {
        const int64_t before = CountConjunctions();
        const std::vector<double> expected = Scores(x);
        EXPECT_EQ(Run(Make(type, {24, 3}, x)), expected) << nodes << " nodes, " << modes;
        EXPECT_EQ(error_, "");
        EXPECT_TRUE(CountConjunctions() > before || modes == 6) << nodes << " nodes";
      }
    }
  }
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
