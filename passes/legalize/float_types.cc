#include "passes/legalize/float_types.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/value.h"
#include "passes/legalize/float_encoding.h"
#include "passes/legalize/forward.h"

namespace tg::legalize {
namespace {

// The type that holds the raw bits of a value of type t. Accesses of f16 as f16 do not convert.
DType RawType(DType t) {
  return t.scalar() == Scalar::kF16 ? t : t.WithScalar(BitsType(t.scalar()));
}

class FloatTypes {
 public:
  FloatTypes(Body& body, const passes::Target& target)
      : body_(body), target_(target), b_(*body.context) {}

  absl::Status Run() {
    ForwardRewrite(body_, [&](const UOp* u, UOpSpan srcs) { return Rewrite(u, srcs); });
    return status_;
  }

 private:
  bool IsEmulated(Scalar s) const {
    return IsFloat(s) && s != Scalar::kF64 && !passes::ComputesIn(target_, s);
  }
  bool IsEmulated(DType t) const { return IsEmulated(t.value_scalar()); }

  bool IsConverted(Scalar s) const { return ConvertsPairs(target_, s); }
  bool InRegisters(const UOp* address) const {
    const UOp* memory = MemoryOf(address);
    return memory->op == Op::kScratch && memory->dtype.space() == AddrSpace::kReg;
  }

  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  const UOp* Constant(const UOp* u);
  const UOp* Load(const UOp* u, UOpSpan srcs);
  const UOp* Store(const UOp* u, UOpSpan srcs);
  const UOp* CastTo(const UOp* u, const UOp* x);
  // A matrix instruction reads the bits of its factors.
  const UOp* Wmma(const UOp* u, UOpSpan srcs);
  // The f32 value of the bits of a value of type `t`.
  const UOp* FromBits(const UOp* bits, DType t);
  const UOp* BitcastTo(const UOp* u, const UOp* x);
  // Rounds the f32 `x` to a value of type s, and remembers `x` for Unrounded.
  const UOp* Rounded(const UOp* x, Scalar s) {
    const UOp* v;
    if (IsConverted(s)) {
      // Its bits are those of all lanes, also where single lanes are moved: two are converted at a
      // time.
      const UOp* narrow = b_.Cast(x, x->dtype.WithScalar(s));
      v = Widened(narrow);
      raw_[v] = {s, b_.Bitcast(narrow, RawType(narrow->dtype)), false};
    } else {
      v = RoundToFormat(b_, x, s);
    }
    unrounded_[v] = x;
    return v;
  }
  // The f32 value of one of a type that is converted. That of bf16 is the upper half of its bits.
  const UOp* Widened(const UOp* x) {
    const DType word = x->dtype.WithScalar(Scalar::kU32);
    if (x->dtype.scalar() != Scalar::kBF16) return b_.Cast(x, word.WithScalar(Scalar::kF32));
    const UOp* bits = b_.Bitcast(x, word.WithScalar(Scalar::kU16));
    return DecodeFloat(b_, b_.Cast(bits, word), Scalar::kBF16);
  }
  // The value before the rounding that gave `x`, for a store that rounds by itself; else `x`.
  const UOp* Unrounded(const UOp* x) const {
    const UOp* from = unrounded_.Get(x);
    return from ? from : x;
  }
  // The bits of `u`, whose value in f32 is `x`: the bits that were loaded or bitcast, or otherwise
  // `x` encoded.
  const UOp* BitsOf(const UOp* u, const UOp* x);
  // Records that the bits of `u`, whose value in f32 is given, are the result of the same op on its
  // sources' bits.
  void MoveBits(const UOp* u, UOpSpan srcs, const UOp* f32);
  void Unsupported(const UOp* u, std::string_view what);

  // The bits of a value that came from memory or from an integer's bits.
  struct Raw {
    Scalar scalar = Scalar::kVoid;
    const UOp* bits = nullptr;
    bool is_whole = false;  // no lane was computed or went through registers
  };

  Body& body_;
  const passes::Target& target_;
  Builder b_;
  NodeMap<const UOp*> unrounded_;
  SparseNodeMap<Raw> raw_;  // by the f32 value
  absl::Status status_;
};

void FloatTypes::Unsupported(const UOp* u, std::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(absl::StrCat(body_.Describe(u), ": target ", target_.name,
                                                  " has no ",
                                                  absl::string_view(what.data(), what.size())));
}

bool IsConstant(const UOp* u) { return IsConst(u) || u->op == Op::kVConst; }

const UOp* FloatTypes::BitsOf(const UOp* u, const UOp* x) {
  const Scalar s = u->dtype.scalar();
  const DType raw_type = RawType(u->dtype);
  if (IsConstant(u)) return b_.context().Make(u->op, raw_type, {}, u->attr);
  if (const Raw& raw = raw_.Get(x); raw.bits && raw.scalar == s) return raw.bits;
  if (IsConverted(s)) return b_.Bitcast(b_.Cast(Unrounded(x), u->dtype), raw_type);
  return b_.Bitcast(b_.Cast(EncodeFloat(b_, x, s), raw_type.WithScalar(BitsType(s))), raw_type);
}

void FloatTypes::MoveBits(const UOp* u, UOpSpan srcs, const UOp* f32) {
  const Scalar s = u->dtype.scalar();
  bool moves = false, is_whole = true;
  for (size_t i = 0; i < srcs.size(); ++i) {
    if (u->src(i)->dtype.scalar() != s || IsConstant(u->src(i))) continue;
    const Raw& raw = raw_.Get(srcs[i]);
    const bool is_raw = raw.bits && raw.scalar == s;
    moves |= is_raw;
    is_whole &= is_raw && raw.is_whole;
  }
  if (!moves) return;
  Nodes bits;
  for (size_t i = 0; i < srcs.size(); ++i) {
    bits.push_back(u->src(i)->dtype.scalar() == s ? BitsOf(u->src(i), srcs[i]) : srcs[i]);
  }
  raw_[f32] = {s, b_.context().Make(u->op, RawType(u->dtype), Span(bits), u->attr), is_whole};
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
  const auto load = [&](DType t, UOpSpan from) {
    return b_.context().Make(u->op, t, from, u->attr);
  };
  if (srcs[0]->dtype.scalar() == Scalar::kF32) return load(f32, srcs);
  Nodes raw(srcs.begin(), srcs.end());
  if (srcs.size() > 1) raw[1] = BitsOf(u->src(1), srcs[1]);
  const UOp* bits = load(RawType(u->dtype), Span(raw));
  // An f16 that no instruction converts is loaded twice here: as bits and as a number. The loads
  // that nobody uses disappear.
  const UOp* v = IsConverted(s) ? Widened(b_.Bitcast(bits, u->dtype))
                 : s == Scalar::kF16
                     ? load(f32, srcs)
                     : DecodeFloat(b_, b_.Cast(bits, f32.WithScalar(Scalar::kU32)), s);
  raw_[v] = {s, bits, true};
  return v;
}

const UOp* FloatTypes::Store(const UOp* u, UOpSpan srcs) {
  const Scalar s = u->src(1)->dtype.scalar();
  const Scalar memory = srcs[0]->dtype.scalar();
  const auto store = [&](const UOp* value) {
    return b_.context().Make(u->op, kVoid, {srcs[0], value}, u->attr);
  };
  if (memory == Scalar::kF32) return store(srcs[1]);
  if (const Raw& raw = raw_.Get(srcs[1]); raw.is_whole && raw.scalar == s) return store(raw.bits);
  // Bits, so that work-items may exchange them and neighbours are packed.
  if (IsConverted(s)) return store(BitsOf(u->src(1), srcs[1]));
  // A store to f16 rounds, so that the value before a rounding to f16 may be stored directly.
  return store(s == Scalar::kF16 ? Unrounded(srcs[1]) : BitsOf(u->src(1), srcs[1]));
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
  // Integers that f32 cannot hold exactly are larger than any f16 or fp8, so that rounding them to
  // f32 first does no harm.
  return Rounded(to == Scalar::kBF16 ? IntToStickyF32(b_, x) : b_.Cast(x, f32), to);
}

const UOp* FloatTypes::BitcastTo(const UOp* u, const UOp* x) {
  const Scalar from = u->src(0)->dtype.scalar(), to = u->dtype.scalar();
  if (!IsEmulated(from) && !IsEmulated(to)) return b_.Bitcast(x, u->dtype);
  const UOp* bits = IsEmulated(from) ? BitsOf(u->src(0), x) : x;
  return IsEmulated(to) ? FromBits(bits, u->dtype) : b_.Bitcast(bits, u->dtype);
}

const UOp* FloatTypes::FromBits(const UOp* bits, DType t) {
  const DType word = t.WithScalar(BitsType(t.scalar()));
  const UOp* v =
      IsConverted(t.scalar())
          ? Widened(b_.Bitcast(bits, t))
          : DecodeFloat(b_, b_.Cast(b_.Bitcast(bits, word), word.WithScalar(Scalar::kU32)),
                        t.scalar());
  raw_[v] = {t.scalar(), b_.Bitcast(bits, RawType(t)), true};
  return v;
}

const UOp* FloatTypes::Wmma(const UOp* u, UOpSpan srcs) {
  Nodes raw(srcs.begin(), srcs.end());
  for (size_t i = 0; i < 2; ++i) {
    const DType t = u->src(i)->dtype;
    if (!IsEmulated(t)) continue;
    raw[i] = BitsOf(u->src(i), srcs[i]);
  }
  if (IsEmulated(u->dtype)) Unsupported(u, "matrix instructions with sums of this type");
  return b_.context().Make(u->op, u->dtype, Span(raw), u->attr);
}

// Whether the f32 result of the op, on values of a narrower type, is a value of that type.
bool IsExact(Op op) {
  return op == Op::kNeg || op == Op::kTrunc || op == Op::kMax || op == Op::kMin || op == Op::kWhere;
}

// Whether each lane of the result is a lane of a source.
bool Moves(Op op) {
  return op == Op::kWhere || op == Op::kGep || op == Op::kCat || op == Op::kVectorize ||
         op == Op::kSplat;
}

// Whether the op on rounded sources gives the rounded result of the op.
bool CommutesWithRounding(Op op) { return op == Op::kNeg || Moves(op); }

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
      if (IsConverted(t.scalar())) return b_.context().Make(u->op, RawType(t), srcs, u->attr);
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
      return Wmma(u, srcs);
    case Op::kLdMatrix:
      if (!IsEmulated(t)) return WithSources(b_, u, srcs);
      return FromBits(b_.context().Make(u->op, RawType(t), srcs, u->attr), t);
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
  if (IsConstant(u)) return Constant(u);
  if (u->op == Op::kMulAcc) {
    const UOp* product = Rounded(b_.Mul(srcs[0], srcs[1]), t.scalar());
    return Rounded(b_.Add(product, srcs[2]), t.scalar());
  }
  const UOp* v = b_.context().Make(u->op, f32, srcs, u->attr);
  if (Moves(u->op)) MoveBits(u, srcs, v);
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

bool ConcernsFloatTypes(Scalar s, const passes::Target& target) {
  // An index may become a 64-bit integer.
  if (s == Scalar::kIndex) return !target.int64;
  if (s == Scalar::kF64) return !target.fp64;
  if (IsInt(s)) return BitWidth(s) == 64 && !target.int64;
  return IsFloat(s) && s != Scalar::kF32;
}

absl::Status LowerFloatTypes(Body& body, const passes::Target& target) {
  return FloatTypes(body, target).Run();
}

}  // namespace tg::legalize
