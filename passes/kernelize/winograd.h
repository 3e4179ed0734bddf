// Convolutions by tiles of results, after S. Winograd and after A. Lavin and S. Gray, "Fast
// Algorithms for Convolutional Neural Networks", CVPR 2016.
#ifndef TG_PASSES_KERNELIZE_WINOGRAD_H_
#define TG_PASSES_KERNELIZE_WINOGRAD_H_

#include <cstdint>
#include <span>

#include "ir/builder.h"
#include "ir/shape.h"
#include "passes/kernelize/convolution.h"

namespace tg::kernelize {

// F(tile, 3): `tile` neighbouring sums over windows of 3 by tile + 2 products,
//   y = to (weights g * from d)
// where d are the tile + 2 inputs and g the three weights. Row by row, each matrix applied along
// both axes of space.
struct WinogradForm {
  static constexpr int64_t kWindow = 3;
  int64_t tile;
  std::span<const double> from;     // points x points
  std::span<const double> weights;  // points x 3
  std::span<const double> to;       // tile x points
  int64_t points() const { return tile + kWindow - 1; }
};

// All of them.
std::span<const WinogradForm> WinogradForms();

// The operations of a convolution in this form, without those on weights, and the bytes of the
// values between its kernels. The launches that it takes.
struct WinogradWork {
  double operations = 0, transforms = 0, bytes = 0;
  double kernels = 5;
};
WinogradWork WorkOf(const Convolution& convolution, const WinogradForm& form);

// The value of the convolution, with the shape of its reduce. Five kernels compute it, which store
// tiles of the input, transformed along one axis and along both, their products with transformed
// weights, and what these are along one axis.
const UOp* ByTiles(Builder& b, ShapeMap& shapes, const Convolution& convolution,
                   const WinogradForm& form);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_WINOGRAD_H_
