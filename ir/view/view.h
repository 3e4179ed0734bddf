// View: an affine map from a shape's coordinates to elements of flat memory, with a mask:
//
//   element(c) = offset + sum_i c[i] * strides[i],  valid where mask[i].first <= c[i] <
//   mask[i].second
//
// Outside of the mask the value is 0. Extents, strides, the offset and mask bounds are Dims;
// arithmetic on symbolic ones makes nodes of a Context.
//
// Views are normalized, so that equal maps mostly are equal views: an axis of size 1 has stride 0,
// and so has an axis with a single valid coordinate (the offset includes it); a mask that excludes
// nothing is absent; a view without any valid coordinate has strides and offset 0 and mask (0, 0)
// on every axis; one without elements is contiguous.
#ifndef TG_IR_VIEW_VIEW_H_
#define TG_IR_VIEW_VIEW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/context.h"
#include "ir/dim.h"

namespace tg {

using DimPairs = std::vector<std::pair<Dim, Dim>>;

class View {
 public:
  // Row-major over `shape`.
  static View Contiguous(Context& ctx, Shape shape);
  // `mask` empty: none (a view of rank 0 has no mask).
  static View Make(Context& ctx, Shape shape, std::vector<Dim> strides, Dim offset, DimPairs mask);

  const Shape& shape() const { return shape_; }
  const std::vector<Dim>& strides() const { return strides_; }
  const Dim& offset() const { return offset_; }
  const DimPairs& mask() const { return mask_; }
  bool has_mask() const { return !mask_.empty(); }
  bool is_contiguous(Context& ctx) const;
  // Everything is a number.
  bool is_static() const;
  // The mask leaves nothing.
  bool is_void() const;

  // Movement ops. Arguments are as the ops' attributes (ir/ops.def) and must fit.
  View Permute(Context& ctx, std::span<const int64_t> order) const;
  View Flip(Context& ctx, std::span<const int64_t> axes) const;
  View Shrink(Context& ctx, const DimPairs& bounds) const;
  View Pad(Context& ctx, const DimPairs& amounts) const;
  View Expand(Context& ctx, const Shape& shape) const;
  // Nullopt where the result is no single view.
  std::optional<View> Reshape(Context& ctx, const Shape& shape) const;
  // The view with the fewest axes that a reshape can give it.
  View Minified(Context& ctx) const;

  friend bool operator==(const View&, const View&) = default;

 private:
  View() = default;
  View Resize(Context& ctx, const DimPairs& bounds, const DimPairs& valid) const;

  Shape shape_;
  std::vector<Dim> strides_;
  Dim offset_ = 0;
  DimPairs mask_;
};

// The view that reads `inner` through `outer`, whose elements are numbered by inner's row-major
// order. nullopt if that is not a single view, or not known to be one (as with symbolic extents).
std::optional<View> Compose(Context& ctx, const View& inner, const View& outer);

// max and min of Dims.
Dim MaxDims(Context& ctx, const Dim& a, const Dim& b);
Dim MinDims(Context& ctx, const Dim& a, const Dim& b);
// Row-major strides; 0 for axes of size 1.
std::vector<Dim> RowMajorStrides(Context& ctx, const Shape& shape);

}  // namespace tg

#endif  // TG_IR_VIEW_VIEW_H_
