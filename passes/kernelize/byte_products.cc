#include "passes/kernelize/byte_products.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "passes/analysis/bounds.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/byte_factor.h"
#include "passes/kernelize/byte_words.h"

namespace tg::kernelize {
namespace {

constexpr int64_t kOnes = 0x01010101;

// A factor in the sum of dot4: its bytes have the sign of their operand.
struct Side {
  ByteFactor factor;
  WordPlace place;
  const UOp* words = nullptr;  // at the shape of the terms
  AxisMask varies;             // the axes of the products' shape along which the factor varies
};

class Products {
 public:
  Products(const Module& module, Body& body, ShapeMap& shapes, const passes::Target& target,
           NodeSet& fused)
      : body_(body),
        b_(*body.context),
        shapes_(shapes),
        words_(b_, shapes),
        fused_(fused),
        bounds_(*body.context, &module),
        stored_(cost::BytesOfLaunch(target)),
        reassociates_(!module.flags.has(ModuleFlag::kNoReassociate)) {
    for (const BufferDecl& decl : module.buffers) {
      if (decl.role == Role::kParam) params_.insert(decl.name);
    }
  }

  void Run(UOpSpan order) {
    for (const UOp* u : order) {
      if (u->op == Op::kReduceAxis && u->src(0)->op == Op::kMul) FindCodes(u->src(0));
    }
    std::vector<const UOp*> srcs;
    for (const UOp* u : order) {
      NoteFixed(u);
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
      const UOp* to = nullptr;
      if (u->op == Op::kReduceAxis) to = Sum(u, srcs[0]);
      if (to) {
        of_sums_.Insert(to);
        from_sums_.Insert(to);
      }
      if (!to && IsElementwise(u->op)) to = AboveMovement(u, srcs);
      if (!to) to = b_.context().Rebuild(u, b_.context(), srcs);
      if (IsElementwise(u->op) || IsMovement(u->op)) {
        const auto is_from = [&](const UOp* s) { return from_sums_.Contains(s); };
        if (llvm::any_of(srcs, is_from)) from_sums_.Insert(to);
      }
      if (codes_.Contains(u) && from_sums_.Contains(to) &&
          ByteWords::Elements(shapes_.Of(to)) >= stored_) {
        to = Stored(to);
      }
      map_[u] = to;
      if (to != u) {
        NoteFixed(to);
        body_.CarryOver(u, to);
        if (fused_.Contains(u)) fused_.Insert(to);
      }
    }
    body_.root = map_.Get(body_.root);
  }

 private:
  // Notes the bytes from which the factors of product `x` may be made.
  void FindCodes(const UOp* x) {
    constexpr size_t kMostNodes = 64;
    std::vector<const UOp*> stack(x->srcs().begin(), x->srcs().end());
    for (size_t seen = 0; !stack.empty() && seen < kMostNodes; ++seen) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (u->dtype.scalar() == Scalar::kU8 || u->dtype.scalar() == Scalar::kI8) {
        while (IsMovement(u->op)) u = u->src(0);
        codes_.Insert(u);
      } else if (IsMovement(u->op) || u->op == Op::kCast || u->op == Op::kSub) {
        stack.push_back(u->src(0));
      } else if (u->op == Op::kMul) {
        stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
      }
    }
  }

  // Codes that are computed from sums, stored as bytes: if words were, their kernel would have four
  // sums for each. The movement of the codes stays outside.
  const UOp* Stored(const UOp* x) {
    std::vector<const UOp*> movement;
    while (OnlyRepeats(x)) {
      movement.push_back(x);
      x = x->src(0);
    }
    x = b_.context().Make(Op::kContiguous, x->dtype, {x});
    return Moved(b_.context(), movement, x);
  }

  // Records whether the value depends on no input.
  void NoteFixed(const UOp* u) {
    const bool is_leaf =
        u->op == Op::kConst || u->op == Op::kIota ||
        (u->op == Op::kBuffer &&
         params_.contains(body_.context->String(static_cast<StringId>(u->word()))));
    const bool is_made = u->num_srcs > 0 && (IsElementwise(u->op) || IsMovement(u->op) ||
                                             u->op == Op::kReduceAxis || u->op == Op::kContiguous);
    const auto fixed = [&](const UOp* s) { return fixed_.Contains(s); };
    if (is_leaf || (is_made && llvm::all_of(u->srcs(), fixed))) fixed_.Insert(u);
  }

  // Elementwise `u` of a sum, or of what is computed from it and from single numbers, before the
  // movement that the sum has here. So its codes are computed along the axes of the product, by
  // the product's kernel. Null for other ops.
  const UOp* AboveMovement(const UOp* u, const std::vector<const UOp*>& srcs) {
    std::vector<const UOp*> movement;
    const UOp* sum = nullptr;
    for (const UOp* s : srcs) {
      const UOp* below = s;
      while (OnlyRepeats(below) && below->op != Op::kExpand) below = below->src(0);
      if (!of_sums_.Contains(below) || below == sum) continue;
      if (sum) return nullptr;
      sum = below;
      for (const UOp* m = s; m != below; m = m->src(0)) movement.push_back(m);
    }
    if (!sum) return nullptr;
    const Shape& shape = shapes_.Of(sum);
    std::vector<const UOp*> operands;
    for (const UOp* s : srcs) {
      const UOp* below = s;
      std::vector<const UOp*> own;
      for (; OnlyRepeats(below) && !of_sums_.Contains(below); below = below->src(0)) {
        own.push_back(below);
      }
      if (below == sum && own == movement) {
        operands.push_back(sum);
      } else if (shapes_.Of(s).empty()) {
        operands.push_back(s);
      } else if (IsOneNumber(shapes_.Of(below))) {
        operands.push_back(b_.Expand(b_.Reshape(below, Shape(shape.size(), 1)), shape));
      } else {
        return nullptr;
      }
    }
    const UOp* value = b_.context().Make(u->op, u->dtype, operands, u->attr);
    of_sums_.Insert(value);
    NoteFixed(value);
    return Moved(b_.context(), movement, value);
  }

  // The sum of dot4 that replaces reduce `u` of `x`; null if it has another form.
  const UOp* Sum(const UOp* u, const UOp* x) {
    const Scalar type = u->dtype.scalar();
    const bool is_float = type == Scalar::kF32;
    if (static_cast<Op>(u->word()) != Op::kAdd || x->op != Op::kMul) return nullptr;
    if (type != Scalar::kI32 && !(is_float && reassociates_)) return nullptr;
    const Shape& shape = shapes_.Of(x);
    AxisMask terms(shape.size(), false);
    int64_t count = 1;
    for (const int64_t axis : u->list(1)) {
      const Dim& extent = shape[static_cast<size_t>(axis)];
      if (extent.is_symbolic()) return nullptr;
      terms[static_cast<size_t>(axis)] = true;
      count *= extent.value();
    }
    ByteFactorReader reader(b_, shapes_, shape, terms);
    Side sides[2];
    for (size_t i = 0; i < 2; ++i) {
      const UOp* factor = x->src(i);
      if (shapes_.Of(factor) != shape) return nullptr;
      std::optional<ByteFactor> read = reader.Read(factor);
      if (!read) return nullptr;
      sides[i].factor = *std::move(read);
    }
    if (is_float && !FitsInI32(count, sides)) return nullptr;
    std::optional<size_t> along;
    int64_t most = 0;
    for (const int64_t axis : u->list(1)) {
      const auto a = static_cast<size_t>(axis);
      const int64_t extent = shape[a].value();
      if (extent <= most || 2 * extent < RoundUp(extent, 4)) continue;
      WordPlace places[2];
      if (!words_.Find(sides[0].factor, a, shape, places[0]) ||
          !words_.Find(sides[1].factor, a, shape, places[1])) {
        continue;
      }
      most = extent, along = a;
      for (size_t i = 0; i < 2; ++i) sides[i].place = places[i];
    }
    if (!along) return nullptr;
    GiveSigns(sides);
    for (Side& side : sides) {
      side.words = words_.Make(side.factor, side.place);
      side.varies = VariesAlong(side.factor, shape);
    }
    return Assembled(u, sides, count, shape, *along, terms);
  }

  // Whether the exact sum of `count` terms is a number of i32, whatever the bytes are.
  bool FitsInI32(int64_t count, const Side (&sides)[2]) {
    for (const Side& side : sides) {
      if (!side.factor.zero) continue;
      const analysis::Interval zero = bounds_.Of(side.factor.zero);
      if (zero.lo < -128 || zero.hi > 255) return false;
    }
    constexpr int64_t kGreatest = 383;  // |byte - zero|
    return count <= INT32_MAX / (kGreatest * kGreatest);
  }

  // Makes the first factor's bytes unsigned and the second one's signed: swaps them, or offsets one
  // of two with the same sign, so that the sum of one that no input reaches corrects it.
  void GiveSigns(Side (&sides)[2]) {
    const auto is_signed = [&](size_t i) {
      return sides[i].factor.bytes->dtype.scalar() == Scalar::kI8;
    };
    const auto is_fixed = [&](size_t i) { return fixed_.Contains(sides[i].factor.bytes); };
    const bool swap = is_signed(0) != is_signed(1) ? is_signed(0) : is_fixed(0) && !is_fixed(1);
    if (swap) std::swap(sides[0], sides[1]);
    if (is_signed(0) != is_signed(1)) return;
    const bool both_signed = is_signed(0);
    ByteFactor& factor = sides[both_signed ? 0 : 1].factor;
    const DType to = both_signed ? Scalar::kU8 : Scalar::kI8;
    const UOp* bytes =
        b_.Alu(Op::kXor, {b_.Bitcast(factor.bytes, to), b_.ConstInt(to, both_signed ? 128 : -128)});
    if (fixed_.Contains(factor.bytes)) fixed_.Insert(bytes);
    factor.bytes = bytes;
    const int64_t offset = both_signed ? 128 : -128;
    if (!factor.zero) {
      factor.zero = b_.ConstInt(kI32, offset);
    } else if (factor.zero->op == Op::kConst) {
      const int64_t sum = factor.zero->word() + offset;
      factor.zero = sum == 0 ? nullptr : b_.ConstInt(kI32, sum);
    } else {
      factor.zero = b_.Add(factor.zero, b_.ConstInt(kI32, offset));
    }
  }

  // The axes of the products along which the factor's bytes are not the same.
  AxisMask VariesAlong(const ByteFactor& factor, const Shape& shape) {
    AxisMask out(shape.size(), false);
    for (size_t a = 0; a < shape.size(); ++a) {
      AxisMask mask(shape.size(), false);
      mask[a] = true;
      bool varies = true;
      for (const UOp* u : factor.movement) {
        std::optional<AxisMask> next = AxesBelow(shapes_, u, mask);
        if (!next) break;
        mask = *std::move(next);
        varies = llvm::is_contained(mask, true);
        if (!varies) break;
      }
      out[a] = varies;
    }
    return out;
  }

  const UOp* Assembled(const UOp* u, const Side (&sides)[2], int64_t count, const Shape& shape,
                       size_t along, const AxisMask& terms) {
    const std::vector<int64_t> axes(u->list(1).begin(), u->list(1).end());
    const UOp* none = b_.ConstInt(kI32, 0);
    const UOp* ones = b_.ConstInt(kI32, kOnes);
    Shape words = shape, sums = shape;
    words[along] = CeilDiv(words[along].value(), 4);
    for (size_t a = 0; a < sums.size(); ++a) sums[a] = terms[a] ? Dim(1) : sums[a];
    const UOp* total =
        b_.ReduceAxis(b_.Alu(Op::kDot4, {sides[0].words, sides[1].words, none}), Op::kAdd, axes);
    // The sum of a factor's bytes, once for all products that it is in.
    const auto sum_of = [&](size_t i) {
      AxisMask repeats = sides[i].varies;
      for (size_t a = 0; a < repeats.size(); ++a) repeats[a] = !repeats[a] && !terms[a];
      // Of what is not repeated yet: a symbolic number of repeats is no constant.
      const UOp* x = sides[i].words;
      const auto adds_repeats = [&] {
        const Shape &from = shapes_.Of(x->src(0)), &to = shapes_.Of(x);
        return llvm::all_of(llvm::seq<size_t>(0, to.size()),
                            [&](size_t a) { return repeats[a] || from[a] == to[a]; });
      };
      while (x->op == Op::kExpand && adds_repeats()) x = x->src(0);
      std::vector<std::pair<Dim, Dim>> ranges;
      for (size_t a = 0; a < words.size(); ++a) {
        ranges.emplace_back(0, repeats[a] ? Dim(1) : words[a]);
      }
      x = b_.Shrink(x, ranges);
      const UOp* dot =
          i == 0 ? b_.Alu(Op::kDot4, {x, ones, none}) : b_.Alu(Op::kDot4, {ones, x, none});
      return b_.ReduceAxis(dot, Op::kAdd, axes);
    };
    const auto at_sums = [&](const UOp* x) {
      return shapes_.Of(x).empty() || shapes_.Of(x) == sums ? x : b_.Expand(x, sums);
    };
    const UOp *zero0 = sides[0].factor.zero, *zero1 = sides[1].factor.zero;
    if (zero0) {
      const UOp* sum = sum_of(1);
      if (zero1) {
        const UOp* all = b_.Mul(zero1, b_.ConstInt(kI32, count));
        if (shapes_.Of(all).empty()) {
          sum = b_.Sub(sum, all);
        } else {
          sum = b_.Sub(at_sums(sum), all);
        }
      }
      total = b_.Sub(total, at_sums(shapes_.Of(zero0).empty() ? b_.Mul(sum, zero0)
                                                              : b_.Mul(at_sums(sum), zero0)));
    }
    if (zero1) {
      const UOp* sum = sum_of(0);
      total = b_.Sub(total, at_sums(shapes_.Of(zero1).empty() ? b_.Mul(sum, zero1)
                                                              : b_.Mul(at_sums(sum), zero1)));
    }
    if (u->dtype.scalar() == Scalar::kI32) return total;
    const UOp* y = b_.Cast(total, Scalar::kF32);
    const UOp *scale0 = sides[0].factor.scale, *scale1 = sides[1].factor.scale;
    const UOp* scale = scale0 && scale1 ? b_.Mul(scale0, scale1) : scale0 ? scale0 : scale1;
    return scale ? b_.Mul(y, scale) : y;
  }

  Body& body_;
  Builder b_;
  ShapeMap& shapes_;
  ByteWords words_;
  NodeSet& fused_;
  analysis::Bounds bounds_;
  // Codes of at least as many bytes are stored: to move them takes longer than a launch.
  const double stored_;
  const bool reassociates_;
  std::unordered_set<std::string_view> params_;
  NodeSet fixed_;
  NodeSet codes_;      // in the given graph: bytes that factors of products are made of
  NodeSet from_sums_;  // what is computed from sums of dot4 by elementwise and movement ops
  NodeSet of_sums_;    // sums of dot4, and what is computed from one and from single numbers
  NodeMap<const UOp*> map_;
};

}  // namespace

void MakeByteProducts(const Module& module, Body& body, ShapeMap& shapes,
                      const passes::Target& target, NodeSet& fused, UOpSpan order) {
  if (target.dot4_rate <= 0) return;
  const auto is_bytes = [](const UOp* u) {
    return u->dtype.scalar() == Scalar::kU8 || u->dtype.scalar() == Scalar::kI8;
  };
  if (llvm::none_of(order, is_bytes)) return;
  Products(module, body, shapes, target, fused).Run(order);
}

}  // namespace tg::kernelize
