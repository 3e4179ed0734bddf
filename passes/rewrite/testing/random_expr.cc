#include "passes/rewrite/testing/random_expr.h"

#include <cmath>
#include <limits>

#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

constexpr Scalar kInts[] = {Scalar::kI8,  Scalar::kU8,  Scalar::kI16, Scalar::kU16,
                            Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64};

}  // namespace

RandomExpr::RandomExpr(uint64_t seed, Context& ctx, Module& module)
    : rng_(seed), ctx_(ctx), module_(module), b_(ctx) {
  for (int i = 0; i < 4; ++i) {
    const int64_t size = OneIn(3) ? int64_t{1} << Int(0, 4) : Int(1, 20);
    const UOp* end = b_.Index(size);
    const UOp* u = OneIn(2) ? b_.Range(end) : b_.Special(static_cast<SpecialName>(i), end);
    index_leaves_.push_back({u, 0, size - 1, nullptr});
  }
  const int64_t lo = Int(-20, 5), hi = lo + Int(0, 30);
  module_.vars.push_back({"v", lo, hi, {}});
  index_leaves_.push_back({b_.Var("v"), lo, hi, nullptr});
  module_.vars.push_back({"n", 1, 8, {}});
  const UOp* n = b_.Var("n");
  index_leaves_.push_back({n, 1, 8, nullptr});
  index_leaves_.push_back({b_.Range(n), 0, 7, n});
}

int64_t RandomExpr::RandomBits(Scalar s) {
  if (s == Scalar::kBool) return Int(0, 1);
  if (IsFloat(s)) {
    static constexpr double kSpecial[] = {0.0,
                                          -0.0,
                                          1.0,
                                          -1.0,
                                          0.5,
                                          2.0,
                                          3.0,
                                          1e-40,
                                          1e30,
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};
    if (OneIn(2)) return BitsFromDouble(s, kSpecial[Int(0, std::size(kSpecial) - 1)]);
    return BitsFromDouble(
        s, std::ldexp(static_cast<double>(Int(-1000, 1000)), static_cast<int>(Int(-12, 4))));
  }
  if (OneIn(4)) return OneIn(2) ? MinValue(s) : MaxValue(s);
  if (OneIn(2)) return BitsFromInt(s, Int(-8, 8));
  return BitsFromInt(s, static_cast<int64_t>(rng_()));
}

const UOp* RandomExpr::IndexLeaf() {
  return index_leaves_[static_cast<size_t>(Int(0, static_cast<int64_t>(index_leaves_.size()) - 1))]
      .node;
}

const UOp* RandomExpr::Leaf(DType type) {
  if (type.is_index()) return IndexLeaf();
  if (loads_.size() > 12 || (OneIn(2) && !loads_.empty())) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const UOp* u = loads_[static_cast<size_t>(Int(0, static_cast<int64_t>(loads_.size()) - 1))];
      if (u->dtype == type) return u;
    }
  }
  const UOp* pointer = b_.DefineGlobal(static_cast<int64_t>(type.scalar()),
                                       DType::Pointer(type.scalar(), 64, AddrSpace::kGlobal));
  const UOp* u = b_.Load(b_.IndexPtr(pointer, b_.Index(Int(0, 7) * 8)), nullptr, type.lanes());
  for (const UOp* l : loads_) {
    if (l == u) return u;
  }
  loads_.push_back(u);
  return u;
}

const UOp* RandomExpr::Constant(DType type) {
  if (!type.is_index()) return b_.ConstBits(type, RandomBits(type.scalar()));
  if (OneIn(3)) return b_.Index((OneIn(4) ? -1 : 1) * (int64_t{1} << Int(0, 6)));
  return b_.Index(OneIn(4) ? Int(-40, 200) : Int(-4, 24));
}

// A leaf, perhaps divided or reduced by a small constant, as terms of addresses are.
const UOp* RandomExpr::SmallIndex() {
  const UOp* u = IndexLeaf();
  if (OneIn(3)) u = b_.Alu(OneIn(2) ? Op::kFloorDiv : Op::kFloorMod, {u, b_.Index(Int(1, 9))});
  if (OneIn(2)) u = b_.Mul(u, Constant(kIndex));
  return u;
}

const UOp* RandomExpr::MakeIndex(int size) {
  if (size <= 0) return OneIn(4) ? Constant(kIndex) : OneIn(2) ? SmallIndex() : IndexLeaf();
  const int left = static_cast<int>(Int(0, size - 1)), right = size - 1 - left;
  switch (Int(0, 13)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return b_.Add(MakeIndex(left), MakeIndex(right));
    case 4:
      return b_.Sub(MakeIndex(left), MakeIndex(right));
    case 5:
      return b_.Mul(MakeIndex(size - 1), Constant(kIndex));
    case 6:
    case 7:
      return b_.Alu(Op::kFloorDiv, {MakeIndex(size - 1), Constant(kIndex)});
    case 8:
    case 9:
      return b_.Alu(Op::kFloorMod, {MakeIndex(size - 1), Constant(kIndex)});
    case 10:
      return b_.Alu(OneIn(2) ? Op::kCDiv : Op::kCMod,
                    {MakeIndex(left), OneIn(2) ? Constant(kIndex) : MakeIndex(right)});
    case 11:
      return b_.Alu(OneIn(2) ? Op::kFloorDiv : Op::kFloorMod, {MakeIndex(left), MakeIndex(right)});
    case 12:
      return b_.Alu(OneIn(2) ? Op::kMax : Op::kMin, {MakeIndex(left), MakeIndex(right)});
    default:
      if (OneIn(3)) return b_.Mul(MakeIndex(left), MakeIndex(right));
      return b_.Where(Make(kBool, 1), MakeIndex(left), MakeIndex(right));
  }
}

const UOp* RandomExpr::MakeInt(DType type, int size) {
  if (size <= 0) return OneIn(3) ? Constant(type) : Leaf(type);
  const int left = static_cast<int>(Int(0, size - 1)), right = size - 1 - left;
  static constexpr Op kOps[] = {Op::kAdd, Op::kAdd,      Op::kAdd,      Op::kSub,  Op::kMul,
                                Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
                                Op::kMax, Op::kMin,      Op::kAnd,      Op::kOr,   Op::kXor,
                                Op::kShl, Op::kShr};
  if (OneIn(8))
    return b_.Where(Make(kBool.WithLanes(type.lanes()), 1), Make(type, left), Make(type, right));
  if (OneIn(8)) {
    const DType from = OneIn(4)                        ? DType(Scalar::kBool, type.lanes())
                       : OneIn(4)                      ? DType(Scalar::kF32, type.lanes())
                       : OneIn(3) && type.lanes() == 1 ? kIndex
                                                       : DType(kInts[Int(0, 7)], type.lanes());
    return b_.Cast(Make(from, size - 1), type);
  }
  if (OneIn(12)) return b_.Alu(Op::kNeg, {Make(type, size - 1)});
  const Op op = kOps[Int(0, std::size(kOps) - 1)];
  if (op == Op::kShl || op == Op::kShr) {
    return b_.Alu(op,
                  {Make(type, left), OneIn(2) ? b_.ConstInt(type, Int(0, 9)) : Make(type, right)});
  }
  return b_.Alu(op,
                {Make(type, left), OneIn(2) ? b_.ConstInt(type, Int(-9, 17)) : Make(type, right)});
}

const UOp* RandomExpr::MakeBool(DType type, int size) {
  if (size <= 0) return OneIn(5) ? Constant(type) : Leaf(type);
  const int left = static_cast<int>(Int(0, size - 1)), right = size - 1 - left;
  if (OneIn(2)) {
    const DType of =
        type.lanes() == 1 && !OneIn(4) ? kIndex : DType(kInts[Int(0, 7)], type.lanes());
    const UOp* a = Make(of, left);
    const UOp* b = OneIn(2) ? Constant(of) : Make(of, right);
    if (OneIn(4)) std::swap(a, b);
    return b_.Alu(OneIn(4) ? Op::kCmpNe : Op::kCmpLt, {a, b});
  }
  if (OneIn(4)) return b_.Not(Make(type, size - 1));
  if (OneIn(6)) return b_.Where(Make(type, 1), Make(type, left), Make(type, right));
  static constexpr Op kOps[] = {Op::kAnd, Op::kAnd, Op::kOr,  Op::kXor,   Op::kAdd,
                                Op::kMul, Op::kMax, Op::kMin, Op::kCmpLt, Op::kCmpNe};
  return b_.Alu(kOps[Int(0, std::size(kOps) - 1)], {Make(type, left), Make(type, right)});
}

const UOp* RandomExpr::MakeFloat(DType type, int size) {
  if (size <= 0) return OneIn(3) ? Constant(type) : Leaf(type);
  const int left = static_cast<int>(Int(0, size - 1)), right = size - 1 - left;
  static constexpr Op kOps[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul,
                                Op::kDiv, Op::kMax, Op::kMin};
  static constexpr Op kUnary[] = {Op::kNeg, Op::kNeg, Op::kRecip, Op::kSqrt, Op::kTrunc};
  if (OneIn(6))
    return b_.Where(Make(kBool.WithLanes(type.lanes()), 1), Make(type, left), Make(type, right));
  if (OneIn(8)) {
    const DType from = DType(OneIn(2)   ? kInts[Int(0, 7)]
                             : OneIn(2) ? Scalar::kBool
                                        : Scalar::kF16,
                             type.lanes());
    return b_.Cast(Make(from, size - 1), type);
  }
  if (OneIn(5)) return b_.Alu(kUnary[Int(0, 3)], {Make(type, size - 1)});
  return b_.Alu(kOps[Int(0, std::size(kOps) - 1)], {Make(type, left), Make(type, right)});
}

const UOp* RandomExpr::MakeLanes(DType type, int size) {
  const int lanes = type.lanes();
  std::vector<int64_t> picks;
  std::vector<const UOp*> parts;
  switch (Int(0, 3)) {
    case 0:
      return b_.Splat(Make(type.WithLanes(1), size), lanes);
    case 1: {
      const UOp* one = Make(type.WithLanes(1), size / 2);
      for (int i = 0; i < lanes; ++i) {
        parts.push_back(OneIn(2) ? one : Make(type.WithLanes(1), size / lanes));
      }
      return b_.Vectorize(parts);
    }
    case 2: {
      const int wide = OneIn(2) ? lanes : 4;
      for (int i = 0; i < lanes; ++i) picks.push_back(OneIn(2) ? i % wide : Int(0, wide - 1));
      return b_.Gep(Make(type.WithLanes(wide), size), picks);
    }
    default:
      if (lanes % 2) return Make(type, size);
      for (int i = 0; i < 2; ++i) {
        const UOp* part = Make(type.WithLanes(lanes / 2), size / 2);
        parts.push_back(part);
      }
      return lanes == 2 ? b_.Vectorize(parts) : b_.Cat(parts);
  }
}

const UOp* RandomExpr::Make(DType type, int size) {
  if (type.lanes() > 1 && (OneIn(3) || type.is_index())) return MakeLanes(type, size - 1);
  if (type.is_index()) return MakeIndex(size);
  if (type.is_bool()) return MakeBool(type, size);
  return type.is_float() ? MakeFloat(type, size) : MakeInt(type, size);
}

Values RandomExpr::RandomLeaves(bool corner) {
  Values values;
  for (const LeafInfo& l : index_leaves_) {
    const int64_t hi = l.end ? values.at(l.end)[0] - 1 : l.hi;
    values[l.node] = {corner ? (OneIn(2) ? l.lo : hi) : Int(l.lo, hi)};
  }
  for (const UOp* u : loads_) {
    Lanes lanes;
    for (int i = 0; i < u->dtype.lanes(); ++i) lanes.push_back(RandomBits(u->dtype.scalar()));
    values[u] = lanes;
  }
  return values;
}

std::vector<Values> RandomExpr::AllLeaves(const UOp* root, size_t limit) {
  NodeSet reached;
  for (const UOp* u : PostOrder(root)) reached.Insert(u);
  for (const UOp* u : loads_) {
    if (reached.Contains(u)) return {};
  }
  std::vector<Values> all = {{}};
  for (const LeafInfo& l : index_leaves_) {
    if (!reached.Contains(l.node)) continue;
    std::vector<Values> next;
    for (const Values& v : all) {
      const int64_t hi = l.end && v.contains(l.end) ? v.at(l.end)[0] - 1 : l.hi;
      for (int64_t i = l.lo; i <= hi; ++i) {
        if (next.size() == limit) return {};
        next.push_back(v);
        next.back()[l.node] = {i};
      }
    }
    all = std::move(next);
  }
  return all;
}

std::string ToText(const Context& ctx, const UOp* u) {
  if (u->op == Op::kConst) {
    return u->dtype.is_float() ? std::to_string(DoubleFromBits(u->dtype.scalar(), u->word()))
                               : std::to_string(u->word());
  }
  if (u->op == Op::kVar) return std::string(ctx.String(static_cast<StringId>(u->word())));
  std::string s(Mnemonic(u->op));
  if (u->op == Op::kRange)
    return s + std::to_string(u->word()) + "<" + ToText(ctx, u->src(0)) + ">";
  if (u->op == Op::kSpecial)
    return "g" + std::to_string(u->word()) + "<" + ToText(ctx, u->src(0)) + ">";
  if (u->op == Op::kLoad) return "load" + std::to_string(u->id) + ":" + u->dtype.ToString();
  if (u->op == Op::kCast) s += ":" + u->dtype.ToString();
  s += "(";
  for (size_t i = 0; i < u->num_srcs; ++i) s += (i ? ", " : "") + ToText(ctx, u->src(i));
  if (u->op == Op::kGep || u->op == Op::kVConst) {
    for (int64_t v : u->list()) s += " " + std::to_string(v);
  }
  return s + ")";
}

}  // namespace tg::testing
