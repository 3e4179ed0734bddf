#include "passes/gradient/reverse_mode.h"

#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "ir/tuple.h"
#include "ir/walk.h"
#include "passes/gradient/rules.h"

namespace tg::gradient {
namespace {

using rules_table::kRules;
constexpr size_t kNumRules = std::tuple_size_v<std::remove_cvref_t<decltype(kRules)>>;

// A row of the table. `apply` returns false where the pattern does not match.
struct Row {
  Op op;
  RuleKind kind;
  bool (*apply)(GradientGraph& g, const UOp* u, const UOp* dy, size_t source, const UOp*& result);
};

template <size_t kRow>
bool Apply(GradientGraph& g, const UOp* u, const UOp* dy, size_t source, const UOp*& result) {
  constexpr const auto& rule = std::get<kRow>(kRules);
  using R = std::remove_cvref_t<decltype(rule)>;
  if constexpr (std::is_same_v<R, FunctionRule>) {
    result = rule.fn(g, u, dy, source);
    return true;
  } else if constexpr (std::is_same_v<R, RefusedRule>) {
    result = g.Refuse(rule.reason);
    return true;
  } else {
    Bindings names{.b = g.b, .type = u->dtype};
    if (!rule.Matches(u, names)) return false;
    names.var[4] = dy;
    names.var[5] = u;
    result = rule.Derivative(source, names);
    return true;
  }
}

template <size_t kRow>
constexpr Row MakeRow() {
  constexpr const auto& rule = std::get<kRow>(kRules);
  using R = std::remove_cvref_t<decltype(rule)>;
  if constexpr (std::is_same_v<R, FunctionRule>) {
    return {rule.op, RuleKind::kFunction, &Apply<kRow>};
  } else if constexpr (std::is_same_v<R, RefusedRule>) {
    return {rule.op, RuleKind::kRefused, &Apply<kRow>};
  } else {
    return {R::kOp, RuleKind::kPattern, &Apply<kRow>};
  }
}

constexpr auto kRows = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<Row, kNumRules>{MakeRow<I>()...};
}
(std::make_index_sequence<kNumRules>());

// Gives a derivative of an elementwise op the shape of the source: scalars broadcast.
const UOp* FitToScalar(GradientGraph& g, const UOp* derivative, const UOp* source) {
  const Shape& from = g.shapes.Of(derivative);
  const Shape& to = g.shapes.Of(source);
  if (from.empty() == to.empty()) return derivative;
  if (from.empty()) return g.b.Broadcast(derivative, to);
  std::vector<int64_t> axes(from.size());
  std::iota(axes.begin(), axes.end(), 0);
  return g.b.Reshape(g.b.ReduceAxis(derivative, Op::kAdd, axes), {});
}

bool IsElementwiseRule(Op op) { return IsElementwise(op) || IsIdentity(op); }

const UOp* Derivative(GradientGraph& g, const UOp* u, const UOp* dy, size_t source) {
  const UOp* result = nullptr;
  for (const Row& row : kRows) {
    if (row.op == u->op && row.apply(g, u, dy, source, result)) {
      return result && IsElementwiseRule(u->op) ? FitToScalar(g, result, u->src(source)) : result;
    }
  }
  return g.Refuse("there is no rule for it");
}

// The nodes that a gradient reaches: those of floats that depend on a node of `wrt`.
NodeSet NodesBetween(UOpSpan order, UOpSpan wrt) {
  NodeSet between;
  for (const UOp* u : wrt) between.Insert(u);
  for (const UOp* u : order) {
    // Calls and sinks have no value, but what they are given matters to whoever reads their
    // results.
    if (!(u->dtype.is_float() || u->dtype.is_void()) || u->op == Op::kDetach) continue;
    for (const UOp* s : u->srcs()) {
      if (!between.Contains(s)) continue;
      between.Insert(u);
      break;
    }
  }
  return between;
}

}  // namespace

absl::StatusOr<std::vector<const UOp*>> Gradients(const Module& module, Body& body, const UOp* of,
                                                  UOpSpan wrt) {
  TG_CHECK(of->dtype.is_float());
  GradientGraph g(module, body);
  const std::vector<const UOp*> order = OrderOutsideTuples(of);
  const NodeSet between = NodesBetween(order, wrt);
  NodeMap<const UOp*> gradients;
  const UOp* one = g.b.Const(of->dtype, 1);
  gradients[of] = g.shapes.Of(of).empty() ? one : g.b.Broadcast(one, g.shapes.Of(of));
  for (auto u = order.rbegin(); u != order.rend(); ++u) {
    const UOp* dy = gradients.Get(*u);
    if (!dy || !between.Contains(*u)) continue;
    const uint32_t first = body.context->num_nodes();
    for (size_t i = 0; i < (*u)->num_srcs; ++i) {
      const UOp* s = (*u)->src(i);
      if (!between.Contains(s)) continue;
      const UOp* derivative = Derivative(g, *u, dy, i);
      if (!g.refusal.empty()) {
        return InvalidArgument(body.Describe(*u), " has no derivative: ", g.refusal);
      }
      if (!derivative) continue;
      const UOp* sum = gradients.Get(s);
      gradients[s] = sum ? g.b.Add(sum, derivative) : derivative;
    }
    if (const StringId origin = body.side.origin(*u)) {
      const std::string text = Cat("gradient of ", body.context->String(origin));
      body.SetOrigin(first, body.context->Intern(text));
    }
  }
  std::vector<const UOp*> result;
  for (const UOp* u : wrt) result.push_back(gradients.Get(u));
  return result;
}

RuleKind KindOfRule(Op op) {
  if (!GetOpInfo(op).LegalIn(Stage::kTensor)) return RuleKind::kNoGraphs;
  for (const Row& row : kRows) {
    if (row.op == op) return row.kind;
  }
  const OpInfo& info = GetOpInfo(op);
  const bool has_floats = info.AllowsClass('f') && info.type_rule != TypeRule::kCmp;
  const bool is_address =
      op == Op::kVar || op == Op::kBind || op == Op::kIota || op == Op::kSink;  // index, or void
  return has_floats || (info.classes.empty() && !is_address) ? RuleKind::kMissing
                                                             : RuleKind::kNoFloats;
}

}  // namespace tg::gradient
