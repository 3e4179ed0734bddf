// ShapeTracker: a map from coordinates to elements of flat memory, as a list of views. The last
// view maps the coordinates to a number. The view before it splits that number into coordinates,
// row-major in its shape, and maps them in turn. The number that the first view gives is the
// element. An element is valid if every view's mask includes it; elsewhere the value is 0.
//
// Views are merged whenever that is possible. The list grows only if the result of a reshape is not
// a single view.
#ifndef TG_IR_VIEW_SHAPE_TRACKER_H_
#define TG_IR_VIEW_SHAPE_TRACKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/view/view.h"

namespace tg {

class ShapeTracker {
 public:
  // All of memory, row-major.
  static ShapeTracker Contiguous(Context& ctx, Shape shape);
  // Merges what it can.
  static ShapeTracker Of(Context& ctx, std::vector<View> views);

  const std::vector<View>& views() const { return views_; }
  const Shape& shape() const { return views_.back().shape(); }
  bool is_contiguous(Context& ctx) const {
    return views_.size() == 1 && views_[0].is_contiguous(ctx);
  }
  bool is_static() const;

  ShapeTracker Permute(Context& ctx, std::span<const int64_t> order) const;
  ShapeTracker Flip(Context& ctx, std::span<const int64_t> axes) const;
  ShapeTracker Shrink(Context& ctx, const DimPairs& bounds) const;
  ShapeTracker Pad(Context& ctx, const DimPairs& amounts) const;
  ShapeTracker Expand(Context& ctx, const Shape& shape) const;
  ShapeTracker Reshape(Context& ctx, const Shape& shape) const;
  // After a movement op (`u`: its op and attribute; its source is what this tracker describes).
  ShapeTracker After(Context& ctx, const UOp* u) const;
  // This movement, and then `next` on its elements.
  ShapeTracker Then(Context& ctx, const ShapeTracker& next) const;

  // The element at these coordinates, or nullopt if a mask excludes it. `value` evaluates symbolic
  // Dims; it is not called if everything is static.
  using DimValue = std::function<int64_t(const UOp*)>;
  std::optional<int64_t> Locate(std::span<const int64_t> coordinates,
                                const DimValue& value = nullptr) const;

  // The same as nodes: the element's number, and whether it is valid (null: always). Folds only
  // the simplest identities.
  struct Address {
    const UOp* index = nullptr;
    const UOp* valid = nullptr;
  };
  Address AddressOf(Builder& b, UOpSpan coordinates) const;

  // The stride of the element's number along each axis, nullopt if it is not affine along the axis.
  // An axis that a mask restricts is not affine, unless masks are ignored.
  std::vector<std::optional<Dim>> RealStrides(Context& ctx, bool ignore_masks = false) const;
  // The least number of elements that the memory must have: 1 + the greatest element that the
  // first view can reach. All extents must be static.
  int64_t RealSize() const;

  // The attribute words of a `view` op (see ir/uop.h, Attr) and the nodes of its symbolic entries
  // in order.
  struct Encoding {
    std::vector<int64_t> words;
    std::vector<const UOp*> symbols;
  };
  Encoding Encode() const;
  // The inverse of Encode. Views are not merged.
  static ShapeTracker Decode(Context& ctx, std::span<const int64_t> words, UOpSpan symbols);

  friend bool operator==(const ShapeTracker&, const ShapeTracker&) = default;

 private:
  explicit ShapeTracker(std::vector<View> views) : views_(std::move(views)) {}
  ShapeTracker WithLast(Context& ctx, View last) const;

  std::vector<View> views_;
};

// `view` op of `x` through `st`.
const UOp* MakeView(Builder& b, const UOp* x, const ShapeTracker& st);
// The tracker of a `view` op.
ShapeTracker TrackerOf(Context& ctx, const UOp* view);

}  // namespace tg

#endif  // TG_IR_VIEW_SHAPE_TRACKER_H_
