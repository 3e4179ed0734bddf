#include "passes/decompose/float_types.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/value.h"
#include "passes/decompose/float_format.h"
#include "passes/decompose/forward.h"

namespace tg {
namespace {

class FloatTypes {
 public:
  FloatTypes(Body& body, const Target& target) : body_(body), target_(target), b_(*body.context) {}

  absl::Status Run() {
    ForwardRewrite(body_, [&](const UOp* u, UOpSpan srcs) { return Rewrite(u, srcs); });
    return status_;
  }

 private:
  bool IsEmulated(Scalar s) const {
    return IsFloat(s) && s != Scalar::kF64 && !ComputesIn(target_, s);
  }
  bool IsEmulated(DType t) const { return IsEmulated(t.value_scalar()); }

  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  const UOp* Constant(const UOp* u);
  const UOp* Load(const UOp* u, UOpSpan srcs);
  const UOp* Store(const UOp* u, UOpSpan srcs);
  const UOp* CastTo(const UOp* u, const UOp* x);
  const UOp* BitcastTo(const UOp* u, const UOp* x);
  // The f32 `x` as a value of type s; what was rounded to s before is left alone.
  const UOp* Rounded(const UOp* x, Scalar s) {
    const UOp* v = RoundToFormat(b_, x, s);
    unrounded_[v] = x;
    return v;
  }
  // What `x` was rounded from, where a store of type s is going to round again.
  const UOp* Unrounded(const UOp* x) const {
    const UOp* from = unrounded_.Get(x);
    return from ? from : x;
  }
  void Unsupported(const UOp* u, std::string_view what);

  Body& body_;
  const Target& target_;
  Builder b_;
  NodeMap<const UOp*> unrounded_;
  absl::Status status_;
};

void FloatTypes::Unsupported(const UOp* u, std::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(absl::StrCat(body_.Describe(u), ": target ", target_.name,
                                                  " has no ",
                                                  absl::string_view(what.data(), what.size())));
}

const UOp* FloatTypes::Constant(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  const DType f32(Scalar::kF32, u->dtype.lanes());
  if (IsConst(u)) return b_.ConstBits(f32, CastBits(s, Scalar::kF32, u->word()));
  llvm::SmallVector<int64_t, 16> bits;
  for (int64_t v : u->list()) bits.push_back(CastBits(s, Scalar::kF32, v));
  return b_.VConst(f32, {bits.data(), bits.size()});
}

const UOp* FloatTypes::Load(const UOp* u, UOpSpan srcs) {
  const Scalar s = u->dtype.scalar();
  const DType f32(Scalar::kF32, u->dtype.lanes());
  if (srcs[0]->dtype.scalar() == Scalar::kF32 || s == Scalar::kF16) {
    return b_.context().Make(u->op, f32, srcs, u->attr);
  }
  Nodes raw(srcs.begin(), srcs.end());
  const DType word(BitsType(s), u->dtype.lanes());
  if (srcs.size() > 1) {
    raw[1] = IsConst(u->src(1)) || u->src(1)->op == Op::kVConst
                 ? b_.context().Make(u->src(1)->op, word, {}, u->src(1)->attr)
                 : b_.Cast(EncodeFloat(b_, srcs[1], s), word);
  }
  const UOp* bits = b_.context().Make(u->op, word, Span(raw), u->attr);
  return DecodeFloat(b_, b_.Cast(bits, word.WithScalar(Scalar::kU32)), s);
}

const UOp* FloatTypes::Store(const UOp* u, UOpSpan srcs) {
  const Scalar s = u->src(1)->dtype.scalar();
  const Scalar memory = srcs[0]->dtype.scalar();
  const auto store = [&](const UOp* value) {
    return b_.context().Make(u->op, kVoid, {srcs[0], value}, u->attr);
  };
  if (memory == Scalar::kF32) return store(srcs[1]);
  // Only what was rounded to f16 itself may go in unrounded.
  if (s == Scalar::kF16) return store(Unrounded(srcs[1]));
  const DType word(BitsType(s), srcs[1]->dtype.lanes());
  return store(b_.Cast(EncodeFloat(b_, srcs[1], s), word));
}

const UOp* FloatTypes::CastTo(const UOp* u, const UOp* x) {
  const Scalar from = u->src(0)->dtype.scalar(), to = u->dtype.scalar();
  const DType f32(Scalar::kF32, u->dtype.lanes());
  if (!IsEmulated(to)) return b_.Cast(x, u->dtype);
  if (from == to) return x;
  // x is f32, f64, an integer, or f16 that the target computes in.
  const Scalar held = x->dtype.scalar();
  if (held == Scalar::kF64) return b_.Cast(RoundToFormat(b_, x, to), f32);
  if (IsFloat(held)) return Rounded(b_.Cast(x, f32), to);
  // Integers of more bits than f32 has are beyond the largest f16 or fp8.
  return Rounded(to == Scalar::kBF16 ? IntToStickyF32(b_, x) : b_.Cast(x, f32), to);
}

const UOp* FloatTypes::BitcastTo(const UOp* u, const UOp* x) {
  const Scalar from = u->src(0)->dtype.scalar(), to = u->dtype.scalar();
  if (!IsEmulated(from) && !IsEmulated(to)) return b_.Bitcast(x, u->dtype);
  const DType word(BitsType(from), u->dtype.lanes());
  const DType u32 = word.WithScalar(Scalar::kU32);
  const UOp* bits =
      IsEmulated(from) ? b_.Cast(EncodeFloat(b_, x, from), word) : b_.Bitcast(x, word);
  return IsEmulated(to) ? DecodeFloat(b_, b_.Cast(bits, u32), to) : b_.Bitcast(bits, u->dtype);
}

// The f32 result of these is already a value of the type.
bool IsExact(Op op) {
  return op == Op::kNeg || op == Op::kTrunc || op == Op::kMax || op == Op::kMin || op == Op::kWhere;
}

// Rounding the result is rounding the sources.
bool CommutesWithRounding(Op op) {
  return op == Op::kNeg || op == Op::kWhere || op == Op::kGep || op == Op::kCat ||
         op == Op::kVectorize || op == Op::kSplat;
}

bool IsTranscendental(Op op) {
  return op == Op::kExp2 || op == Op::kLog2 || op == Op::kSin || op == Op::kPow;
}

const UOp* FloatTypes::Rewrite(const UOp* u, UOpSpan srcs) {
  const DType t = u->dtype;
  if (t.is_value() && t.scalar() == Scalar::kF64 && !target_.fp64) Unsupported(u, "f64");
  if (t.is_int() && BitWidth(t.scalar()) == 64 && !target_.int64) {
    Unsupported(u, "64-bit integers");
  }
  switch (u->op) {
    case Op::kScratch:
      if (!t.is_pointer() || t.space() != AddrSpace::kReg || !IsEmulated(t.scalar())) return u;
      return b_.context().Make(u->op, t.WithScalar(Scalar::kF32), srcs, u->attr);
    case Op::kIndex:
      return b_.context().Make(u->op, srcs[0]->dtype.WithLanes(t.lanes()), srcs);
    case Op::kAfter:
      return b_.context().Make(u->op, srcs[0]->dtype, srcs);
    case Op::kLoad:
      if (!IsEmulated(t)) return WithSources(b_, u, srcs);
      return Load(u, srcs);
    case Op::kStore:
      if (!IsEmulated(u->src(1)->dtype)) return WithSources(b_, u, srcs);
      return Store(u, srcs);
    case Op::kCast:
      return CastTo(u, srcs[0]);
    case Op::kBitcast:
      return BitcastTo(u, srcs[0]);
    case Op::kWmma:
    case Op::kLdMatrix:
      for (const UOp* s : u->srcs()) {
        if (s->dtype.is_value() && IsEmulated(s->dtype)) Unsupported(u, "matrix ops on this type");
      }
      break;
    default:
      break;
  }
  if (!t.is_value() || !IsFloat(t.scalar())) return WithSources(b_, u, srcs);
  const DType f32(Scalar::kF32, t.lanes());
  if (!IsEmulated(t)) {
    if (t.scalar() != Scalar::kF16 || !IsTranscendental(u->op)) return WithSources(b_, u, srcs);
    Nodes wide;
    for (const UOp* s : srcs) wide.push_back(b_.Cast(s, f32));
    return b_.Cast(b_.Alu(u->op, Span(wide)), t);
  }
  if (IsConst(u) || u->op == Op::kVConst) return Constant(u);
  if (u->op == Op::kMulAcc) {
    const UOp* product = Rounded(b_.Mul(srcs[0], srcs[1]), t.scalar());
    return Rounded(b_.Add(product, srcs[2]), t.scalar());
  }
  const UOp* v = b_.context().Make(u->op, f32, srcs, u->attr);
  if (IsElementwise(u->op) && !IsExact(u->op)) return Rounded(v, t.scalar());
  if (CommutesWithRounding(u->op)) {
    Nodes from;
    for (const UOp* s : srcs) from.push_back(Unrounded(s));
    if (!std::equal(from.begin(), from.end(), srcs.begin())) {
      unrounded_[v] = b_.context().Make(u->op, f32, Span(from), u->attr);
    }
  }
  return v;
}

}  // namespace

bool ConcernsFloatTypes(Scalar s, const Target& target) {
  // An index may become a 64-bit integer.
  if (s == Scalar::kIndex) return !target.int64;
  if (s == Scalar::kF64) return !target.fp64;
  if (IsInt(s)) return BitWidth(s) == 64 && !target.int64;
  return IsFloat(s) && s != Scalar::kF32;
}

absl::Status LowerFloatTypes(Body& body, const Target& target) {
  return FloatTypes(body, target).Run();
}

}  // namespace tg
