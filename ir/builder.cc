#include "ir/builder.h"

#include "base/check.h"
#include "ir/shape.h"
#include "ir/value.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

using Words = llvm::SmallVector<int64_t, 16>;
using Nodes = llvm::SmallVector<const UOp*, 8>;

namespace {
std::span<const int64_t> Span(const Words& w) { return {w.data(), w.size()}; }
UOpSpan Span(const Nodes& n) { return {n.data(), n.size()}; }
}  // namespace

const UOp* Builder::ConstBits(DType t, int64_t bits) {
  if (t.lanes() == 1) return ctx_.Make(Op::kConst, t, {}, ctx_.MakeAttr(Op::kConst, {bits}));
  const Words all(static_cast<size_t>(t.lanes()), bits);
  return VConst(t, Span(all));
}

const UOp* Builder::Const(DType t, double v) { return ConstBits(t, BitsFromDouble(t.scalar(), v)); }
const UOp* Builder::ConstInt(DType t, int64_t v) {
  return ConstBits(t, BitsFromInt(t.scalar(), v));
}
const UOp* Builder::Index(const Dim& d) { return DimNode(ctx_, d); }

const UOp* Builder::VConst(DType t, std::span<const int64_t> bits) {
  TG_CHECK(static_cast<size_t>(t.lanes()) == bits.size());
  if (bits.size() == 1) return ConstBits(t, bits[0]);
  return ctx_.Make(Op::kVConst, t, {}, ctx_.MakeListAttr(Op::kVConst, bits));
}

const UOp* Builder::Var(std::string_view name) {
  return ctx_.Make(Op::kVar, kIndex, {}, ctx_.MakeAttr(Op::kVar, {int64_t{ctx_.Intern(name)}}));
}
const UOp* Builder::Buffer(std::string_view name, DType t) {
  return ctx_.Make(Op::kBuffer, t, {}, ctx_.MakeAttr(Op::kBuffer, {int64_t{ctx_.Intern(name)}}));
}
const UOp* Builder::DefineGlobal(int64_t arg, DType ptr) {
  return ctx_.Make(Op::kDefineGlobal, ptr, {}, ctx_.MakeAttr(Op::kDefineGlobal, {arg}));
}
const UOp* Builder::Iota(int64_t size) {
  return ctx_.Make(Op::kIota, kIndex, {}, ctx_.MakeAttr(Op::kIota, {size}));
}
const UOp* Builder::Scratch(DType ptr, int64_t align) {
  return ctx_.Make(Op::kScratch, ptr, {}, ctx_.MakeAttr(Op::kScratch, {ctx_.NextId(), align}));
}
const UOp* Builder::Range(const UOp* end) {
  return ctx_.Make(Op::kRange, kIndex, {end}, ctx_.MakeAttr(Op::kRange, {ctx_.NextId()}));
}
const UOp* Builder::Special(SpecialName name, const UOp* size) {
  return ctx_.Make(Op::kSpecial, kIndex, {size},
                   ctx_.MakeAttr(Op::kSpecial, {static_cast<int64_t>(name)}));
}
const UOp* Builder::Unroll(int64_t axis, int64_t size) {
  return ctx_.Make(Op::kUnroll, kIndex, {}, ctx_.MakeAttr(Op::kUnroll, {axis, size}));
}

const UOp* Builder::Alu(Op op, std::initializer_list<const UOp*> srcs) {
  return Alu(op, UOpSpan(srcs.begin(), srcs.size()));
}

const UOp* Builder::Alu(Op op, UOpSpan srcs) {
  DType t = srcs[0]->dtype;
  switch (GetOpInfo(op).type_rule) {
    case TypeRule::kAll:
    case TypeRule::kCmp:
      for (const UOp* s : srcs) TG_CHECK(s->dtype == t);
      if (GetOpInfo(op).type_rule == TypeRule::kCmp) t = DType(Scalar::kBool, t.lanes());
      break;
    case TypeRule::kWhere:
      t = srcs[1]->dtype;
      TG_CHECK(srcs[0]->dtype == DType(Scalar::kBool, t.lanes()) && srcs[2]->dtype == t);
      break;
    case TypeRule::kSame0:
      break;
    default:
      TG_UNREACHABLE();
  }
  return ctx_.Make(op, t, srcs);
}

const UOp* Builder::Not(const UOp* a) {
  return Alu(Op::kCmpNe, {a, ConstInt(DType(Scalar::kBool, a->dtype.lanes()), 1)});
}
const UOp* Builder::Cast(const UOp* a, DType t) {
  TG_CHECK(a->dtype.lanes() == t.lanes());
  return a->dtype == t ? a : ctx_.Make(Op::kCast, t, {a});
}
const UOp* Builder::Bitcast(const UOp* a, DType t) {
  TG_CHECK(a->dtype.lanes() == t.lanes());
  TG_CHECK(BitWidth(a->dtype.scalar()) == BitWidth(t.scalar()));
  return a->dtype == t ? a : ctx_.Make(Op::kBitcast, t, {a});
}

const UOp* Builder::Dims(Op op, const UOp* x, const Shape& shape) {
  Words words{static_cast<int64_t>(shape.size())};
  Nodes srcs{x};
  for (const Dim& d : shape) {
    words.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) srcs.push_back(d.symbol());
  }
  return ctx_.Make(op, x->dtype, Span(srcs), ctx_.MakeAttr(op, Span(words)));
}

const UOp* Builder::Pairs(Op op, const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs) {
  Words words{static_cast<int64_t>(pairs.size())};
  Nodes srcs{x};
  for (const auto& [a, b] : pairs) {
    for (const Dim& d : {a, b}) {
      words.push_back(d.is_symbolic() ? kSymbolic : d.value());
      if (d.is_symbolic()) srcs.push_back(d.symbol());
    }
  }
  return ctx_.Make(op, x->dtype, Span(srcs), ctx_.MakeAttr(op, Span(words)));
}

const UOp* Builder::List(Op op, DType t, const UOp* x, std::span<const int64_t> items) {
  return ctx_.Make(op, t, {x}, ctx_.MakeListAttr(op, items));
}

const UOp* Builder::Reshape(const UOp* x, const Shape& shape) {
  return Dims(Op::kReshape, x, shape);
}
const UOp* Builder::Expand(const UOp* x, const Shape& shape) { return Dims(Op::kExpand, x, shape); }
const UOp* Builder::Broadcast(const UOp* x, const Shape& shape) {
  return Dims(Op::kBroadcast, x, shape);
}
const UOp* Builder::Permute(const UOp* x, std::span<const int64_t> order) {
  return List(Op::kPermute, x->dtype, x, order);
}
const UOp* Builder::Flip(const UOp* x, std::span<const int64_t> axes) {
  return List(Op::kFlip, x->dtype, x, axes);
}
const UOp* Builder::Pad(const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs) {
  return Pairs(Op::kPad, x, pairs);
}
const UOp* Builder::Shrink(const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs) {
  return Pairs(Op::kShrink, x, pairs);
}

const UOp* Builder::ReduceAxis(const UOp* x, Op op, std::span<const int64_t> axes) {
  Words words{static_cast<int64_t>(op), static_cast<int64_t>(axes.size())};
  words.append(axes.begin(), axes.end());
  return ctx_.Make(Op::kReduceAxis, x->dtype, {x}, ctx_.MakeAttr(Op::kReduceAxis, Span(words)));
}

const UOp* Builder::ReduceTuple(UOpSpan sources, int64_t result, std::span<const int64_t> axes) {
  Words words{result, static_cast<int64_t>(axes.size())};
  words.append(axes.begin(), axes.end());
  return ctx_.Make(Op::kReduceTuple, sources[static_cast<size_t>(result)]->dtype, sources,
                   ctx_.MakeAttr(Op::kReduceTuple, Span(words)));
}

const UOp* Builder::Carried(DType t, int64_t arg) {
  return ctx_.Make(Op::kCarried, t, {}, ctx_.MakeAttr(Op::kCarried, {arg, 0}));
}

const UOp* Builder::Sink(UOpSpan roots) {
  return ctx_.Make(Op::kSink, kVoid, roots, ctx_.MakeAttr(Op::kSink, {0}));
}

const UOp* Builder::Sink(UOpSpan roots, std::span<const std::string_view> targets) {
  TG_CHECK(roots.size() == targets.size());
  bool any = false;
  Words words{static_cast<int64_t>(targets.size())};
  for (std::string_view t : targets) {
    any |= !t.empty();
    words.push_back(ctx_.Intern(t));
  }
  if (!any) return Sink(roots);
  return ctx_.Make(Op::kSink, kVoid, roots, ctx_.MakeAttr(Op::kSink, Span(words)));
}

const UOp* Builder::IndexPtr(const UOp* ptr, const UOp* idx, const UOp* gate) {
  const int addresses = ptr->dtype.is_image() ? idx->dtype.lanes() / 2 : idx->dtype.lanes();
  const DType t = ptr->dtype.WithLanes(addresses);
  return gate ? ctx_.Make(Op::kIndex, t, {ptr, idx, gate}) : ctx_.Make(Op::kIndex, t, {ptr, idx});
}

const UOp* Builder::Load(const UOp* address, const UOp* alt, int lanes) {
  if (lanes == 0) lanes = alt ? alt->dtype.lanes() : address->dtype.lanes();
  const DType t(address->dtype.value_scalar(), lanes);
  return alt ? ctx_.Make(Op::kLoad, t, {address, alt}) : ctx_.Make(Op::kLoad, t, {address});
}
const UOp* Builder::Store(const UOp* address, const UOp* value) {
  return ctx_.Make(Op::kStore, kVoid, {address, value});
}
const UOp* Builder::After(const UOp* ptr, UOpSpan tokens) {
  if (tokens.empty()) return ptr;
  Nodes srcs{ptr};
  srcs.append(tokens.begin(), tokens.end());
  return ctx_.Make(Op::kAfter, ptr->dtype, Span(srcs));
}
const UOp* Builder::End(const UOp* token, UOpSpan ranges) {
  if (ranges.empty()) return token;
  Nodes srcs{token};
  srcs.append(ranges.begin(), ranges.end());
  return ctx_.Make(Op::kEnd, kVoid, Span(srcs));
}

const UOp* Builder::Splat(const UOp* x, int lanes) {
  TG_CHECK(x->dtype.lanes() == 1);
  if (lanes == 1) return x;
  if (IsConst(x)) return ConstBits(x->dtype.WithLanes(lanes), x->word());
  return ctx_.Make(Op::kSplat, x->dtype.WithLanes(lanes), {x});
}
const UOp* Builder::Vectorize(UOpSpan scalars) {
  if (scalars.size() == 1) return scalars[0];
  return ctx_.Make(Op::kVectorize, scalars[0]->dtype.WithLanes(static_cast<int>(scalars.size())),
                   scalars);
}
const UOp* Builder::Gep(const UOp* x, std::span<const int64_t> lanes) {
  size_t in_place = 0;
  while (in_place < lanes.size() && lanes[in_place] == static_cast<int64_t>(in_place)) ++in_place;
  if (in_place == lanes.size() && static_cast<int>(in_place) == x->dtype.lanes()) return x;
  return List(Op::kGep, x->dtype.WithLanes(static_cast<int>(lanes.size())), x, lanes);
}
const UOp* Builder::Cat(UOpSpan vectors) {
  if (vectors.size() == 1) return vectors[0];
  int lanes = 0;
  for (const UOp* v : vectors) lanes += v->dtype.lanes();
  return ctx_.Make(Op::kCat, vectors[0]->dtype.WithLanes(lanes), vectors);
}

}  // namespace tg
