#include "frontend/tinygrad/views.h"

namespace tg::tinygrad {
namespace {

bool ReadDims(const Value* tuple, const DimReader& dim, std::vector<Dim>* dims) {
  if (!tuple || tuple->kind != Kind::kTuple) return false;
  for (const Item& item : tuple->list()) {
    const std::optional<Dim> d = dim(item.value);
    if (!d) return false;
    dims->push_back(*d);
  }
  return true;
}

bool ReadMask(const Value* mask, const DimReader& dim, View* view) {
  if (!mask || mask->kind == Kind::kNone) return true;
  if (mask->kind != Kind::kTuple || mask->count != view->shape.size()) return false;
  for (const Item& item : mask->list()) {
    std::vector<Dim> bounds;
    if (!ReadDims(&item.value, dim, &bounds) || bounds.size() != 2) return false;
    view->mask.emplace_back(bounds[0], bounds[1]);
  }
  view->has_mask = true;
  return true;
}

}  // namespace

bool View::IsContiguous() const {
  if (has_mask || !offset.Is(0)) return false;
  Dim expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].Is(1)) continue;
    if (strides[i] != expected) return false;
    if (shape[i].is_symbolic()) {
      // A multiple of a symbolic extent would be a new expression, so all outer extents must be 1.
      for (size_t k = 0; k < i; ++k) {
        if (!shape[k].Is(1)) return false;
      }
      return true;
    }
    int64_t next = 0;
    if (__builtin_mul_overflow(expected.value(), shape[i].value(), &next)) return false;
    expected = next;
  }
  return true;
}

std::optional<std::vector<View>> ReadViews(const Value& tracker, const DimReader& dim) {
  const Value* list = tracker.is_call("ShapeTracker") ? FindItem(tracker, "views", 0) : nullptr;
  if (!list || list->kind != Kind::kTuple || list->count == 0) return std::nullopt;
  std::vector<View> views;
  for (const Item& item : list->list()) {
    const Value& v = item.value;
    if (!v.is_call("View")) return std::nullopt;
    View view;
    const Value* offset = FindItem(v, "offset", 2);
    if (!ReadDims(FindItem(v, "shape", 0), dim, &view.shape) ||
        !ReadDims(FindItem(v, "strides", 1), dim, &view.strides) || !offset ||
        view.strides.size() != view.shape.size() || !ReadMask(FindItem(v, "mask", 3), dim, &view)) {
      return std::nullopt;
    }
    const std::optional<Dim> d = dim(*offset);
    if (!d) return std::nullopt;
    view.offset = *d;
    views.push_back(std::move(view));
  }
  return views;
}

std::optional<std::vector<int64_t>> ContiguousShape(const Value& tracker) {
  const auto views = ReadViews(tracker, [](const Value& v) {
    return v.kind == Kind::kInt ? std::optional<Dim>(v.number) : std::nullopt;
  });
  if (!views || views->size() != 1 || !(*views)[0].IsContiguous()) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Dim& d : (*views)[0].shape) shape.push_back(d.value());
  return shape;
}

void EncodeViews(const std::vector<View>& views, std::vector<int64_t>* words,
                 std::vector<const UOp*>* symbols) {
  const auto add = [&](const Dim& d) {
    words->push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) symbols->push_back(d.symbol());
  };
  words->push_back(0);
  for (const View& v : views) {
    words->push_back(static_cast<int64_t>(v.shape.size()));
    for (const Dim& d : v.shape) add(d);
    for (const Dim& d : v.strides) add(d);
    add(v.offset);
    words->push_back(v.has_mask && !v.mask.empty());
    for (const auto& [begin, end] : v.mask) {
      add(begin);
      add(end);
    }
  }
  (*words)[0] = static_cast<int64_t>(words->size()) - 1;
}

}  // namespace tg::tinygrad
