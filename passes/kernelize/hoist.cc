#include "passes/kernelize/hoist.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/walk.h"
#include "passes/analysis/bounds.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/copy_nodes.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/gathers.h"
#include "passes/kernelize/placement.h"

namespace tg::kernelize {
namespace {

// Facts about a value that does not depend on any input.
struct Fixed {
  bool fixed = false;
  bool varies = false;  // differs by element: made of a param or of places
  double work = 0;      // operations an element, shared ones counted as often as they are used
  double bytes = 0;     // of the params it reads, each counted once for each way to it
  // The work and bytes that remain in each run if some sources are moved instead of this value.
  double remaining_work = 0, remaining_bytes = 0;
};

// `copy`: of a node in another body; may be null.
void CopyOrigin(const Body& from, const UOp* u, Body& to, const UOp* copy) {
  const StringId origin = from.side.origin(u);
  if (copy == nullptr || !origin || to.side.origin(copy)) return;
  to.side.SetOrigin(copy, to.context->Intern(from.context->String(origin)));
}

// The type in which a value is stored: for an integer the narrowest that holds all of its values.
DType StoredType(analysis::Bounds& bounds, const UOp* u) {
  if (!u->dtype.is_int()) return u->dtype;
  const analysis::Interval interval = bounds.Of(u);
  for (Scalar s : {Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16, Scalar::kI32}) {
    const analysis::Interval full = analysis::FullInterval(s);
    const bool fits = full.lo <= interval.lo && interval.hi <= full.hi;
    if (fits && ByteSize(s) < ByteSize(u->dtype.scalar())) return s;
  }
  return u->dtype;
}

// Finds the values that are worth moving: nodes of `order` (a prepared graph's, sources first).
class Chooser {
 public:
  Chooser(const Module& module, const Body& body, ShapeMap& shapes, const passes::Target& target,
          const Placement& placement, const NodeSet& fused, UOpSpan order)
      : body_(body),
        shapes_(shapes),
        target_(target),
        placement_(placement),
        fused_(fused),
        gathers_(module, *body.context, shapes),
        bounds_(*body.context, &module),
        order_(order) {
    for (const BufferDecl& decl : module.buffers) {
      if (decl.role == Role::kParam && !decl.dtype.is_image()) params_.insert(decl.name);
    }
    facts_.Reserve(body.context->num_nodes());
  }

  std::vector<const UOp*> Run() {
    bool any = false;
    for (const UOp* u : order_) any |= (facts_[u] = FactsOf(u)).varies;
    std::vector<const UOp*> chosen;
    if (!any) return chosen;
    gathers_.FindAll(order_);
    evaluations_.Reserve(body_.context->num_nodes());
    gathered_.Reserve(body_.context->num_nodes());
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const UOp* u = *it;
      if (!facts_.Get(u).fixed) {
        CountUses(u);
        continue;
      }
      const double evaluations = evaluations_.Get(u);
      if (evaluations == 0) continue;
      if (IsWorthMoving(u, evaluations)) {
        chosen.push_back(u);
        continue;
      }
      const double terms =
          u->op == Op::kReduceAxis ? Elements(u->src(0)) / std::max(1.0, Elements(u)) : 1;
      for (const UOp* s : u->srcs()) evaluations_[s] += evaluations * terms;
    }
    return chosen;
  }

 private:
  double Elements(const UOp* u) {
    double n = 1;
    for (const Dim& d : shapes_.Of(u)) n *= d.is_symbolic() ? 1 : static_cast<double>(d.value());
    return n;
  }
  double Bytes(const UOp* u) {
    return Elements(u) * static_cast<double>(ByteSize(u->dtype.scalar()));
  }

  double Seconds(double work, double bytes) const {
    return cost::ArithmeticSeconds(work, target_) + cost::TransferSeconds(bytes, target_);
  }

  // Counts evaluations of the sources of `u`, which depends on an input: of each element once, but
  // where only sums use them that need one term, once for each of those terms.
  void CountUses(const UOp* u) {
    const bool is_gather = gathers_.Is(u);
    const bool is_gathered = (IsElementwise(u->op) || IsMovement(u->op)) && gathered_.Get(u) > 0 &&
                             !used_whole_.Contains(u);
    for (const UOp* s : u->srcs()) {
      const double terms = is_gather ? Elements(u) : is_gathered ? gathered_.Get(u) : 0;
      if (terms > 0) {
        gathered_[s] += terms;
      } else {
        used_whole_.Insert(s);
      }
      if (!facts_.Get(s).fixed || u->op == Op::kSink) continue;
      evaluations_[s] += terms > 0 ? terms : Elements(s);
    }
  }

  // Whether the op requests separate memory.
  static bool IsMemory(const UOp* u) { return u->op == Op::kContiguous || u->op == Op::kCopy; }

  Fixed FactsOf(const UOp* u) {
    switch (u->op) {
      case Op::kConst:
        return {.fixed = true};
      case Op::kIota:
        return {.fixed = true, .varies = true};
      case Op::kBuffer: {
        if (!params_.contains(body_.context->String(static_cast<StringId>(u->word())))) return {};
        // A param under `fuse`: no value made of it may be stored.
        if (fused_.Contains(u)) return {};
        const double bytes = Bytes(u);
        return {.fixed = true, .varies = true, .bytes = bytes, .remaining_bytes = bytes};
      }
      default:
        break;
    }
    const bool reduce = u->op == Op::kReduceAxis;
    if (!reduce && !IsElementwise(u->op) && !IsMovement(u->op) && !IsMemory(u)) {
      return {};
    }
    Fixed out{.fixed = true, .work = IsElementwise(u->op) ? passes::OpWeight(u->op) : 0};
    for (const UOp* s : u->srcs()) {
      const Fixed& source = facts_.Get(s);
      if (!source.fixed) return {};
      out.varies |= source.varies;
      out.work = std::min(out.work + source.work, 1e12);
      out.bytes = std::min(out.bytes + source.bytes, 1e15);
    }
    SetRemaining(u, out);
    if (reduce) {
      out.work = std::min((out.work + 1) * Elements(u->src(0)) / std::max(1.0, Elements(u)), 1e12);
    }
    return out;
  }

  // A mask that compares two indices has an element for each pair of them. The compared values,
  // moved before they are expanded, have few elements.
  void SetRemaining(const UOp* u, Fixed& out) {
    if (!IsElementwise(u->op)) {
      out.remaining_work = 1e12;
      return;
    }
    out.remaining_work = passes::OpWeight(u->op);
    for (const UOp* s : u->srcs()) {
      while (IsMovement(s->op)) s = s->src(0);
      const Fixed& source = facts_.Get(s);
      const double bytes = Bytes(s);
      const double in_place = Seconds(Elements(u) * source.remaining_work, source.remaining_bytes);
      const bool moves = s->num_srcs != 0 && in_place > Seconds(0, bytes);
      out.remaining_work += moves ? 0 : source.remaining_work;
      out.remaining_bytes += moves ? bytes : source.remaining_bytes;
    }
    out.remaining_work = std::min(out.remaining_work, 1e12);
    out.remaining_bytes = std::min(out.remaining_bytes, 1e15);
  }

  // Whether `u`, which depends on no param, takes few operations on indices, counting each node
  // once.
  bool IsPlaceArithmetic(const UOp* u) {
    double work = 0;
    NodeSet seen;
    std::vector<const UOp*> stack = {u};
    while (!stack.empty() && work <= FreeIndexWeight(target_)) {
      const UOp* v = stack.back();
      stack.pop_back();
      if (!seen.Insert(v)) continue;
      if (v->op == Op::kReduceAxis) return false;
      if (IsElementwise(v->op)) work += passes::OpWeight(v->op);
      stack.insert(stack.end(), v->srcs().begin(), v->srcs().end());
    }
    return work <= FreeIndexWeight(target_);
  }

  bool IsWorthMoving(const UOp* u, double evaluations) {
    // A read through movement ops is a read of their source.
    if (u->num_srcs == 0 || IsMovement(u->op) || u->dtype.is_index() || u->dtype.is_void()) {
      return false;
    }
    if (fused_.Contains(u) || gathers_.MustBeInPlace(u)) return false;
    const bool is_static = IsStatic(shapes_.Of(u));
    if (!is_static || Elements(u) == 0) return false;
    if (placement_.IsEverywhere(u)) return false;
    if (IsMemory(u)) return true;
    const Fixed& fixed = facts_.Get(u);
    if (!fixed.varies || (fixed.bytes == 0 && IsPlaceArithmetic(u))) return false;
    const double in_place = Seconds(evaluations * fixed.work, fixed.bytes);
    const double remaining = Seconds(evaluations * fixed.remaining_work, fixed.remaining_bytes);
    const int64_t element = ByteSize(StoredType(bounds_, u).scalar());
    // What is cast to a wider type is moved before the cast, if at all. So are halves on a GPU,
    // which widens them in one instruction while it waits for memory.
    const DType from = u->num_srcs == 1 ? u->src(0)->dtype : u->dtype;
    const bool widens = u->dtype.is_float() ? target_.HidesWaits() && from.is_float() &&
                                                  ByteSize(from.scalar()) == 2
                                            : u->dtype.is_int() && from.is_int();
    if (u->op == Op::kCast && widens && ByteSize(from.scalar()) <= element) return false;
    return std::min(in_place, remaining) > Seconds(0, Elements(u) * static_cast<double>(element));
  }

  const Body& body_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  const Placement& placement_;
  const NodeSet& fused_;
  Gathers gathers_;
  analysis::Bounds bounds_;
  const UOpSpan order_;
  std::unordered_set<std::string_view> params_;
  NodeMap<Fixed> facts_;
  NodeMap<double> evaluations_;
  NodeMap<double> gathered_;  // of values that depend on an input: terms that gathers read
  NodeSet used_whole_;        // of these: not by gathers alone
};

}  // namespace

std::string Hoister::StateOf(const UOp* value, const Shape& shape, const std::string& device) {
  const auto [known, added] = number_.try_emplace({value, device}, moved_.size());
  if (!added) return moved_[known->second].state;
  BufferDecl decl;
  const auto taken = [&] { return module_.FindBuffer(decl.name) || module_.FindVar(decl.name); };
  for (size_t i = moved_.size();; ++i) {
    decl.name = absl::StrCat("k", i);
    if (!taken()) break;
  }
  decl.dtype = value->dtype;
  decl.role = Role::kState;
  decl.device = device;
  for (const Dim& d : shape) decl.shape.push_back({d.value(), ""});
  moved_.push_back({decl.name, value});
  module_.buffers.push_back(std::move(decl));
  return moved_.back().state;
}

void Hoister::Run(Graph& graph, ShapeMap& shapes, NodeSet& fused, std::string& remarks,
                  UOpSpan order) {
  Body& body = graph.body;
  Placement placement(module_, body, order);
  const std::vector<const UOp*> chosen =
      Chooser(module_, body, shapes, target_, placement, fused, order).Run();
  if (chosen.empty()) return;
  Builder b(*body.context);
  Builder init(*init_.context);
  analysis::Bounds bounds(*body.context, &module_);
  NodeMap<const UOp*> imported, map;
  for (const UOp* u : chosen) {
    const DType stored = StoredType(bounds, u);
    const UOp* value = CopyNodes(u, *body.context, *init_.context, imported);
    if (stored != u->dtype) value = init.Cast(value, stored);
    const std::string state = StateOf(value, shapes.Of(u), placement.Name(placement.Of(u)));
    map[u] = b.Buffer(state, stored);
    if (stored != u->dtype) map[u] = b.Cast(map[u], u->dtype);
    absl::StrAppend(&remarks, "kernelize: @", graph.name,
                    ": computed once, in @init: ", std::string(Mnemonic(u->op)), ", kept in @",
                    state, "\n");
  }
  std::vector<const UOp*> srcs;
  for (const UOp* u : order) {
    CopyOrigin(body, u, init_, imported.Get(u));
    if (map.Get(u)) continue;
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    map[u] = b.context().Rebuild(u, b.context(), srcs);
    body.CarryOver(u, map[u]);
    if (fused.Contains(u)) fused.Insert(map[u]);
  }
  body.root = map.Get(body.root);
}

void Hoister::Finish() {
  if (moved_.empty()) return;
  Graph* init = module_.FindGraph(kInitGraph);
  if (!init) {
    module_.graphs.push_back(std::make_unique<Graph>());
    init = module_.graphs.back().get();
    init->name = std::string(kInitGraph);
    init->body.root = Builder(*init->body.context).Sink({});
  }
  Context& context = *init->body.context;
  const UOp* sink = init->body.root;
  std::vector<const UOp*> values(sink->srcs().begin(), sink->srcs().end());
  std::vector<std::string_view> targets;
  for (int64_t target : sink->list()) {
    targets.push_back(target ? context.String(static_cast<StringId>(target)) : std::string_view());
  }
  targets.resize(values.size());
  NodeMap<const UOp*> imported;
  for (const Moved& m : moved_) {
    values.push_back(CopyNodes(m.value, *init_.context, context, imported));
    targets.push_back(m.state);
  }
  for (uint32_t id = 0; id < init_.context->num_nodes(); ++id) {
    const UOp* u = init_.context->node(id);
    CopyOrigin(init_, u, init->body, imported.Get(u));
  }
  init->body.root = Builder(context).Sink(values, targets);
}

}  // namespace tg::kernelize
