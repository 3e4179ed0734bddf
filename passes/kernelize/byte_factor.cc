#include "passes/kernelize/byte_factor.h"

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"

namespace tg::kernelize {
namespace {

bool IsByte(const UOp* u) {
  return u->dtype.scalar() == Scalar::kU8 || u->dtype.scalar() == Scalar::kI8;
}

}  // namespace

bool IsOneNumber(const Shape& shape) {
  return llvm::all_of(shape, [](const Dim& d) { return d.Is(1); });
}

bool OnlyRepeats(const UOp* u) {
  return u->op == Op::kReshape || u->op == Op::kExpand || u->op == Op::kPermute;
}

std::optional<AxisMask> AxesBelow(ShapeMap& shapes, const UOp* u, const AxisMask& mask) {
  const Shape &from = shapes.Of(u->src(0)), &to = shapes.Of(u);
  AxisMask out(from.size(), false);
  switch (u->op) {
    case Op::kPermute:
      for (size_t i = 0; i < to.size(); ++i) out[static_cast<size_t>(u->list()[i])] = mask[i];
      return out;
    case Op::kExpand:
      for (size_t i = 0; i < to.size(); ++i) out[i] = mask[i] && from[i] == to[i];
      return out;
    case Op::kReshape:
      for (const analysis::ReshapeGroup& g : analysis::GroupReshape(from, to)) {
        bool varies = false;
        for (size_t i = g.to_begin; i < g.to_end; ++i) varies |= mask[i] && !to[i].Is(1);
        for (size_t i = g.from_begin; i < g.from_end; ++i) out[i] = varies && !from[i].Is(1);
      }
      return out;
    case Op::kFlip:
    case Op::kPad:
    case Op::kShrink:
      return mask;
    default:
      return std::nullopt;
  }
}

const UOp* Moved(Context& context, const UOp* u, const UOp* x) {
  std::vector<const UOp*> srcs(u->srcs().begin(), u->srcs().end());
  srcs[0] = x;
  return context.Make(u->op, x->dtype, srcs, u->attr);
}

const UOp* Moved(Context& context, UOpSpan movement, const UOp* x) {
  for (size_t i = movement.size(); i-- > 0;) x = Moved(context, movement[i], x);
  return x;
}

const UOp* ByteFactorReader::First(const UOp* x, const Shape& shape, const AxisMask& mask) {
  std::vector<std::pair<Dim, Dim>> ranges;
  for (size_t i = 0; i < shape.size(); ++i) ranges.emplace_back(0, mask[i] ? Dim(1) : shape[i]);
  return b_.Shrink(x, ranges);
}

bool ByteFactorReader::Varies(const UOp* x, AxisMask along) {
  // Scales and zero points are made by few ops.
  constexpr size_t kMostNodes = 32;
  std::vector<std::pair<const UOp*, AxisMask>> stack = {{x, std::move(along)}};
  for (size_t seen = 0; !stack.empty(); ++seen) {
    const auto [u, mask] = std::move(stack.back());
    stack.pop_back();
    if (!llvm::is_contained(mask, true)) continue;
    if (seen == kMostNodes) return true;
    if (OnlyRepeats(u)) {
      const std::optional<AxisMask> below = AxesBelow(shapes_, u, mask);
      if (!below) return true;
      stack.emplace_back(u->src(0), *below);
    } else if (IsElementwise(u->op) && u->num_srcs > 0) {
      for (const UOp* s : u->srcs()) {
        if (!shapes_.Of(s).empty()) stack.emplace_back(s, mask);
      }
    } else {
      return true;
    }
  }
  return false;
}

const UOp* ByteFactorReader::Invariant(const ByteFactor& factor, const UOp* x) {
  const UOp* below = x;
  while (OnlyRepeats(below)) below = below->src(0);
  if (IsOneNumber(shapes_.Of(below))) {
    return shapes_.Of(below).empty() ? below : b_.Reshape(below, {});
  }
  if (factor.is_padded) return nullptr;
  AxisMask along = terms_;
  for (const UOp* u : factor.movement) {
    std::optional<AxisMask> next = AxesBelow(shapes_, u, along);
    if (!next) return nullptr;
    along = *std::move(next);
  }
  if (Varies(x, std::move(along))) return nullptr;
  return First(Moved(b_.context(), factor.movement, x), shape_, terms_);
}

std::optional<ByteFactor> ByteFactorReader::Read(const UOp* u) {
  ByteFactor factor;
  const auto subtract = [&](const UOp* z) {
    factor.zero = factor.zero ? b_.Add(factor.zero, z) : z;
  };
  while (true) {
    if (IsMovement(u->op)) {
      factor.is_padded |= u->op == Op::kPad || u->op == Op::kView;
      factor.movement.push_back(u);
      u = u->src(0);
      continue;
    }
    switch (u->op) {
      case Op::kMul: {
        if (u->dtype.scalar() != Scalar::kF32) return std::nullopt;
        // The factor that holds the bytes is a sum of integers that is cast.
        const UOp* scale = Invariant(factor, u->src(1));
        const UOp* rest = u->src(0);
        if (!scale || rest->op == Op::kConst) {
          scale = Invariant(factor, u->src(0));
          rest = u->src(1);
        }
        if (!scale) return std::nullopt;
        factor.scale = factor.scale ? b_.Mul(factor.scale, scale) : scale;
        u = rest;
        continue;
      }
      case Op::kCast: {
        const UOp* x = u->src(0);
        const Scalar to = u->dtype.scalar();
        if (to != Scalar::kI32 && to != Scalar::kF32) return std::nullopt;
        if (IsByte(x)) {
          factor.bytes = x;
          return factor;
        }
        if (x->dtype.scalar() != Scalar::kI32) return std::nullopt;
        u = x;
        continue;
      }
      case Op::kSub: {
        if (u->dtype.scalar() != Scalar::kI32) return std::nullopt;
        const UOp* zero = Invariant(factor, u->src(1));
        if (!zero) return std::nullopt;
        subtract(zero);
        u = u->src(0);
        continue;
      }
      case Op::kAdd: {
        if (u->dtype.scalar() != Scalar::kI32 || u->src(1)->op != Op::kConst) return std::nullopt;
        subtract(b_.ConstInt(kI32, -u->src(1)->word()));
        u = u->src(0);
        continue;
      }
      default:
        return std::nullopt;
    }
  }
}

}  // namespace tg::kernelize
