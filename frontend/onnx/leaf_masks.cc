#include "frontend/onnx/leaf_masks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "ir/value.h"

namespace tg::onnx {
namespace {

// A step of a walk waits for gathers, where conditions are compared one after the other, for as
// many rows at once as vectors have lanes.
constexpr int64_t kConditionsPerStep = 32, kRows = 16;

struct Comparison {
  double sign, split;
  bool swaps;  // it holds where the node's condition does not
};

// sign * x <= split, which does not hold for NaN.
std::optional<Comparison> ComparisonOf(const Forest::Node& node, Scalar type) {
  const bool is_double = type == Scalar::kF64;
  const double split = is_double ? node.split : static_cast<double>(static_cast<float>(node.split));
  const bool missing = node.missing_is_true;
  const bool is_below = node.branch == Branch::kLeq || node.branch == Branch::kLt;
  const bool is_equal = node.branch == Branch::kLeq || node.branch == Branch::kGte;
  if (!is_below && node.branch != Branch::kGte && node.branch != Branch::kGt) return std::nullopt;
  if (std::isnan(split)) return std::nullopt;
  // The comparison, or where a missing number takes the branch for yes its opposite.
  const double sign = is_below != missing ? 1 : -1;
  double limit = sign * split;
  if (is_equal == missing) {
    // Less than a number: at most the one before. Nothing is less than the least one.
    const double infinity = std::numeric_limits<double>::infinity();
    const auto before = [&] {
      return is_double ? std::nextafter(limit, -infinity)
                       : static_cast<double>(std::nextafter(static_cast<float>(limit),
                                                            static_cast<float>(-infinity)));
    };
    const double smallest = is_double ? std::numeric_limits<double>::min()
                                      : static_cast<double>(std::numeric_limits<float>::min());
    limit = limit == -infinity ? std::numeric_limits<double>::quiet_NaN() : before();
    // Devices may read a subnormal number as 0.
    if (limit != 0 && std::abs(limit) < smallest) return std::nullopt;
  }
  return Comparison{sign, limit, missing};
}

// A tree's leaves in order, and the range of leaves on the left of each inner node.
struct Tree {
  struct Inner {
    LeafMasks::Condition condition;
    int64_t begin = 0, end = 0;
  };
  std::vector<int64_t> leaves;
  std::vector<Inner> inner;
};

std::optional<Tree> TreeFrom(const Forest& f, int64_t root, Scalar type) {
  Tree tree;
  // Nodes to visit. A second visit is between the branches of a node, of that number in `inner`.
  std::vector<std::pair<int64_t, int64_t>> stack = {{root, -1}};
  while (!stack.empty()) {
    const auto [at, inner] = stack.back();
    stack.pop_back();
    const auto here = static_cast<int64_t>(tree.leaves.size());
    if (inner >= 0) {
      tree.inner[static_cast<size_t>(inner)].end = here;
      continue;
    }
    const Forest::Node& node = f.nodes[static_cast<size_t>(at)];
    if (node.is_leaf) {
      tree.leaves.push_back(at);
      continue;
    }
    // A node that is visited twice has two parents.
    if (tree.inner.size() + tree.leaves.size() >= f.nodes.size()) return std::nullopt;
    const auto comparison = ComparisonOf(node, type);
    if (!comparison) return std::nullopt;
    stack.emplace_back(comparison->swaps ? node.yes : node.no, -1);
    stack.emplace_back(at, static_cast<int64_t>(tree.inner.size()));
    stack.emplace_back(comparison->swaps ? node.no : node.yes, -1);
    tree.inner.push_back({{node.feature, comparison->sign, comparison->split, -1}, here, 0});
  }
  return tree;
}

}  // namespace

std::optional<LeafMasks> MaskLeaves(const Forest& f, int64_t depth, const Dim& rows, Scalar type) {
  LeafMasks masks;
  masks.bits = type == Scalar::kF64 ? 64 : 32;
  masks.trees = static_cast<int64_t>(f.roots.size());
  std::vector<Tree> trees;
  size_t most_leaves = 1, nodes = 0;
  for (const int64_t root : f.roots) {
    std::optional<Tree> tree = TreeFrom(f, root, type);
    if (!tree) return std::nullopt;
    most_leaves = std::max(most_leaves, tree->leaves.size());
    nodes += tree->inner.size() + tree->leaves.size();
    if (nodes > f.nodes.size()) return std::nullopt;
    trees.push_back(*std::move(tree));
  }
  masks.words = (static_cast<int64_t>(most_leaves) + masks.bits - 1) / masks.bits;
  std::vector<std::vector<LeafMasks::Condition>> of_word;
  for (Tree& tree : trees) {
    for (int64_t w = 0; w < masks.words; ++w) {
      auto& conditions = of_word.emplace_back();
      for (const Tree::Inner& inner : tree.inner) {
        const int64_t begin = std::max(inner.begin - w * masks.bits, int64_t{0});
        const int64_t end = std::min(inner.end - w * masks.bits, masks.bits);
        if (begin >= end) continue;
        const uint64_t ones = end - begin == 64 ? ~0ull : (1ull << (end - begin)) - 1;
        conditions.push_back(inner.condition);
        conditions.back().mask = static_cast<int64_t>(~(ones << begin));
      }
      masks.per_word = std::max(masks.per_word, static_cast<int64_t>(conditions.size()));
    }
    masks.leaves.push_back(std::move(tree.leaves));
  }
  const int64_t count = masks.trees * masks.words * masks.per_word;
  const int64_t lanes = rows.is_symbolic() ? kRows : std::min(rows.value(), kRows);
  const int64_t most = kConditionsPerStep * lanes * masks.trees * depth;
  if (count == 0 || count > std::min(most, kMaxTableElements)) return std::nullopt;
  for (auto& conditions : of_word) {
    conditions.resize(static_cast<size_t>(masks.per_word));
    masks.conditions.insert(masks.conditions.end(), conditions.begin(), conditions.end());
  }
  return masks;
}

Value FindLeaves(GraphBuilder& g, const LeafMasks& masks, Value x) {
  if (!x) return nullptr;
  const Scalar type = x->dtype.scalar();
  const Scalar word = masks.bits == 64 ? Scalar::kI64 : Scalar::kI32;
  const auto count = static_cast<int64_t>(masks.conditions.size());
  const auto table = [&](Scalar scalar, const Ints& shape, const auto& entry) {
    Ints bits;
    for (const LeafMasks::Condition& c : masks.conditions) {
      if constexpr (std::is_same_v<decltype(entry(c)), double>) {
        bits.push_back(BitsFromDouble(scalar, entry(c)));
      } else {
        bits.push_back(WrapInt(scalar, entry(c)));
      }
    }
    return g.Constant(scalar, shape, std::move(bits));
  };
  const Ints one_row = {masks.trees, masks.words, masks.per_word, 1};
  // Rows are lanes.
  Value lanes = g.Stored(g.Permute(x, {1, 0}));
  const auto is_negated = [](const LeafMasks::Condition& c) { return c.sign < 0; };
  const bool negates = std::any_of(masks.conditions.begin(), masks.conditions.end(), is_negated);
  const Value features =
      table(Scalar::kI32, {count}, [](const LeafMasks::Condition& c) { return c.feature; });
  Value values = g.Reshape(g.Gather(lanes, features, 0), {Dim(masks.trees), Dim(masks.words),
                                                          Dim(masks.per_word), g.Extent(x, 0)});
  if (negates) {
    values =
        g.Mul(values, table(type, one_row, [](const LeafMasks::Condition& c) { return c.sign; }));
  }
  const Value holds =
      g.Le(values, table(type, one_row, [](const LeafMasks::Condition& c) { return c.split; }));
  const Value remaining =
      g.Where(holds, g.ConstInt(word, -1),
              table(word, one_row, [](const LeafMasks::Condition& c) { return c.mask; }));
  const Value leaves = g.Reduce(Op::kAnd, remaining, {2});  // [trees, words, rows]
  // The number of the lowest bit is the exponent of that bit as a float, also where it is the sign.
  const Value lowest = g.And(leaves, g.Neg(leaves));
  const Value exponent =
      word == Scalar::kI64
          ? g.Sub(g.And(g.ir().Alu(Op::kShr, {g.Bitcast(g.Cast(lowest, Scalar::kF64), word),
                                              g.ConstInt(word, 52)}),
                        g.ConstInt(word, 0x7ff)),
                  g.ConstInt(word, 1023))
          : g.Sub(g.And(g.ir().Alu(Op::kShr, {g.Bitcast(g.Cast(lowest, Scalar::kF32), word),
                                              g.ConstInt(word, 23)}),
                        g.ConstInt(word, 0xff)),
                  g.ConstInt(word, 127));
  const Value place = g.Cast(exponent, Scalar::kI32);
  if (masks.words == 1) return g.Reshape(place, {Dim(masks.trees), g.Extent(x, 0)});
  // Of the words that have a leaf left, the first.
  const Value before =
      g.Reshape(g.Mul(g.Arange(Scalar::kI32, masks.words), g.ConstInt(Scalar::kI32, masks.bits)),
                {Dim(1), Dim(masks.words), Dim(1)});
  const Value none = g.ConstInt(Scalar::kI32, masks.words * masks.bits);
  const Value is_empty = g.Eq(leaves, g.ConstInt(word, 0));
  return g.Reduce(Op::kMin, g.Where(is_empty, none, g.Add(place, before)), {1});
}

}  // namespace tg::onnx
