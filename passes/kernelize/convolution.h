// Convolutions as graphs spell them: sums over channels and a window of products of two factors,
// one of which is read through movement ops that repeat it for each position of the window.
#ifndef TG_PASSES_KERNELIZE_CONVOLUTION_H_
#define TG_PASSES_KERNELIZE_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/context.h"
#include "ir/shape.h"

namespace tg::kernelize {

// A sum of f32 over a window of two axes, both with stride and dilation 1, and over channels, if
// any. Not grouped: each result channel sums all channels.
struct Convolution {
  // The two axes of space, as axes of the product and of what is read.
  struct Space {
    size_t result = 0, window = 0, from = 0;
    int64_t results = 1;
  };

  const UOp* reduce = nullptr;
  // What is read: `input`, or a pad of it; `from`: the one that the window moves over.
  const UOp *input = nullptr, *from = nullptr;
  const UOp* weights = nullptr;  // that factor of the product, below its movement ops
  size_t weight_factor = 1;      // its number
  Space space[2];
  int64_t window = 1;  // of both axes
  // Axes of the product, nullopt where the size is 1: channels of the result and of the terms.
  std::optional<size_t> to, channel;
  int64_t results = 1, channels = 1;
  // Axes of `from`: the channels; and those of the batch with the product's axes that they are.
  std::optional<size_t> from_channel;
  std::vector<std::pair<size_t, size_t>> batch;
  int64_t images = 1;  // of the batch
};

// Finds the convolutions of one graph.
class Convolutions {
 public:
  explicit Convolutions(ShapeMap& shapes) : shapes_(shapes) {}

  // `u` as a convolution whose window has `window` elements along both axes; nullopt if it is none.
  std::optional<Convolution> Find(const UOp* u, int64_t window);

 private:
  // Which axes of the product the index of an axis of a value is the sum of.
  using Sums = std::vector<std::vector<size_t>>;
  // The value below the movement ops of a factor, down to a pad, and its indices. False if these
  // are not sums of whole axes.
  bool Trace(const UOp* factor, const UOp** value, Sums& sums);

  ShapeMap& shapes_;
  Context indices_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CONVOLUTION_H_
