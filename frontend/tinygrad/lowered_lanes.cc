// LoweredTranslator: vectors.
#include "frontend/tinygrad/lowered_translator.h"

namespace tg::tinygrad {

// UNROLL(VCONST 0..n-1, ((axis, n),)) is the lane number.
const UOp* LoweredTranslator::Unroll(const Node& n, DType t) {
  const auto axes = n.arg.list();
  const auto axis = axes.size() == 1 ? axes[0].value.list() : std::span<const Item>();
  const auto counts = n.num_srcs == 1 ? n.src(0)->arg.list() : std::span<const Item>();
  bool counts_up = axis.size() == 2 && axis[0].value.kind == Kind::kInt &&
                   axis[1].value.kind == Kind::kInt &&
                   axis[1].value.number == static_cast<int64_t>(counts.size());
  for (size_t i = 0; counts_up && i < counts.size(); ++i) {
    counts_up =
        counts[i].value.kind == Kind::kInt && counts[i].value.number == static_cast<int64_t>(i);
  }
  if (!counts_up) return Fail(n, "an UNROLL of other values than 0, 1, ... along one axis");
  return Coordinate(n, b_.Unroll(axis[0].value.number, axis[1].value.number), t);
}

const UOp* LoweredTranslator::Contract(const Node& n, DType t) {
  const UOp* x = Source(n, 0, t);
  if (!x) return nullptr;
  std::vector<int64_t> words{static_cast<int64_t>(n.arg.list().size())};
  for (const Item& item : n.arg.list()) {
    const auto axis = item.value.list();
    if (axis.size() != 2 || axis[0].value.kind != Kind::kInt) return Fail(n, "expected axes");
    words.push_back(axis[0].value.number);
  }
  return Emit(n, Op::kContract, t, {x}, ctx_.MakeAttr(Op::kContract, words));
}

const UOp* LoweredTranslator::VConst(const Node& n, DType t) {
  std::vector<int64_t> bits;
  for (const Item& item : n.arg.list()) {
    Node lane = n;
    lane.arg = item.value;
    lane.num_srcs = 0;
    const UOp* c = EmitConst(lane, t.WithLanes(1));
    if (!c) return nullptr;
    bits.push_back(c->word());
  }
  if (bits.size() != static_cast<size_t>(t.lanes())) {
    return Fail(n, "it has " + std::to_string(bits.size()) + " values for " + t.ToString());
  }
  return b_.VConst(t, bits);
}

const UOp* LoweredTranslator::Gather(const Node& n, DType t, Op op) {
  Nodes srcs;
  for (size_t i = 0; i < n.num_srcs; ++i) {
    const bool undefined = IsUndefined(n.src(i)) && !t.is_memory();
    const UOp* s =
        undefined ? Zero(t.WithLanes(1)) : Source(n, i, t.is_memory() ? t : t.WithLanes(1));
    if (!s) return nullptr;
    srcs.push_back(s);
  }
  return Emit(n, op, t, {srcs.data(), srcs.size()});
}

// A vector of pointers holds one pointer n times; an index of n lanes takes the pointer itself.
const UOp* LoweredTranslator::Vectorize(const Node& n, DType t) {
  const UOp* u = Gather(n, t, Op::kVectorize);
  if (!u || u->num_srcs == 0 || !u->src(0)->dtype.is_memory()) return u;
  for (const UOp* s : u->srcs()) {
    if (s != u->src(0)) return Fail(n, "a vector of different pointers");
  }
  return u->src(0);
}

const UOp* LoweredTranslator::Gep(const Node& n, DType t) {
  const UOp* x = Source(n, 0, t);
  if (!x) return nullptr;
  std::vector<int64_t> words{static_cast<int64_t>(n.arg.list().size())};
  for (const Item& item : n.arg.list()) {
    if (item.value.kind != Kind::kInt) return Fail(n, "expected a tuple of lanes");
    words.push_back(item.value.number);
  }
  return Emit(n, Op::kGep, t, {x}, ctx_.MakeAttr(Op::kGep, words));
}

// Addresses and stores take the predicates of their sources as gates.
const UOp* LoweredTranslator::OtherPredicate(const Node& n, const UOp* u) {
  const UOp* first = n.num_srcs > 0 ? PredicateOf(n.src(0)) : nullptr;
  const DType t(Scalar::kBool, u->dtype.lanes());
  const bool is_vector = first && first->dtype.lanes() > 1;
  switch (demand_.OpOf(&n).cls) {
    case OpClass::kSink:
    case OpClass::kStore:
    case OpClass::kMovement:
      return nullptr;
    case OpClass::kIndex:
      if (!first || !is_vector) return first;
      return Emit(n, Op::kGep, kBool, {first}, u->attr);
    case OpClass::kGep:
      if (!first || !is_vector) return first;
      return Emit(n, Op::kGep, t, {first}, u->attr);
    case OpClass::kReduce:
      return first ? Reduced(n, Op::kOr, is_vector ? t : kBool, first) : nullptr;
    case OpClass::kVectorize:
    case OpClass::kStack: {
      Nodes lanes;
      for (size_t i = 0; i < n.num_srcs; ++i) lanes.push_back(SourcePredicate(n, i));
      return Emit(n, Op::kVectorize, t, {lanes.data(), lanes.size()});
    }
    case OpClass::kLoad:
      // An alternative that is Invalid everywhere counts as absent.
      for (size_t i = 0; i < n.num_srcs; ++i) {
        if (PredicateOf(n.src(i))) return Translator::OtherPredicate(n, u);
      }
      return nullptr;
    default:
      return Translator::OtherPredicate(n, u);
  }
}

// INDEX of a value in newer versions selects one of its lanes.
const UOp* LoweredTranslator::Lane(const Node& n, DType t) {
  const UOp *x = Source(n, 0, t.WithLanes(1)), *lane = x ? Source(n, 1, kIndex) : nullptr;
  if (!lane) return nullptr;
  if (n.num_srcs != 2 || !IsConst(lane) || lane->word() < 0 || lane->word() >= x->dtype.lanes()) {
    return Fail(n, "expected memory, or a vector and the number of a lane");
  }
  if (x->dtype.lanes() == 1) return x;
  return Emit(n, Op::kGep, t, {x}, ctx_.MakeAttr(Op::kGep, {1, lane->word()}));
}

}  // namespace tg::tinygrad
