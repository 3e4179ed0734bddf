// A factor of a product as it is stored, seen through what repeats and rearranges it.
#ifndef TG_PASSES_KERNELIZE_STORED_FACTOR_H_
#define TG_PASSES_KERNELIZE_STORED_FACTOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "ir/shape.h"

namespace tg::kernelize {

struct StoredFactor {
  // A movement op or a cast, and the axis of its result that is axis `axis` of the value.
  struct Move {
    const UOp* op;
    size_t axis;
  };
  std::vector<Move> above;  // users first
  const UOp* value = nullptr;
  size_t axis = 0;  // of `value`

  // The factor, with `x` in place of the value, which has the same shape, or one with `size`
  // elements along the axis.
  const UOp* ReadFrom(Context& context, const UOp* x,
                      std::optional<int64_t> size = std::nullopt) const;
};

// What is stored of a factor, and which of its axes is axis `axis` of the factor, whole. Nullopt if
// none is. `or_slice`: or the slice of it that has this axis whole.
std::optional<StoredFactor> FindStored(const UOp* factor, size_t axis, ShapeMap& shapes,
                                       bool or_slice = false);

// Whether `u` is a cast that does not round, so that what is stored is below it.
bool IsWidening(const UOp* u);
bool IsInnermost(const Shape& shape, size_t axis);
// The axes in their order, with `axis` behind the others.
std::vector<int64_t> WithLast(size_t rank, size_t axis);
std::vector<int64_t> Inverse(const std::vector<int64_t>& order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_STORED_FACTOR_H_
