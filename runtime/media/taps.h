// Resampling of one axis, shared by pictures and sounds: each output element is a weighted sum of
// neighbouring input elements.
#ifndef TG_RUNTIME_MEDIA_TAPS_H_
#define TG_RUNTIME_MEDIA_TAPS_H_

#include <cstdint>
#include <vector>

namespace tg::runtime {

// A filter kernel: its value by the distance from the centre, and the distance from which on it
// is 0.
struct Kernel {
  double (*value)(double distance);
  double radius;
};

// 1 - |x|: linear interpolation; with a larger `stretch`, a weighted average over several elements.
extern const Kernel kTriangle;
// sin(pi x) / (pi x) under a Hann window.
extern const Kernel kWindowedSinc;

// The sum over i of weights[i] * input[first + i].
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};

// The taps of an output element whose centre is at `center`; input element i covers [i, i + 1). The
// kernel is scaled by `stretch` >= 1 input elements per unit of distance. If there are fewer output
// than input elements, `stretch` is the step between them, so that the filter removes frequencies
// that the output cannot represent. Elements outside of [0, size) have no tap; the weights sum
// to 1.
Taps TapsAt(const Kernel& kernel, double center, double stretch, int64_t size);

// The taps of `count` output elements that cover the input's [begin, end).
std::vector<Taps> TapsOver(const Kernel& kernel, double begin, double end, int64_t count,
                           int64_t size);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_TAPS_H_
