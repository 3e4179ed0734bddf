// Ensembles of decision trees as the standard writes them.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/classes.h"
#include "frontend/onnx/forest.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// The numbers of an attribute, which is a tensor or a list; none where it is left out.
std::optional<std::vector<double>> Numbers(NodeContext& c, std::string_view name) {
  const Attribute* a = c.Find(name);
  if (!a) return std::nullopt;
  if (!a->tensor) return std::vector<double>(a->floats.begin(), a->floats.end());
  const auto bits = Decode(*a->tensor);
  if (!bits.ok()) {
    c.Fail(std::string(bits.status().message()));
    return std::nullopt;
  }
  std::vector<double> numbers;
  for (const int64_t b : *bits) {
    const Scalar type = *ScalarFor(a->tensor->type);
    numbers.push_back(IsFloat(type) ? DoubleFromBits(type, b) : static_cast<double>(b));
  }
  return numbers;
}
// Older operators have doubles under another name.
std::optional<std::vector<double>> NumbersOrTensor(NodeContext& c, const std::string& name) {
  const auto doubles = Numbers(c, name + "_as_tensor");
  return doubles ? doubles : Numbers(c, name);
}

Value Features(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return nullptr;
  if (c.g.Rank(x) != 2) return c.Fail("an input that is no matrix");
  return x->dtype.scalar() == Scalar::kF64 ? x : c.g.Cast(x, Scalar::kF32);
}

void TreeEnsemble(NodeContext& c) {
  const Value x = Features(c);
  if (!x) return;
  const auto yes = c.List("nodes_truenodeids"), no = c.List("nodes_falsenodeids");
  const auto yes_leaf = c.List("nodes_trueleafs"), no_leaf = c.List("nodes_falseleafs");
  const auto features = c.List("nodes_featureids"), targets = c.List("leaf_targetids");
  const auto roots = c.List("tree_roots");
  const auto modes = Numbers(c, "nodes_modes"), splits = Numbers(c, "nodes_splits");
  const auto weights = Numbers(c, "leaf_weights"), members = Numbers(c, "membership_values");
  if (!c.g.ok()) return;
  if (!yes || !no || !yes_leaf || !no_leaf || !features || !targets || !roots || !modes ||
      !splits || !weights) {
    c.Fail("nodes, leaves or roots are missing");
    return;
  }
  const size_t n = yes->size(), leaves = weights->size();
  const Ints missing = c.List("nodes_missing_value_tracks_true").value_or(Ints(n, 0));
  if (no->size() != n || yes_leaf->size() != n || no_leaf->size() != n || features->size() != n ||
      modes->size() != n || splits->size() != n || missing.size() != n ||
      targets->size() != leaves || roots->empty()) {
    c.Fail("lists of different lengths");
    return;
  }
  Forest f;
  f.num_targets = c.Int("n_targets", 1);
  f.roots = *roots;
  // Nodes and leaves are numbered separately.
  const auto branch = [&](int64_t id, int64_t is_leaf) {
    if (is_leaf) return id + static_cast<int64_t>(n);
    if (id >= static_cast<int64_t>(n)) c.Fail(absl::StrCat("there is no node ", id));
    return id;
  };
  size_t next_member = 0;
  for (size_t i = 0; i < n; ++i) {
    Forest::Node& node = f.nodes.emplace_back();
    node.yes = branch((*yes)[i], (*yes_leaf)[i]);
    node.no = branch((*no)[i], (*no_leaf)[i]);
    node.feature = (*features)[i];
    node.branch = static_cast<Branch>((*modes)[i]);
    node.split = (*splits)[i];
    node.missing_is_true = missing[i] != 0;
    if (node.branch != Branch::kMember) continue;
    // Sets follow one another, each with NaN behind it.
    while (members && next_member < members->size() && !std::isnan((*members)[next_member])) {
      node.members.push_back((*members)[next_member++]);
    }
    ++next_member;
  }
  for (size_t i = 0; i < leaves; ++i) {
    f.AddLeaf();
    f.weights.push_back({static_cast<int64_t>(n + i), (*targets)[i], (*weights)[i]});
  }
  if (!c.g.ok()) return;
  const int64_t aggregate = c.Int("aggregate_function", 1), transform = c.Int("post_transform", 0);
  static constexpr std::string_view kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                     "PROBIT"};
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) {
    c.Fail(absl::StrCat("aggregate_function ", aggregate, ", post_transform ", transform));
    return;
  }
  c.Return(TransformScores(c, ScoreForest(c.g, f, x, static_cast<Aggregate>(aggregate)),
                           kTransforms[transform]));
}

std::optional<Branch> BranchNamed(std::string_view name) {
  static constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Branch>(found - std::begin(kNames));
}

// The forest of the older operators. Their nodes are numbered within each tree, and the weights of
// the leaves are in the lists `<what>_treeids`, `_nodeids`, `_ids` and `_weights`.
std::optional<Forest> OlderForest(NodeContext& c, const std::string& what, int64_t num_targets) {
  const auto trees = c.List("nodes_treeids"), ids = c.List("nodes_nodeids");
  const auto yes = c.List("nodes_truenodeids"), no = c.List("nodes_falsenodeids");
  const auto features = c.List("nodes_featureids");
  const auto splits = NumbersOrTensor(c, "nodes_values");
  const Attribute* modes = c.Find("nodes_modes", AttributeType::kStrings);
  const auto leaf_trees = c.List(what + "_treeids"), leaf_ids = c.List(what + "_nodeids");
  const auto targets = c.List(what + "_ids");
  const auto weights = NumbersOrTensor(c, what + "_weights");
  if (!c.g.ok()) return std::nullopt;
  if (!trees || !ids || !yes || !no || !features || !splits || !modes || !leaf_trees || !leaf_ids ||
      !targets || !weights) {
    c.Fail("nodes or leaves are missing");
    return std::nullopt;
  }
  const size_t n = trees->size(), num_weights = weights->size();
  const Ints missing = c.List("nodes_missing_value_tracks_true").value_or(Ints(n, 0));
  if (ids->size() != n || yes->size() != n || no->size() != n || features->size() != n ||
      splits->size() != n || modes->strings.size() != n || missing.size() != n ||
      leaf_trees->size() != num_weights || leaf_ids->size() != num_weights ||
      targets->size() != num_weights) {
    c.Fail("lists of different lengths");
    return std::nullopt;
  }
  Forest f;
  f.num_targets = num_targets;
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < n; ++i) {
    // A tree's first node is its root.
    if (i == 0 || (*trees)[i] != (*trees)[i - 1]) f.roots.push_back(static_cast<int64_t>(i));
    places[{(*trees)[i], (*ids)[i]}] = static_cast<int64_t>(i);
  }
  const auto place = [&](int64_t tree, int64_t id) {
    const auto found = places.find({tree, id});
    if (found != places.end()) return found->second;
    c.Fail(absl::StrCat("there is no node ", id, " in tree ", tree));
    return int64_t{0};
  };
  for (size_t i = 0; i < n; ++i) {
    if (modes->strings[i] == "LEAF") {
      f.AddLeaf();
      continue;
    }
    const auto branch = BranchNamed(modes->strings[i]);
    if (!branch) {
      c.Fail("the branch '" + std::string(modes->strings[i]) + "'");
      return std::nullopt;
    }
    const int64_t t = (*trees)[i];
    f.nodes.push_back({(*features)[i],
                       *branch,
                       (*splits)[i],
                       {},
                       missing[i] != 0,
                       place(t, (*yes)[i]),
                       place(t, (*no)[i])});
  }
  for (size_t i = 0; i < num_weights; ++i) {
    f.weights.push_back({place((*leaf_trees)[i], (*leaf_ids)[i]), (*targets)[i], (*weights)[i]});
  }
  return c.g.ok() ? std::optional(std::move(f)) : std::nullopt;
}

Value AddBase(NodeContext& c, Value scores) {
  const auto base = NumbersOrTensor(c, "base_values");
  if (!scores || !base || base->empty()) return scores;
  const Scalar type = scores->dtype.scalar();
  Ints bits;
  for (const double v : *base) bits.push_back(BitsFromDouble(type, v));
  const auto n = static_cast<int64_t>(bits.size());
  if (n != 1 && !c.g.Extent(scores, 1).Is(n)) {
    return c.Fail(absl::StrCat(n, " base values for the scores ", c.g.Describe(scores)));
  }
  return c.g.Add(scores, c.g.Constant(type, {n}, std::move(bits)));
}

void TreeEnsembleRegressor(NodeContext& c) {
  const Value x = Features(c);
  const auto f = OlderForest(c, "target", c.Int("n_targets", 1));
  if (!x || !f) return;
  static constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string_view name = c.String("aggregate_function", "SUM");
  const auto* const found = std::find(std::begin(kAggregates), std::end(kAggregates), name);
  if (found == std::end(kAggregates)) {
    c.Fail("aggregate_function '" + std::string(name) + "'");
    return;
  }
  const Value y =
      AddBase(c, ScoreForest(c.g, *f, x, static_cast<Aggregate>(found - std::begin(kAggregates))));
  c.Return(c.g.Cast(TransformScores(c, y, c.String("post_transform", "NONE")), Scalar::kF32));
}

void TreeEnsembleClassifier(NodeContext& c) {
  const Value x = Features(c);
  const Ints labels = c.List("classlabels_int64s").value_or(Ints());
  const Attribute* text = c.Find("classlabels_strings", AttributeType::kStrings);
  const size_t count = text && labels.empty() ? text->strings.size() : labels.size();
  const Ints ids = c.List("class_ids").value_or(Ints());
  const bool is_single =
      count == 2 && std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
  auto f = OlderForest(c, "class", is_single ? 1 : static_cast<int64_t>(count));
  if (!x || !f) return;
  bool is_positive = true;
  for (Forest::Weight& w : f->weights) {
    if (is_single) w.target = 0;
    is_positive &= w.weight >= 0;
  }
  const Value scores = AddBase(c, ScoreForest(c.g, *f, x, Aggregate::kSum));
  // Weights that are probabilities are not negative.
  ReturnClasses(c, scores, labels, {is_positive ? 0.5 : 0, is_positive});
}

constexpr Operator kTreeOperators[] = {
    {"ai.onnx.ml", "TreeEnsemble", 5, TreeEnsemble},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 1, TreeEnsembleClassifier},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 1, TreeEnsembleRegressor},
};

}  // namespace

std::span<const Operator> TreeOperators() { return kTreeOperators; }

}  // namespace tg::onnx
