#include "passes/kernelize/requirements.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/op_groups.h"
#include "ir/walk.h"
#include "passes/analysis/dim_proof.h"
#include "passes/simplify/simplify.h"

namespace tg::kernelize {
namespace {

class Collector {
 public:
  Collector(Module& module, const Body& body, ShapeMap& shapes)
      : module_(module),
        body_(body),
        shapes_(shapes),
        ctx_(*body.context),
        simplify_(ctx_, &module) {}

  void Run(UOpSpan order) {
    order_ = order;
    for (const UOp* u : order) {
      node_ = u;
      if (IsElementwise(u->op)) {
        Elementwise(u);
        continue;
      }
      if (IsMovement(u->op)) Movement(u);
      if (u->op == Op::kSink) Sink(u);
      if (u->op == Op::kAssign && !IsCall(u->src(1)->op)) {
        Same(shapes_.Of(u->src(0)), shapes_.Of(u->src(1)));
      }
    }
  }

 private:
  void Movement(const UOp* u) {
    switch (MovementOp(u->op)) {
      case MovementOp::kReshape:
        Equal(Count(shapes_.Of(u->src(0))), Count(shapes_.Of(u)));
        break;
      case MovementOp::kExpand:
      case MovementOp::kBroadcast:
        Broadcast(shapes_.Of(u->src(0)), shapes_.Of(u));
        break;
      case MovementOp::kPad:
        for (const auto& [before, after] : PairsOf(u)) {
          AtMost(0, before);
          AtMost(0, after);
        }
        break;
      case MovementOp::kShrink:
        Shrink(u);
        break;
      case MovementOp::kPermute:
      case MovementOp::kFlip:
      case MovementOp::kView:  // whoever made it has checked its source
        break;
    }
  }

  void Elementwise(const UOp* u) {
    const Shape* first = nullptr;
    for (const UOp* s : u->srcs()) {
      const Shape& shape = shapes_.Of(s);
      if (shape.empty()) continue;
      if (first && first != &shape) Same(*first, shape);
      if (!first) first = &shape;
    }
  }

  void Shrink(const UOp* u) {
    const Shape& from = shapes_.Of(u->src(0));
    const auto bounds = PairsOf(u);
    for (size_t i = 0; i < bounds.size(); ++i) {
      AtMost(0, bounds[i].first);
      AtMost(bounds[i].first, bounds[i].second);
      AtMost(bounds[i].second, from[i]);
    }
  }

  void Sink(const UOp* u) {
    const auto targets = u->list();
    for (size_t i = 0; i < targets.size(); ++i) {
      if (!targets[i]) continue;
      const BufferDecl* decl = module_.FindBuffer(ctx_.String(static_cast<StringId>(targets[i])));
      Shape declared;
      for (const DeclDim& d : decl->shape) declared.push_back(d.In(ctx_));
      Same(declared, shapes_.Of(u->src(i)));
    }
  }

  void Same(const Shape& a, const Shape& b) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) Equal(a[i], b[i]);
  }

  // Axes are aligned at the end.
  void Broadcast(const Shape& from, const Shape& to) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (!from[i].Is(1)) Equal(from[i], to[to.size() - from.size() + i]);
    }
  }

  Dim Count(const Shape& shape) {
    Dim n = 1;
    for (const Dim& d : shape) n = MulDims(ctx_, n, d);
    return n;
  }

  void Equal(const Dim& a, const Dim& b) {
    if (a != b && (a.is_symbolic() || b.is_symbolic())) Add(true, a, b);
  }

  void AtMost(const Dim& a, const Dim& b) {
    if (a != b && (a.is_symbolic() || b.is_symbolic())) Add(false, a, b);
  }

  void Add(bool is_equality, const Dim& a, const Dim& b) {
    if (!known_.insert({is_equality, {DimNode(ctx_, a), DimNode(ctx_, b)}}).second) return;
    const UOp* left = simplify_(DimNode(ctx_, a));
    const UOp* right = simplify_(DimNode(ctx_, b));
    if (left == right) return;
    std::optional<DimExpr> l = DimExpr::FromNode(ctx_, left), r = DimExpr::FromNode(ctx_, right);
    // A number that the graph computes or binds has no name that a condition of the module could
    // use.
    if (!l || !r) return;
    if (is_equality ? analysis::AreAlwaysEqual(*l, *r) : analysis::IsAlwaysAtMost(module_, *l, *r))
      return;
    Requirement made = {is_equality, *std::move(l), *std::move(r), What(), body_.side.loc(node_)};
    for (const Requirement& other : module_.requirements) {
      if (other.is_equality == is_equality && other.left == made.left &&
          other.right == made.right) {
        return;
      }
    }
    module_.requirements.push_back(std::move(made));
  }

  // The text for a node: its name, or that of the first node with a name that uses it, since
  // importers make several nodes of one operation.
  std::string What() const {
    if (body_.side.name(node_) || body_.side.loc(node_).line) return body_.Describe(node_);
    NodeSet users;
    users.Insert(node_);
    for (const UOp* u : order_) {
      if (std::none_of(u->srcs().begin(), u->srcs().end(),
                       [&](const UOp* s) { return users.Contains(s); })) {
        continue;
      }
      if (body_.side.name(u)) return body_.Describe(u);
      users.Insert(u);
    }
    return body_.Describe(node_);
  }

  Module& module_;
  const Body& body_;
  ShapeMap& shapes_;
  Context& ctx_;
  simplify::Simplifier simplify_;
  std::set<std::pair<bool, std::pair<const UOp*, const UOp*>>> known_;
  UOpSpan order_;
  const UOp* node_ = nullptr;
};

}  // namespace

void AddRequirements(Module& module, const Body& body, ShapeMap& shapes, UOpSpan order) {
  if (module.vars.empty()) return;
  Collector(module, body, shapes).Run(order);
}

}  // namespace tg::kernelize
