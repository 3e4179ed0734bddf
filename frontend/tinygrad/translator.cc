#include "frontend/tinygrad/translator.h"

#include <limits>
#include <utility>

namespace tg::tinygrad {

DType ValueType(DType t) { return t.is_image() ? DType(Scalar::kF32, t.lanes()) : t; }

Translator::Translator(const Demand& demand, Module& module, Body& body, Diagnostics& diags)
    : demand_(demand),
      module_(module),
      body_(body),
      ctx_(*body.context),
      b_(ctx_),
      diags_(diags),
      shapes_(module, ctx_),
      values_(demand.nodes().size()) {
  ctx_.Reserve(values_.size());
}

std::nullptr_t Translator::Fail(const Node& n, const std::string& message) {
  if (!failed_) diags_.Error(n.loc, std::string(n.op) + ": " + message);
  failed_ = true;
  return nullptr;
}

bool Translator::SetRoot(const Node& sink, llvm::function_ref<bool(const UOp*)> accepts,
                         const std::string& error) {
  std::vector<const UOp*> roots;
  for (size_t i = 0; i < sink.num_srcs; ++i) {
    const UOp* u = ValueOf(sink.src(i), kVoid);
    if (!u || !accepts(u)) return Refuse(*sink.src(i), error);
    roots.push_back(u);
  }
  SetRoot(sink, roots);
  return true;
}

void Translator::SetRoot(const Node& sink, UOpSpan roots) {
  body_.root = ctx_.Make(Op::kSink, kVoid, roots, ctx_.MakeAttr(Op::kSink, {0}));
  body_.side.SetLoc(body_.root, sink.loc);
}

bool Translator::TranslateAll() {
  FindUndefined();
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> states(demand_.nodes().size(), kNew);
  std::vector<const Node*> stack;
  for (const Node* root : demand_.nodes()) {
    stack.push_back(root);
    while (!stack.empty()) {
      const Node* n = stack.back();
      uint8_t& state = states[n->slot];
      if (state == kNew) {
        state = kOpen;
        const auto need = [&](const Node* s) {
          if (states[s->slot] == kOpen) Fail(*n, "it needs a value that is computed from it");
          if (states[s->slot] == kNew) stack.push_back(s);
        };
        for (size_t i = 0; i < n->num_srcs; ++i) need(n->src(i));
        ForEachNodeIn(n->arg, need);
        for (const Node* s : Prerequisites(*n)) need(s);
        if (failed_) return false;
        if (stack.back() != n) continue;
      }
      stack.pop_back();
      if (state == kDone) continue;
      state = kDone;
      if (!TranslateTypes(*n)) return false;
    }
  }
  return true;
}

bool Translator::TranslateTypes(const Node& n) {
  for (const DType t : demand_.Types(&n)) {
    const bool skipped = IsUndefined(&n) || IsSkipped(n);
    const UOp* u = skipped ? nullptr : Translate(n, ValueType(t));
    if (u && !undefined_.empty() && !predicates_.count(&n)) {
      if (const UOp* predicate = FindPredicate(n, u)) predicates_[&n] = predicate;
    }
    if (failed_) return false;
    values_[n.slot].push_back(u);
  }
  return true;
}

const UOp* Translator::ValueOf(const Node* n, DType t) const {
  const auto types = demand_.Types(n);
  const auto& values = values_[n->slot];
  if (values.empty()) return nullptr;
  if (!demand_.TypeOf(n).weak) return values[0];
  for (size_t i = 0; i < values.size(); ++i) {
    if (types[i] == t) return values[i];
  }
  return nullptr;
}

const UOp* Translator::Source(const Node& n, size_t i, DType t) {
  if (i >= n.num_srcs) {
    return Fail(
        n, "it has " + std::to_string(n.num_srcs) + " sources, but needs " + std::to_string(i + 1));
  }
  const UOp* u = ValueOf(n.src(i), demand_.SourceType(&n, i, t));
  if (!u) {
    return Fail(n, "source " + std::to_string(i) + ", a " + std::string(n.src(i)->op) +
                       (IsUndefined(n.src(i)) ? ", is Invalid" : ", has no value"));
  }
  return AsValue(n, u);
}

const UOp* Translator::AsIndex(const UOp* u) {
  if (u->dtype.is_index() || !u->dtype.is_int()) return u;
  if (IsConst(u)) return b_.Index(u->word());
  return ctx_.Make(Op::kCast, kIndex.WithLanes(u->dtype.lanes()), {u});
}

const UOp* Translator::Emit(const Node& n, Op op, DType t, UOpSpan srcs, Attr attr) {
  for (const UOp* s : srcs) {
    if (!s) return nullptr;
  }
  const UOp* u = ctx_.Make(op, t, srcs, attr);
  std::string error;
  if (has_shapes_ && !shapes_.Try(u, &error)) {
    const std::string prefix = std::string(Mnemonic(op)) + ": ";
    return Fail(n, error.substr(error.starts_with(prefix) ? prefix.size() : 0));
  }
  if (body_.side.loc(u).line == 0) body_.side.SetLoc(u, n.loc);
  return u;
}

const UOp* Translator::Translate(const Node& n, DType t) {
  switch (demand_.OpOf(&n).cls) {
    case OpClass::kElementwise:
      return Elementwise(n, t);
    case OpClass::kCompare:
      return Compare(n);
    case OpClass::kWhere:
      return Where(n, t);
    case OpClass::kCast:
      return Cast(n, t);
    case OpClass::kMovement:
      if (!has_shapes_) return Other(n, t);
      return Moved(n, Source(n, 0, t));
    case OpClass::kReduceAxis:
      return ReduceAxis(n, t);
    case OpClass::kConst:
      return EmitConst(n, t);
    case OpClass::kVar:
      return DefineVar(n, t);
    case OpClass::kAlias:
      return Source(n, 0, t);
    // The last stages of v0.10.3 print a NOOP with a value below a BITCAST; it is its source.
    case OpClass::kNothing:
      return t.is_void() || n.num_srcs == 0 ? nullptr : Source(n, 0, t);
    case OpClass::kRefused:
      return Fail(n, "tg has no counterpart of this op");
    default:
      return Other(n, t);
  }
}

bool Translator::Broadcast(const Node& n, Nodes& srcs) {
  if (!has_shapes_) return true;
  Shape target;
  for (const UOp* s : srcs) {
    const Shape& shape = shapes_.Of(s);
    if (shape.size() > target.size())
      target.insert(target.begin(), shape.size() - target.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      Dim& extent = target[target.size() - shape.size() + i];
      if (extent.Is(1)) extent = shape[i];
    }
  }
  for (const UOp*& s : srcs) {
    if (!shapes_.Of(s).empty()) s = EmitBroadcast(n, s, target);
    if (!s) return false;
  }
  return true;
}

const UOp* Translator::Elementwise(const Node& n, DType t) {
  Op op = demand_.OpOf(&n).op;
  const OpInfo& info = GetOpInfo(op);
  if (static_cast<int>(n.num_srcs) != info.min_sources) {
    return Fail(n, "it has " + std::to_string(n.num_srcs) + " sources, not " +
                       std::to_string(info.min_sources));
  }
  // trunc of an integer is the integer.
  if (op == Op::kTrunc && !t.is_float()) return Source(n, 0, t);
  Nodes srcs;
  for (size_t i = 0; i < n.num_srcs; ++i) {
    const UOp* s = Source(n, i, t);
    if (!s) return nullptr;
    // The shift count may have another integer type.
    if ((op == Op::kShl || op == Op::kShr) && s->dtype != t && s->dtype.is_int()) {
      s = Emit(n, Op::kCast, t, {s});
      if (!s) return nullptr;
    }
    // v0.14.0 converts integers for such a function only when it prints the kernel.
    if (IsFloatFunction(op) && t.is_float() && !s->dtype.is_float()) {
      s = Emit(n, Op::kCast, t, {s});
      if (!s) return nullptr;
    }
    srcs.push_back(s);
  }
  // The type index has no bitwise ops, since it never overflows.
  if (const auto power = t.is_index() ? PowerOf(op, n) : std::nullopt) {
    if (op == Op::kShl || op == Op::kShr || op == Op::kAnd) {
      op = op == Op::kShl ? Op::kMul : op == Op::kShr ? Op::kFloorDiv : Op::kFloorMod;
      srcs[1] = b_.ConstInt(t, *power);
    }
  }
  if (op == Op::kPow && t.is_int()) return IntPower(n, t, srcs[0], srcs[1]);
  if (!Broadcast(n, srcs)) return nullptr;
  return Emit(n, op, t, {srcs.data(), srcs.size()});
}

const UOp* Translator::IntPower(const Node& n, DType t, const UOp* x, const UOp* exponent) {
  if (!IsConst(exponent) || exponent->word() < 0) {
    return Fail(n, "of integers it is read where the exponent is a constant that is not negative");
  }
  const UOp* power = nullptr;
  for (auto rest = static_cast<uint64_t>(exponent->word()); rest != 0; rest >>= 1) {
    if (rest & 1) power = power ? Emit(n, Op::kMul, t, {power, x}) : x;
    if (rest > 1) x = Emit(n, Op::kMul, t, {x, x});
  }
  if (power || !has_shapes_) return power ? power : b_.ConstInt(t, 1);
  // x^0 has x's shape.
  return EmitBroadcast(n, b_.ConstInt(t, 1), ShapeOf(x));
}

const UOp* Translator::Compare(const Node& n) {
  const UOp *a = Source(n, 0, kBool), *b = a ? Source(n, 1, kBool) : nullptr;
  if (!b) return nullptr;
  Nodes srcs{a, b};
  if (!Broadcast(n, srcs)) return nullptr;
  const DType t(Scalar::kBool, a->dtype.lanes());
  const UOp* u = Emit(n, demand_.OpOf(&n).op, t, {srcs[0], srcs[1]});
  return u && n.op == "CMPEQ" ? Emit(n, Op::kCmpNe, t, {u, b_.ConstInt(t, 1)}) : u;
}

const UOp* Translator::Where(const Node& n, DType t) {
  Nodes srcs;
  for (size_t i = 0; i < 3; ++i) {
    // In a kernel the value is the other operand: the predicate gates an address or a store.
    const bool undefined = i < n.num_srcs && IsUndefined(n.src(i));
    if (undefined && !has_shapes_) return Source(n, i == 1 ? 2 : 1, t);
    const UOp* s = undefined ? Zero(t) : Source(n, i, t);
    if (!s) return nullptr;
    srcs.push_back(s);
  }
  if (!Broadcast(n, srcs)) return nullptr;
  return Emit(n, Op::kWhere, t, {srcs[0], srcs[1], srcs[2]});
}

const UOp* Translator::Cast(const Node& n, DType t) {
  const UOp* x = Source(n, 0, t);
  if (!x || x->dtype == t) return x;
  if (BitWidth(t.scalar()) == 0 || BitWidth(x->dtype.scalar()) == 0 ||
      (t.is_memory() && x->dtype.is_value())) {
    return Fail(n, "from " + x->dtype.ToString() + " to " + t.ToString());
  }
  // tg has pointers to scalars only: the type of the access holds the lanes.
  if (x->dtype.is_memory()) {
    if (t.is_value() && x->dtype.value_scalar() != t.scalar()) {
      return Fail(n, "memory as elements of another type is not read");
    }
    return x;
  }
  if (demand_.OpOf(&n).op == Op::kBitcast && BitWidth(x->dtype.scalar()) != BitWidth(t.scalar())) {
    return BitcastResized(n, x, t);
  }
  const UOp* u = Emit(n, demand_.OpOf(&n).op, t, {x});
  const Scalar to = t.scalar();
  if (!u || u->op != Op::kCast || !x->dtype.is_float()) return u;
  if (to != Scalar::kI32 && to != Scalar::kI64) return u;
  // Values out of range and NaN become the least integer, as on x86 and in numpy.
  const DType wide(BitWidth(x->dtype.scalar()) < 32 ? Scalar::kF32 : x->dtype.scalar(), t.lanes());
  if (x->dtype != wide) x = Emit(n, Op::kCast, wide, {x});
  const UOp* limit = b_.Const(wide, to == Scalar::kI32 ? 0x1p31 : 0x1p63);
  const UOp* below = Emit(n, Op::kCmpLt, DType(Scalar::kBool, t.lanes()), {x, limit});
  const int64_t least = to == Scalar::kI32 ? std::numeric_limits<int32_t>::min()
                                           : std::numeric_limits<int64_t>::min();
  return below ? Emit(n, Op::kWhere, t, {below, u, b_.ConstInt(t, least)}) : nullptr;
}

const UOp* Translator::DefineVar(const Node& n, DType t) {
  const auto items = n.arg.list();
  if (items.size() != 3 || items[0].value.kind != Kind::kString ||
      items[1].value.kind != Kind::kInt || items[2].value.kind != Kind::kInt) {
    return Fail(n, "expected arg=('name', min, max)");
  }
  return EmitVar(n, Unquote(items[0].value.text()), items[1].value.number, items[2].value.number,
                 t);
}

}  // namespace tg::tinygrad
