// If: conditions that are known are resolved at import, and those of sizes where the branches
// differ in rank.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/common/loop_builder.h"
#include "frontend/onnx/graph_importer.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

// The branches of an If whose condition is known in the run only.
class Branches {
 public:
  explicit Branches(NodeContext& c) : c_(c), g_(c.g) {}

  bool Build() {
    first_ = NumNodes();
    yes_ = c_.RunSubgraph("then_branch", {});
    if (!g_.ok()) return false;
    middle_ = NumNodes();
    no_ = c_.RunSubgraph("else_branch", {});
    if (!g_.ok()) return false;
    last_ = NumNodes();
    const size_t results = std::min(yes_.size(), no_.size());
    for (size_t i = 0; i < results; ++i) {
      const Value a = yes_[i].value, b = no_[i].value;
      if (!a || !b || a->dtype != b->dtype || g_.Rank(a) != g_.Rank(b)) {
        c_.Fail(
            "branches whose results differ in type or rank, under a condition that depends on "
            "data");
        return false;
      }
      same_shapes_ = same_shapes_ && g_.ShapeOf(a) == g_.ShapeOf(b);
    }
    yes_.resize(results);
    no_.resize(results);
    return true;
  }

  // Sets the node's results.
  void Return(Value condition) {
    if (!same_shapes_ || !AreSmall()) {
      if (ReturnOne(condition) || !same_shapes_) return;
      // What no loop can hold is computed in any case.
      g_.ClearError();
    }
    // Branches have no effects, so both can be computed.
    for (size_t i = 0; i < yes_.size(); ++i) {
      c_.Return(g_.Where(condition, yes_[i].value, no_[i].value), i, yes_[i].type);
    }
  }

 private:
  uint32_t NumNodes() const { return g_.ir().context().num_nodes(); }

  // Whether both branches take less than to wait for the condition.
  bool AreSmall() {
    constexpr int64_t kSmall = int64_t{1} << 16;  // elements
    int64_t elements = 0;
    for (uint32_t id = first_; id < last_; ++id) {
      const UOp* u = g_.ir().context().node(id);
      if (u->op == Op::kRepeat) return false;
      if (u->op != Op::kReduceAxis && !IsElementwise(u->op)) continue;
      const Shape& shape = g_.ShapeOf(u->op == Op::kReduceAxis ? u->src(0) : u);
      const std::optional<int64_t> n = g_.Greatest(g_.NumElements(shape));
      if (!n || *n > kSmall) return false;
      if ((elements += *n) > kSmall) return false;
    }
    return true;
  }

  // Each branch is a loop that runs once or not at all, and writes the results over those of the
  // other one.
  bool ReturnOne(Value condition) {
    const std::string name(c_.node.outputs[0]);
    const Dim taken = g_.Measure(g_.Cast(condition, Scalar::kI64), name + ".condition", 0, 1);
    std::vector<Value> values;
    std::vector<Shape> wide;
    for (const Tensor& t : yes_) {
      wide.push_back(WideShape(values.size()));
      if (!g_.ok()) return false;
      values.push_back(g_.Full(wide.back(), g_.Like(t.value, 0)));
    }
    for (const bool is_then : {true, false}) {
      frontend::LoopBuilder loop(g_, is_then ? "If.then" : "If.else",
                                 is_then ? taken : g_.SubDim(1, taken));
      for (size_t i = 0; i < values.size(); ++i) {
        if (!loop.AddState(values[i])) return false;
        loop.SetNext(i, Widened((is_then ? yes_ : no_)[i].value, wide[i]));
      }
      loop.SetInside(is_then ? first_ : middle_, is_then ? middle_ : last_);
      if (!g_.ok() || !loop.Finish(NodeName(c_.node))) return false;
      for (size_t i = 0; i < values.size(); ++i) values[i] = loop.Last(i);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      c_.Return(Narrowed(condition, values[i], i), i, yes_[i].type);
    }
    return g_.ok();
  }

  // A shape that the result has in neither branch more of.
  Shape WideShape(size_t i) {
    Shape shape = g_.ShapeOf(yes_[i].value);
    const Shape& other = g_.ShapeOf(no_[i].value);
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] == other[k]) continue;
      const auto a = g_.Greatest(shape[k]), b = g_.Greatest(other[k]);
      if (!a || !b) g_.Fail("branches with a result whose extent has no known bound");
      shape[k] = std::max(a.value_or(1), b.value_or(1));
    }
    return shape;
  }

  Value Widened(Value x, const Shape& wide) {
    const Shape shape = g_.ShapeOf(x);
    std::vector<std::pair<Dim, Dim>> widths;
    for (size_t k = 0; k < shape.size(); ++k) {
      widths.emplace_back(0, shape[k] == wide[k] ? Dim(0) : g_.SubDim(wide[k], shape[k]));
    }
    return shape == wide ? x : g_.Pad(x, widths);
  }

  // The extents in which the branches differ are measured.
  Value Narrowed(Value condition, Value x, size_t i) {
    const Shape yes = g_.ShapeOf(yes_[i].value), no = g_.ShapeOf(no_[i].value);
    for (size_t k = 0; k < yes.size(); ++k) {
      if (yes[k] == no[k]) continue;
      const Value extent =
          g_.Where(condition, g_.DimValue(Scalar::kI64, yes[k]), g_.DimValue(Scalar::kI64, no[k]));
      const auto axis = static_cast<int64_t>(k);
      x = g_.Slice(x, axis, 0, c_.Measure(extent, axis, i, g_.Greatest(g_.Extent(x, axis))));
    }
    return x;
  }

  NodeContext& c_;
  GraphBuilder& g_;
  std::vector<Tensor> yes_, no_;
  uint32_t first_ = 0, middle_ = 0, last_ = 0;  // the nodes of the branches, by number
  bool same_shapes_ = true;
};

void ReturnBranch(NodeContext& c, bool condition) {
  const std::vector<Tensor> results = c.RunSubgraph(condition ? "then_branch" : "else_branch", {});
  for (size_t i = 0; i < results.size(); ++i) c.Return(results[i], i);
}

void If(NodeContext& c) {
  const Value condition = c.In(0);
  if (!condition) return;
  // A condition that follows from the contents of a given input is resolved too, because perhaps
  // only one branch accepts that input.
  const auto known = c.g.KnownInts(condition, /*with_inputs=*/true);
  if (known && known->size() == 1) {
    ReturnBranch(c, (*known)[0] != 0);
    return;
  }
  Branches branches(c);
  if (branches.Build()) {
    branches.Return(c.g.Reshape(condition, {}));
    return;
  }
  // No sizes take both branches, perhaps because one drops an axis that must be of extent 1.
  const std::string why = c.g.error();
  c.g.ClearError();
  if (const std::optional<bool> decided = c.g.DecideBySize(condition)) {
    ReturnBranch(c, *decided);
  } else {
    c.g.Fail(why);
  }
}

constexpr Operator kBranchOperators[] = {{"", "If", 1, If}};

}  // namespace

std::span<const Operator> BranchOperators() { return kBranchOperators; }

}  // namespace tg::onnx
