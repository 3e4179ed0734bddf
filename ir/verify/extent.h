// Numbers of shapes and views: limits, and which flat elements a view touches.
#ifndef TG_IR_VERIFY_EXTENT_H_
#define TG_IR_VERIFY_EXTENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"

namespace tg::verify {

// Limit of extents, strides and offsets, so that sums of a few do not overflow.
inline constexpr int kMaxExtentBits = 56;
inline constexpr int64_t kMaxExtent = int64_t{1} << kMaxExtentBits;
// As text, for errors: "2^56".
inline std::string MaxExtentText() { return "2^" + std::to_string(kMaxExtentBits); }
inline constexpr int64_t kMaxImageSide = int64_t{1} << 20;

// The product of the extents. Nullopt if one is negative, or if the product of the extents that are
// not 0 does not fit in 62 bits.
std::optional<int64_t> CountElements(std::span<const int64_t> extents);

// Element (i0, i1, ...) is at offset + sum of ik * strides[k].
struct View {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;
  std::vector<std::pair<int64_t, int64_t>> mask;  // [begin, end) on each axis; empty: all
};
View ContiguousView(std::span<const int64_t> shape);
bool IsContiguous(const View& v);

// The views of a `view` op, or nullopt where one has a symbolic entry.
std::optional<std::vector<View>> StaticViewsOf(const UOp* u);

// The least and the greatest offset of an unmasked element. nullopt if there is no such element or
// a number overflows.
std::optional<std::pair<int64_t, int64_t>> OffsetsOf(const View& v);

// `v` after a movement op, or nullopt if the result is no strided view or is not static.
std::optional<View> ThroughMovement(const View& v, const UOp* op);

// Whether the views certainly have an element in common. Exact for views that are boxes of one
// row-major array, as `shrink` makes them; for others false means that it is not known.
bool SurelyOverlap(const View& a, const View& b);

}  // namespace tg::verify

#endif  // TG_IR_VERIFY_EXTENT_H_
