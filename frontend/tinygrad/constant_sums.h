// Sums of a constant behind movement ops, as tinygrad writes the numbers 0, 1, ... and running
// sums: it pads the constant, repeats that, and cuts windows out of what is repeated. Of n numbers
// it repeats about 2n^2 elements, which from 2^31 on are more than a shape of tg holds. But which
// elements are padding is a condition on an affine expression of the coordinates, so each sum is
// the constant times a number of coordinates between bounds.
#ifndef TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_
#define TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/tinygrad/syntax.h"

namespace tg::tinygrad {

// number + sum of factors[k] * coordinate k.
struct AffineExpr {
  int64_t number = 0;
  std::vector<int64_t> factors;
};

struct ConstantSum {
  const Node* constant = nullptr;
  std::vector<const Node*> movements;  // between the sum and the constant
  std::vector<int64_t> shape;          // of the result, whose coordinates the bounds are of
  // How many coordinates below `extent` are at or above all of `lower` and below all of `upper`:
  // `count` where that is an affine expression.
  int64_t extent = 0;
  std::optional<AffineExpr> count;
  std::vector<AffineExpr> lower, upper;
};

// What a REDUCE(ADD) over the first axis computes, if shapes on the way to its constant are too
// large for tg; nullopt for all others, and where a condition is on anything but the axis that is
// reduced, once, and affine expressions of the other ones.
std::optional<ConstantSum> FindConstantSum(const Node& reduce);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_
