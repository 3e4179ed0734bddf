// Translator: predicates of values that are partly Invalid. tinygrad moves each op into
// where(predicate, x, Invalid) until the predicate reaches the store; this translator computes a
// node's predicate together with its value.
#include <algorithm>

#include "frontend/tinygrad/translator.h"
#include "ir/interpret/scalar.h"

namespace tg::tinygrad {

void Translator::FindUndefined() {
  const auto nodes = demand_.nodes();
  if (llvm::none_of(nodes, IsInvalid)) return;
  undefined_.resize(nodes.size());
  for (const Node* n : nodes) {
    const auto is_undefined = [&](size_t i) {
      return i < n->num_srcs && undefined_[n->src(i)->slot];
    };
    size_t count = 0;
    for (size_t i = 0; i < n->num_srcs; ++i) count += is_undefined(i);
    bool undefined = count > 0;
    switch (demand_.OpOf(n).cls) {
      case OpClass::kElementwise:
      case OpClass::kCompare:
      case OpClass::kCast:
        break;
      case OpClass::kWhere:
        undefined = is_undefined(0) || (is_undefined(1) && is_undefined(2));
        break;
      case OpClass::kStack:
      case OpClass::kVectorize:
      case OpClass::kCat:
        undefined = count > 0 && count == n->num_srcs;
        break;
      case OpClass::kMovement:
      case OpClass::kPass:
      case OpClass::kAlias:
      case OpClass::kCopy:
      case OpClass::kNothing:
      case OpClass::kReduce:
      case OpClass::kGep:
      case OpClass::kIndex:  // of a value: selects a lane
        undefined = is_undefined(0);
        break;
      default:
        undefined = IsInvalid(n);
    }
    undefined_[n->slot] = undefined;
  }
}

const UOp* Translator::Not(const Node& n, const UOp* a) {
  return a ? Emit(n, Op::kCmpNe, a->dtype, {a, b_.ConstInt(a->dtype, 1)}) : nullptr;
}

const UOp* Translator::Both(const Node& n, const UOp* a, const UOp* b) {
  if (!a || !b || a == b) return a ? a : b;
  if (a->dtype.lanes() == 1) a = b_.Splat(a, b->dtype.lanes());
  if (b->dtype.lanes() == 1) b = b_.Splat(b, a->dtype.lanes());
  if (a->dtype != b->dtype || !a->dtype.is_bool()) return Fail(n, "conditions of different types");
  Nodes srcs{a, b};
  return Broadcast(n, srcs) ? Emit(n, Op::kAnd, a->dtype, {srcs[0], srcs[1]}) : nullptr;
}

const UOp* Translator::SourcePredicate(const Node& n, size_t i) {
  if (IsUndefined(n.src(i))) return b_.Bool(false);
  const UOp* predicate = PredicateOf(n.src(i));
  return predicate ? predicate : b_.Bool(true);
}

const UOp* Translator::Defined(const Node& n, const UOp* predicate, const UOp* x,
                               const UOp* other) {
  if (!x || !other || !predicate) return x;
  Nodes srcs{predicate, x, other};
  if (predicate->dtype.lanes() == 1) srcs[0] = b_.Splat(predicate, x->dtype.lanes());
  if (!Broadcast(n, srcs)) return nullptr;
  return Emit(n, Op::kWhere, x->dtype, {srcs[0], srcs[1], srcs[2]});
}

const UOp* Translator::DefinedForReduce(const Node& n, Op op, const UOp* x) {
  if (!x || !PredicateOf(n.src(0))) return x;
  const UOp* identity = b_.ConstBits(x->dtype, interpret::ReduceIdentity(op, x->dtype.scalar()));
  return Defined(n, PredicateOf(n.src(0)), x, identity);
}

const UOp* Translator::FindPredicate(const Node& n, const UOp* u) {
  bool any = false;
  for (size_t i = 0; i < n.num_srcs; ++i) {
    any |= PredicateOf(n.src(i)) != nullptr || IsUndefined(n.src(i));
  }
  if (!any) return nullptr;
  const UOp* predicate = nullptr;
  switch (demand_.OpOf(&n).cls) {
    case OpClass::kElementwise:
    case OpClass::kCompare:
      for (size_t i = 0; i < n.num_srcs; ++i) {
        predicate = Both(n, predicate, PredicateOf(n.src(i)));
      }
      break;
    case OpClass::kWhere:
      predicate = WherePredicate(n);
      break;
    case OpClass::kCast:
      predicate = CastPredicate(n, u);
      break;
    case OpClass::kMovement:
      predicate = has_shapes_ ? MovedPredicate(n) : OtherPredicate(n, u);
      break;
    case OpClass::kAlias:
    case OpClass::kNothing:
      predicate = PredicateOf(n.src(0));
      break;
    default:
      predicate = OtherPredicate(n, u);
  }
  if (failed_ || !predicate || !has_shapes_ || ShapeOf(predicate).empty()) return predicate;
  return EmitBroadcast(n, predicate, ShapeOf(u));
}

const UOp* Translator::OtherPredicate(const Node& n, const UOp*) {
  return Fail(n, "of a value that is Invalid in part it is not read");
}

const UOp* Translator::WherePredicate(const Node& n) {
  const UOp* condition = Source(n, 0, kBool);
  const UOp *yes = SourcePredicate(n, 1), *no = SourcePredicate(n, 2);
  const UOp* chosen = nullptr;
  const auto is = [](const UOp* u, bool value) { return IsConst(u) && (u->word() != 0) == value; };
  if (is(yes, true) && is(no, false)) {
    chosen = condition;
  } else if (is(yes, false) && is(no, true)) {
    chosen = Not(n, condition);
  } else if (condition && !(is(yes, true) && is(no, true))) {
    const int lanes = condition->dtype.lanes();
    Nodes srcs{condition, yes, no};
    for (const UOp*& s : srcs) s = s->dtype.lanes() == 1 ? b_.Splat(s, lanes) : s;
    if (!Broadcast(n, srcs)) return nullptr;
    chosen = Emit(n, Op::kWhere, condition->dtype, {srcs[0], srcs[1], srcs[2]});
  }
  return Both(n, PredicateOf(n.src(0)), chosen);
}

// An element is defined if all elements that its bits come from are.
const UOp* Translator::CastPredicate(const Node& n, const UOp* u) {
  const UOp* predicate = PredicateOf(n.src(0));
  if (!predicate || !has_shapes_ || ShapeOf(predicate).empty()) return predicate;
  Shape from = ShapeOf(predicate), to = ShapeOf(u);
  if (from == to || from.empty() || to.empty()) return predicate;
  const int64_t before = from.back().value(), after = to.back().value();
  if (before > after) {
    Shape parts = to;
    parts.push_back(Dim(before / std::max<int64_t>(after, 1)));
    predicate = EmitReshape(n, predicate, parts);
    const auto axis = static_cast<int64_t>(to.size());
    const Attr attr = ctx_.MakeAttr(Op::kReduceAxis, {static_cast<int64_t>(Op::kAnd), 1, axis});
    return EmitReshape(n, Emit(n, Op::kReduceAxis, kBool, {predicate}, attr), to);
  }
  from.push_back(Dim(1));
  predicate = EmitReshape(n, predicate, from);
  from.back() = Dim(after / std::max<int64_t>(before, 1));
  return EmitReshape(n, EmitDims(n, Op::kExpand, predicate, from), to);
}

const UOp* Translator::MovedPredicate(const Node& n) {
  const UOp* predicate = PredicateOf(n.src(0));
  if (!predicate) return nullptr;
  if (demand_.OpOf(&n).op != Op::kPad) {
    return ShapeOf(predicate).empty() ? predicate : Moved(n, predicate);
  }
  // Padding is defined.
  const UOp* x = ValueOf(n.src(0), demand_.Types(n.src(0))[0]);
  return Not(n, Moved(n, Not(n, EmitBroadcast(n, predicate, ShapeOf(x)))));
}

}  // namespace tg::tinygrad
