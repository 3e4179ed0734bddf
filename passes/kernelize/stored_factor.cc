#include "passes/kernelize/stored_factor.h"

#include <utility>

#include "ir/builder.h"
#include "ir/op_groups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::kernelize {
namespace {

// The axis of a movement op's source that is axis `axis` of its result, whole.
std::optional<size_t> SourceAxis(const UOp* m, size_t axis, ShapeMap& shapes) {
  const Shape &from = shapes.Of(m->src(0)), &to = shapes.Of(m);
  if (m->op == Op::kPermute) return static_cast<size_t>(m->list()[axis]);
  if (m->op == Op::kExpand || m->op == Op::kPad || m->op == Op::kShrink) {
    return from[axis] == to[axis] ? std::optional(axis) : std::nullopt;
  }
  if (m->op != Op::kReshape || !IsStatic(from) || !IsStatic(to)) return std::nullopt;
  int64_t before = 1, so_far = 1;
  for (size_t k = 0; k < axis; ++k) before *= to[k].value();
  for (size_t k = 0; k < from.size(); ++k) {
    if (so_far == before && from[k] == to[axis]) return k;
    so_far *= from[k].value();
  }
  return std::nullopt;
}

}  // namespace

const UOp* StoredFactor::ReadFrom(Context& context, const UOp* x,
                                  std::optional<int64_t> size) const {
  Builder b(context);
  llvm::SmallVector<const UOp*, 4> srcs;
  for (const auto& [m, k] : llvm::reverse(above)) {
    if (size && (m->op == Op::kReshape || m->op == Op::kExpand)) {
      Shape shape = DimsOf(m);
      shape[k] = *size;
      x = m->op == Op::kReshape ? b.Reshape(x, shape) : b.Expand(x, shape);
    } else if (size && m->op == Op::kShrink) {
      std::vector<std::pair<Dim, Dim>> ranges = PairsOf(m);
      ranges[k] = {0, *size};
      x = b.Shrink(x, ranges);
    } else {
      srcs.assign(m->srcs().begin(), m->srcs().end());
      srcs[0] = x;
      x = context.Rebuild(m, context, {srcs.data(), srcs.size()});
    }
  }
  return x;
}

bool IsWidening(const UOp* u) {
  return u->op == Op::kCast && ByteSize(u->src(0)->dtype.scalar()) <= ByteSize(u->dtype.scalar());
}

std::optional<StoredFactor> FindStored(const UOp* factor, size_t axis, ShapeMap& shapes,
                                       bool or_slice) {
  StoredFactor out;
  const UOp* u = factor;
  for (; IsMovement(u->op) || IsWidening(u); u = u->src(0)) {
    const std::optional<size_t> source =
        u->op == Op::kCast ? std::optional(axis) : SourceAxis(u, axis, shapes);
    if (!source && or_slice && u->op == Op::kShrink) break;
    if (!source) return std::nullopt;
    out.above.push_back({u, axis});
    axis = *source;
  }
  out.value = u;
  out.axis = axis;
  return out;
}

bool IsInnermost(const Shape& shape, size_t axis) {
  for (size_t k = axis + 1; k < shape.size(); ++k) {
    if (!shape[k].Is(1)) return false;
  }
  return true;
}

std::vector<int64_t> WithLast(size_t rank, size_t axis) {
  std::vector<int64_t> order;
  for (size_t k = 0; k < rank; ++k) {
    if (k != axis) order.push_back(static_cast<int64_t>(k));
  }
  order.push_back(static_cast<int64_t>(axis));
  return order;
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> out(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    out[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
  }
  return out;
}

}  // namespace tg::kernelize
