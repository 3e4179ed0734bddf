// ShapeTracker: a movement of flat memory as a list of views. The last one maps the logical
// coordinates to a number, which the one before takes apart in row-major order of its own shape,
// and so on; the first one's numbers are elements of the memory. An element is valid where every
// view's mask says so; elsewhere its value is 0.
//
// The list only grows where a reshape is no single view, and is merged again whenever it can be.
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

  // The element that coordinates stand for, or nullopt where there is none. `value` gives symbolic
  // Dims their values; it is not called where everything is static.
  using DimValue = std::function<int64_t(const UOp*)>;
  std::optional<int64_t> Locate(std::span<const int64_t> coordinates,
                                const DimValue& value = nullptr) const;

  // The same as nodes: the element's number, and whether it is valid (null: always). Only the
  // plainest identities are folded.
  struct Address {
    const UOp* index = nullptr;
    const UOp* valid = nullptr;
  };
  Address AddressOf(Builder& b, UOpSpan coordinates) const;

  // By how much the element's number grows along each axis, nullopt for an axis along which it does
  // not grow evenly. An axis on which validity depends counts as uneven unless masks are ignored.
  std::vector<std::optional<Dim>> RealStrides(Context& ctx, bool ignore_masks = false) const;
  // How many elements the memory needs at least: one more than the greatest that the first view can
  // reach. All static.
  int64_t RealSize() const;

  // The attribute words of a `view` op (see ir/uop.h, Attr) and the nodes of its symbolic entries
  // in order.
  struct Encoding {
    std::vector<int64_t> words;
    std::vector<const UOp*> symbols;
  };
  Encoding Encode() const;
  // What Encode made. The views are taken as they are written.
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
