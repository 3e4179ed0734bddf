// Sums of a constant behind movement ops. tinygrad writes arange and cumulative sums this way: it
// pads the constant, repeats it, and shrinks the result to windows. For n numbers it repeats about
// 2n^2 elements, which exceeds tg's limit of a shape if it is 2^31 or more. Whether an element is
// padding is a predicate on an affine expression of its coordinates, so each sum is the constant
// times the number of coordinates between bounds.
#ifndef TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_
#define TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/tinygrad/syntax.h"

namespace tg::tinygrad {

// constant + sum of factors[k] * coordinate k.
struct AffineExpr {
  int64_t number = 0;
  std::vector<int64_t> factors;
};

struct ConstantSum {
  const Node* constant = nullptr;
  std::vector<const Node*> movements;  // from the sum to the constant
  std::vector<int64_t> shape;          // shape of the result; the bounds use its coordinates
  // The sum is the constant times the number of coordinates in [0, extent) that are >= every
  // `lower` and < every `upper`. `count` is that number if it is an affine expression.
  int64_t extent = 0;
  std::optional<AffineExpr> count;
  std::vector<AffineExpr> lower, upper;
};

// Finds the closed form of a REDUCE(ADD) over the first axis. Returns nullopt unless shapes between
// the sum and its constant are too large for tg, and every predicate is on the reduced axis, with
// factor 1, and affine expressions of the other axes.
std::optional<ConstantSum> FindConstantSum(const Node& reduce);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_CONSTANT_SUMS_H_
