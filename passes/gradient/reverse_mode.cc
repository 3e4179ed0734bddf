#include "passes/gradient/reverse_mode.h"

#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "ir/tuple.h"
#include "ir/walk.h"
#include "passes/gradient/recompute.h"
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

// Whether `u` masks the bits of an integer: its highest one remains, or all but that one.
bool MasksBits(const UOp* u, bool highest_remains) {
  if (u->op != Op::kAnd || !u->dtype.is_int()) return false;
  const int unused = 64 - BitWidth(u->dtype.scalar());
  const uint64_t highest = uint64_t{1} << 63;
  for (const UOp* s : u->srcs()) {
    const UOp* constant = UniformConstant(s);
    if (!constant) continue;
    const uint64_t mask = static_cast<uint64_t>(constant->word()) << unused;
    if (mask == (highest_remains ? highest : (highest - 1) >> unused << unused)) return true;
  }
  return false;
}

// The x whose magnitude `u` is: its bits without that of the sign. Null if `u` is something else.
const UOp* MagnitudeOf(const UOp* u) {
  if (u->op != Op::kBitcast || !u->dtype.is_float()) return nullptr;
  const UOp* masked = u->src(0);
  if (!MasksBits(masked, false)) return nullptr;
  for (const UOp* s : masked->srcs()) {
    if (s->op == Op::kBitcast && s->src(0)->dtype == u->dtype) return s->src(0);
  }
  return nullptr;
}

// Of |x|: dy, or -dy where x is negative, and 0 at 0.
const UOp* OfMagnitude(GradientGraph& g, const UOp* x, const UOp* dy) {
  const UOp* zero = g.b.Const(x->dtype, 0);
  const UOp* right = g.b.Where(g.b.Lt(zero, x), dy, zero);
  return g.b.Where(g.b.Lt(x, zero), g.b.Alu(Op::kNeg, {dy}), right);
}

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

// The nodes that a gradient reaches: those of floats that depend on a node of `wrt`, and integers
// that are the bits of such floats, so that a float that is made of them is refused. Comparisons,
// casts and the bit of the sign are constant but where they jump.
NodeSet NodesBetween(UOpSpan order, UOpSpan wrt) {
  NodeSet between;
  for (const UOp* u : wrt) between.Insert(u);
  for (const UOp* u : order) {
    if (u->op == Op::kDetach || u->dtype.is_bool()) continue;
    if (MasksBits(u, true)) continue;
    // Calls and sinks have no value, but what they are given matters to whoever reads their
    // results.
    for (const UOp* s : u->srcs()) {
      const bool jumps = u->op == Op::kCast && (u->dtype.is_int() || s->dtype.is_int());
      if (!between.Contains(s) || jumps) continue;
      between.Insert(u);
      break;
    }
  }
  return between;
}

}  // namespace

absl::StatusOr<std::vector<const UOp*>> Gradients(Module& module, Body& body, const UOp* of,
                                                  UOpSpan wrt, UOpSpan checkpoints) {
  TG_CHECK(of->dtype.is_float());
  GradientGraph g(module, body);
  const std::vector<const UOp*> order = OrderOutsideTuples(of);
  const NodeSet between = NodesBetween(order, wrt);
  Recomputation recomputation(module, body, order, checkpoints);
  NodeMap<const UOp*> gradients;
  const UOp* one = g.b.Const(of->dtype, 1);
  const auto add = [&](const UOp* to, const UOp* part) {
    const UOp* sum = gradients.Get(to);
    gradients[to] = sum ? g.b.Add(sum, part) : part;
  };
  gradients[of] = g.shapes.Of(of).empty() ? one : g.b.Broadcast(one, g.shapes.Of(of));
  for (auto u = order.rbegin(); u != order.rend(); ++u) {
    const UOp* dy = gradients.Get(*u);
    if (!dy || !between.Contains(*u)) continue;
    const uint32_t first = body.context->num_nodes();
    dy = recomputation.Reach(*u, dy);
    const UOp* again = recomputation.Again(*u);
    const UOp* x = MagnitudeOf(*u);
    if (x && between.Contains(x)) add(x, OfMagnitude(g, MagnitudeOf(again), dy));
    for (size_t i = 0; !x && i < (*u)->num_srcs; ++i) {
      const UOp* s = (*u)->src(i);
      if (!between.Contains(s)) continue;
      const UOp* derivative = Derivative(g, again, dy, i);
      if (!g.refusal.empty()) {
        return InvalidArgument(body.Describe(*u), " has no derivative: ", g.refusal);
      }
      if (derivative) add(s, derivative);
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
