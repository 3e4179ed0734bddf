// Convolutions whose window moves over the output.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"

namespace tg::frontend {

int64_t GraphBuilder::Phases::Count() const {
  int64_t count = 1;
  for (const int64_t stride : strides) count *= stride;
  return count;
}

// Phase a of an axis has the elements a, a + stride, ... of the result.
Value GraphBuilder::Interleave(Value conv, const Phases& phases) {
  if (!conv) return nullptr;
  const size_t n = phases.strides.size();
  const Shape shape = ShapeOf(conv);
  Shape split{shape[0], Dim(shape[1].value() / phases.Count())};
  Ints order{0, 1};
  for (size_t i = 0; i < n; ++i) {
    split.push_back(phases.strides[i]);
    order.push_back(static_cast<int64_t>(2 + n + i));
    order.push_back(static_cast<int64_t>(2 + i));
  }
  split.insert(split.end(), shape.begin() + 2, shape.end());
  // The phases are stored, since a kernel's loops are those of what it stores: along the elements
  // of the result the filters of a convolution would differ from one to the next.
  Value y = Permute(Reshape(Stored(conv), split), order);
  for (size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<int64_t>(2 + i);
    const Dim start = phases.start[i];
    y = Slice(Flatten(y, axis, axis + 2), axis, start, AddDim(start, phases.extents[i]));
  }
  if (!y) return nullptr;
  phases_[y] = phases;
  phases_[y].conv = conv;
  return y;
}

Value GraphBuilder::ConvTranspose(Value x, Value weight, Value bias, const Window& window,
                                  const Ints& output_padding, int64_t groups) {
  if (!x || !weight) return nullptr;
  const size_t n = window.kernel.size();
  const Shape w = ShapeOf(weight);
  if (Rank(x) != n + 2 || w.size() != n + 2 || !IsStatic(w) || groups < 1 ||
      w[0].value() % groups != 0) {
    return Fail(absl::StrCat("a convolution of ", Describe(x), " with ", Describe(weight)));
  }
  // Along an axis, results whose distance is a multiple of the stride read the same elements of the
  // weight. So each such phase is a convolution of x with every stride-th element of the weight,
  // and all of them are one convolution, with a filter for each phase.
  Phases phases;
  std::vector<std::pair<Dim, Dim>> pads(n + 2, {0, 0});
  Shape spread{Dim(groups), Dim(w[0].value() / groups), w[1]};
  Window plain{.strides = Ints(n, 1), .dilations = Ints(n, 1)};
  for (size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<int64_t>(2 + i);
    const int64_t stride = window.strides[i], dilation = window.dilations[i];
    const int64_t begin = window.pads_begin[i].value(), end = window.pads_end[i].value();
    // Zeros between the elements of the weight, and behind them.
    int64_t reach = window.kernel[i];
    if (dilation > 1 && stride > 1) {
      weight = Unsqueeze(weight, axis + 1);
      if (!weight) return nullptr;
      std::vector<std::pair<Dim, Dim>> between(Rank(weight), {0, 0});
      between[static_cast<size_t>(axis) + 1].second = dilation - 1;
      reach = dilation * (window.kernel[i] - 1) + 1;
      weight = Slice(Flatten(Pad(weight, between), axis, axis + 2), axis, 0, reach);
    } else if (dilation > 1) {
      plain.dilations[i] = dilation;
    }
    const int64_t last = stride == 1 ? 0 : std::max<int64_t>(0, output_padding[i] - end);
    const int64_t taps = (reach + last + stride - 1) / stride;
    pads[static_cast<size_t>(axis)].second = taps * stride - reach;
    spread.push_back(taps);
    spread.push_back(stride);
    plain.kernel.push_back(taps);
    const int64_t around = plain.dilations[i] * (taps - 1);
    const int64_t whole = window.dilations[i] * (window.kernel[i] - 1);
    const bool moves = stride > 1;
    plain.pads_begin.push_back(moves ? around : whole - begin);
    plain.pads_end.push_back(moves ? around : whole - end + output_padding[i]);
    phases.strides.push_back(stride);
    phases.start.push_back(moves ? begin : 0);
    const Dim spaced = MulDim(SubDim(Extent(x, axis), Dim(1)), Dim(stride));
    phases.extents.push_back(AddDim(spaced, Dim(whole + 1 + output_padding[i] - begin - end)));
  }
  // To [groups, filters, phases..., channels / groups, taps...], with the taps turned around.
  Ints order{0, 2}, flipped;
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(4 + 2 * i));
  order.push_back(1);
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(3 + 2 * i));
  for (size_t i = 0; i < n; ++i) flipped.push_back(static_cast<int64_t>(3 + n + i));
  weight = Flip(Permute(Reshape(Pad(weight, pads), spread), order), flipped);
  weight = Flatten(weight, 0, static_cast<int64_t>(2 + n));
  if (bias && phases.Count() > 1) bias = RepeatInterleave(bias, 0, phases.Count());
  const Value conv = Conv(x, weight, bias, plain, groups);
  return phases.Count() == 1 ? conv : Interleave(conv, phases);
}

}  // namespace tg::frontend
