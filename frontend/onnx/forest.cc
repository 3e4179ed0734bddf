#include "frontend/onnx/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/leaf_masks.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// A vector with entry(node) for each node of the forest.
template <typename F>
Value Table(GraphBuilder& g, const Forest& f, Scalar type, const F& entry) {
  Ints bits;
  for (const Forest::Node& n : f.nodes) {
    bits.push_back(BitsFromDouble(type, static_cast<double>(entry(n))));
  }
  return g.Constant(type, {static_cast<int64_t>(f.nodes.size())}, std::move(bits));
}

// How many steps from the roots to the deepest leaf; none, and an error, where they lead elsewhere.
std::optional<int64_t> DepthOf(GraphBuilder& g, const Forest& f) {
  const auto count = static_cast<int64_t>(f.nodes.size());
  Ints at = f.roots;
  for (int64_t depth = 0; depth <= count; ++depth) {
    Ints next;
    for (const int64_t i : at) {
      if (i < 0 || i >= count) {
        g.Fail(absl::StrCat("there is no node ", i));
        return std::nullopt;
      }
      const Forest::Node& n = f.nodes[static_cast<size_t>(i)];
      if (!n.is_leaf) next.insert(next.end(), {n.yes, n.no});
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.empty()) return depth;
    at = std::move(next);
  }
  g.Fail("nodes that form a cycle");
  return std::nullopt;
}

// Whether the branches for yes are taken from these nodes, for their features x.
Value Decide(GraphBuilder& g, const Forest& f, Value nodes, Value x) {
  const Scalar type = x->dtype.scalar();
  const auto entries = [&](Scalar scalar, const auto& entry) {
    return g.Gather(Table(g, f, scalar, entry), nodes, 0);
  };
  const Value split = entries(type, [](const Forest::Node& n) { return n.split; });
  const Value branch =
      entries(Scalar::kI32, [](const Forest::Node& n) { return static_cast<int>(n.branch); });
  Value yes = nullptr;
  const auto add = [&](Branch b, const auto& holds) {
    const bool occurs = std::any_of(f.nodes.begin(), f.nodes.end(), [b](const Forest::Node& n) {
      return n.branch == b && !n.is_leaf;
    });
    if (!occurs) return;
    const Value here =
        g.And(g.Eq(branch, g.ConstInt(Scalar::kI32, static_cast<int64_t>(b))), holds());
    yes = yes ? g.Or(yes, here) : here;
  };
  add(Branch::kLeq, [&] { return g.Le(x, split); });
  add(Branch::kLt, [&] { return g.Lt(x, split); });
  add(Branch::kGte, [&] { return g.Ge(x, split); });
  add(Branch::kGt, [&] { return g.Gt(x, split); });
  add(Branch::kEq, [&] { return g.Eq(x, split); });
  add(Branch::kNeq, [&] { return g.Ne(x, split); });
  add(Branch::kMember, [&] {
    size_t most = 0;
    for (const Forest::Node& n : f.nodes) most = std::max(most, n.members.size());
    Value found = g.ir().Bool(false);
    for (size_t k = 0; k < most; ++k) {
      // NaN equals nothing.
      const Value member = entries(type, [k](const Forest::Node& n) {
        return k < n.members.size() ? n.members[k] : std::numeric_limits<double>::quiet_NaN();
      });
      found = g.Or(found, g.Eq(x, member));
    }
    return found;
  });
  const auto takes_missing = [](const Forest::Node& n) { return n.missing_is_true; };
  if (std::any_of(f.nodes.begin(), f.nodes.end(), takes_missing)) {
    const Value takes = g.Ne(entries(Scalar::kI32, takes_missing), g.ConstInt(Scalar::kI32, 0));
    yes = g.Or(yes, g.And(takes, g.IsNan(x)));
  }
  return yes;
}

// The leaf of each tree for each row of x, [batch, trees], one level of all trees at a time.
Value Walk(GraphBuilder& g, const Forest& f, int64_t depth, Value x) {
  Value nodes = g.BroadcastTo(g.Unsqueeze(g.Constant1D(Scalar::kI64, f.roots), 0),
                              {g.Extent(x, 0), Dim(static_cast<int64_t>(f.roots.size()))});
  const auto entries = [&](const auto& entry) {
    return g.Gather(Table(g, f, Scalar::kI64, entry), nodes, 0);
  };
  for (int64_t i = 0; i < depth; ++i) {
    const Value features =
        g.GatherElements(x, entries([](const Forest::Node& n) { return n.feature; }), /*axis=*/1);
    if (!features) return nullptr;
    nodes =
        g.Where(Decide(g, f, nodes, features), entries([](const Forest::Node& n) { return n.yes; }),
                entries([](const Forest::Node& n) { return n.no; }));
  }
  return nodes;
}

}  // namespace

void Forest::AddLeaf() {
  Node& leaf = nodes.emplace_back();
  leaf.is_leaf = true;
  leaf.yes = leaf.no = static_cast<int64_t>(nodes.size()) - 1;
}

Value ScoreForest(GraphBuilder& g, const Forest& f, Value x, Aggregate aggregate) {
  if (!x) return nullptr;
  const auto num_nodes = std::max<int64_t>(static_cast<int64_t>(f.nodes.size()), 1);
  if (f.num_targets < 1 || f.num_targets > kMaxTableElements / num_nodes) {
    return g.Fail(absl::StrCat(f.num_targets, " targets of ", f.nodes.size(), " nodes"));
  }
  const auto depth = DepthOf(g, f);
  if (!depth) return nullptr;
  const Scalar type = x->dtype.scalar();
  const auto trees = static_cast<int64_t>(f.roots.size());
  // The score of a target that a leaf does not mention: 0, or for the aggregate min (max) the
  // greatest (least) finite number.
  double none = 0;
  const double most =
      type == Scalar::kF64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (aggregate == Aggregate::kMin) none = most;
  if (aggregate == Aggregate::kMax) none = -most;
  std::vector<double> table(f.nodes.size() * static_cast<size_t>(f.num_targets), none);
  for (const Forest::Weight& w : f.weights) {
    if (w.target < 0 || w.target >= f.num_targets || w.leaf < 0 ||
        w.leaf >= static_cast<int64_t>(f.nodes.size())) {
      return g.Fail(absl::StrCat("a weight of leaf ", w.leaf, " for target ", w.target));
    }
    double& at = table[static_cast<size_t>(w.leaf * f.num_targets + w.target)];
    at = at == none                     ? w.weight
         : aggregate == Aggregate::kMin ? std::min(at, w.weight)
         : aggregate == Aggregate::kMax ? std::max(at, w.weight)
                                        : at + w.weight;
  }
  // What is found is the number of a node, [batch, trees], or of one of the leaves of all trees one
  // behind the other, [trees, batch].
  const std::optional<LeafMasks> masks = MaskLeaves(f, *depth, g.Extent(x, 0), type);
  const int64_t trees_axis = masks ? 0 : 1;
  Value found = masks ? FindLeaves(g, *masks, x) : Walk(g, f, *depth, x);
  if (masks) {
    const auto targets = static_cast<size_t>(f.num_targets);
    std::vector<double> of_leaves;
    Ints first;
    for (const std::vector<int64_t>& leaves : masks->leaves) {
      first.push_back(static_cast<int64_t>(of_leaves.size() / targets));
      for (const int64_t leaf : leaves) {
        const auto row = table.begin() + leaf * f.num_targets;
        of_leaves.insert(of_leaves.end(), row, row + f.num_targets);
      }
    }
    table = std::move(of_leaves);
    found = g.Add(found, g.Reshape(g.Constant1D(Scalar::kI32, first), {Dim(trees), Dim(1)}));
  }
  Ints bits;
  for (const double v : table) bits.push_back(BitsFromDouble(type, v));
  const auto rows = static_cast<int64_t>(bits.size()) / f.num_targets;
  const Value weights = g.Constant(type, {rows, f.num_targets}, std::move(bits));
  // [batch, trees, targets], or [trees, batch, targets].
  const Value scores = g.Gather(weights, found, 0);
  if (aggregate == Aggregate::kMin) return g.Reduce(Op::kMin, scores, {trees_axis});
  if (aggregate == Aggregate::kMax) return g.Reduce(Op::kMax, scores, {trees_axis});
  const Value sum = g.Sum(scores, {trees_axis});
  return aggregate == Aggregate::kSum ? sum : g.Div(sum, g.Like(sum, static_cast<double>(trees)));
}

}  // namespace tg::onnx
