// Reading one view through another.
#include <algorithm>

#include "base/arithmetic.h"
#include "base/check.h"
#include "ir/shape.h"
#include "ir/view/view.h"

namespace tg {
namespace {

// The coordinates of a row-major number. The outermost one is not reduced modulo its extent, so
// that the number can be recovered even if it is outside of the shape.
std::vector<int64_t> Unravel(const Shape& shape, int64_t flat) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 1;) {
    const int64_t size = shape[i].value();
    at[i] = FloorMod(flat, size);
    flat = FloorDiv(flat, size);
  }
  if (!at.empty()) at[0] = flat;
  return at;
}

// Coordinate j of the inner view as a function of the outer one's: origin + sum of steps[i] * c[i].
struct Projection {
  int64_t origin = 0;
  std::vector<int64_t> steps;
  int64_t least = 0, greatest = 0;
};

std::vector<Projection> Project(const View& inner, const View& outer) {
  const size_t n = inner.shape().size(), m = outer.shape().size();
  const int64_t offset = outer.offset().value();
  const std::vector<int64_t> origin = Unravel(inner.shape(), offset);
  std::vector<Projection> out(n);
  for (size_t j = 0; j < n; ++j) out[j] = {origin[j], std::vector<int64_t>(m), 0, 0};
  for (size_t i = 0; i < m; ++i) {
    const int64_t stride = outer.strides()[i].value();
    if (stride == 0) continue;
    const std::vector<int64_t> moved = Unravel(inner.shape(), offset + stride);
    for (size_t j = 0; j < n; ++j) out[j].steps[i] = moved[j] - origin[j];
  }
  for (Projection& p : out) {
    p.least = p.greatest = p.origin;
    for (size_t i = 0; i < m; ++i) {
      const int64_t far = p.steps[i] * (outer.shape()[i].value() - 1);
      (far < 0 ? p.least : p.greatest) += far;
    }
  }
  return out;
}

// The shape of `inner` after merging axes so that the projection stays inside each of them. nullopt
// if it does not even stay inside all axes merged into one.
std::optional<Shape> Regroup(const View& inner, const std::vector<Projection>& terms) {
  Shape groups;
  int64_t size = 1, least = 0, greatest = 0;
  for (size_t j = terms.size(); j-- > 0;) {
    least += terms[j].least * size;
    greatest += terms[j].greatest * size;
    size *= inner.shape()[j].value();
    if (least < 0 || greatest >= size) continue;
    groups.insert(groups.begin(), size);
    size = 1;
    least = greatest = 0;
  }
  if (size != 1 || least != 0 || greatest != 0) return std::nullopt;
  return groups;
}

enum class MaskResult : uint8_t { kHolds, kRestricts, kUnknown };

// What inner's mask says about outer's coordinates: nothing, a box (`valid`), or something else.
MaskResult ProjectMask(const View& inner, const View& outer, const std::vector<Projection>& terms,
                       DimPairs& valid) {
  MaskResult result = MaskResult::kHolds;
  bool unknown = false;
  for (size_t j = 0; j < terms.size(); ++j) {
    const Projection& t = terms[j];
    const int64_t begin = inner.mask()[j].first.value(), end = inner.mask()[j].second.value();
    if (begin <= t.least && t.greatest < end) continue;
    size_t axes = 0, axis = 0;
    for (size_t i = 0; i < t.steps.size(); ++i) {
      if (t.steps[i] == 0) continue;
      ++axes;
      axis = i;
    }
    // A view of rank 0 has no mask to restrict.
    if (axes > 1 || outer.shape().empty()) {
      unknown = true;
      continue;
    }
    result = MaskResult::kRestricts;
    if (axes == 0) {  // a fixed coordinate that is not valid
      valid[0].second = 0;
      continue;
    }
    // begin <= origin + step * c < end
    const int64_t step = t.steps[axis];
    const int64_t low = step > 0 ? begin - t.origin : end - 1 - t.origin;
    const int64_t high = step > 0 ? end - 1 - t.origin : begin - t.origin;
    auto& [first, past] = valid[axis];
    first = std::max(first.value(), CeilDiv(low, step));
    past = std::max(first.value(), std::min(past.value(), FloorDiv(high, step) + 1));
  }
  if (result == MaskResult::kRestricts) return result;
  return unknown ? MaskResult::kUnknown : MaskResult::kHolds;
}

// One attempt to compose the views. Sets `regrouped` if another attempt with `inner` reshaped to it
// may succeed, and `masked` if one with `outer` under that mask may.
std::optional<View> TryCompose(Context& ctx, const View& inner, const View& outer,
                               std::optional<Shape>& regrouped, std::optional<DimPairs>& masked) {
  const std::vector<Projection> terms = Project(inner, outer);
  const std::optional<Shape> groups = Regroup(inner, terms);
  if (!groups) return std::nullopt;
  if (*groups != inner.shape()) {
    regrouped = groups;
    return std::nullopt;
  }
  if (inner.has_mask()) {
    DimPairs valid;
    for (const Dim& d : outer.shape()) valid.emplace_back(Dim(0), d);
    switch (ProjectMask(inner, outer, terms, valid)) {
      case MaskResult::kUnknown:
        return std::nullopt;
      case MaskResult::kRestricts:
        masked = std::move(valid);
        return std::nullopt;
      case MaskResult::kHolds:
        break;
    }
  }
  int64_t offset = inner.offset().value();
  std::vector<Dim> strides(outer.shape().size(), 0);
  for (size_t j = 0; j < terms.size(); ++j) {
    const int64_t stride = inner.strides()[j].value();
    offset += terms[j].origin * stride;
    for (size_t i = 0; i < strides.size(); ++i) {
      strides[i] = strides[i].value() + terms[j].steps[i] * stride;
    }
  }
  return View::Make(ctx, outer.shape(), std::move(strides), offset, {});
}

// Padding that puts a view shrunk to `mask` back into `shape`.
DimPairs Around(Context& ctx, const Shape& shape, const DimPairs& mask) {
  DimPairs pads;
  for (size_t i = 0; i < mask.size(); ++i) {
    pads.emplace_back(mask[i].first, SubDims(ctx, shape[i], mask[i].second));
  }
  return pads;
}

}  // namespace

std::optional<View> Compose(Context& ctx, const View& inner_view, const View& outer_view) {
  View inner = inner_view, outer = outer_view;
  // What is not valid in `outer` is cut off first and padded back at the end, outermost last.
  std::vector<DimPairs> pads;
  std::optional<View> result;
  // Each round shrinks `outer` or merges axes of `inner`; the bound only guards against a mistake.
  for (int round = 0; round < 64 && !result; ++round) {
    const bool no_elements = std::any_of(outer.shape().begin(), outer.shape().end(),
                                         [](const Dim& d) { return d.Is(0); });
    if (inner.is_contiguous(ctx) || outer.is_void() || no_elements) {
      result = outer;
      break;
    }
    if (outer.has_mask()) {
      pads.push_back(Around(ctx, outer.shape(), outer.mask()));
      outer = outer.Shrink(ctx, outer.mask());
      continue;
    }
    if (outer.is_contiguous(ctx)) {
      if (outer.shape() == inner.shape()) {
        result = inner;
        break;
      }
      const bool numbers = IsStatic(outer.shape()) && IsStatic(inner.shape());
      if (numbers && NumElements(outer.shape()) == NumElements(inner.shape())) {
        result = inner.Reshape(ctx, outer.shape());
        if (result) break;
      }
    }
    // A view of rank 0 has no mask to say that its element is not valid.
    if (inner.is_void() && !outer.shape().empty()) {
      result = View::Make(ctx, outer.shape(), std::vector<Dim>(outer.shape().size(), 0), 0,
                          DimPairs(outer.shape().size(), {0, 0}));
      break;
    }
    if (!inner.is_static() || !outer.is_static()) return std::nullopt;
    std::optional<Shape> regrouped;
    std::optional<DimPairs> masked;
    result = TryCompose(ctx, inner, outer, regrouped, masked);
    if (result) break;
    if (regrouped) {
      const std::optional<View> merged = inner.Reshape(ctx, *regrouped);
      if (!merged) return std::nullopt;
      inner = *merged;
    } else if (masked) {
      outer = View::Make(ctx, outer.shape(), outer.strides(), outer.offset(), *masked);
      if (!outer.has_mask()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!result) return std::nullopt;
  for (size_t i = pads.size(); i-- > 0;) result = result->Pad(ctx, pads[i]);
  return result;
}

}  // namespace tg
