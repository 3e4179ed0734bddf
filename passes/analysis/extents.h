// Products of extents, some of them symbolic.
#ifndef TG_PASSES_ANALYSIS_EXTENTS_H_
#define TG_PASSES_ANALYSIS_EXTENTS_H_

#include <cstdint>

#include "ir/dim.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {

// A number times symbols, which are in a fixed order. A symbol that is a product counts as its
// factors. Two are equal only if the products are, for all values of the variables.
struct Extents {
  int64_t number = 1;
  llvm::SmallVector<const UOp*, 2> symbols;

  void Multiply(const Dim& extent);
  // Takes the factors of `by` away. False, with no change, if these are no factors of the product.
  bool Divide(const Extents& by);
  friend bool operator==(const Extents&, const Extents&) = default;
};

inline Extents ExtentsOf(const Dim& extent) {
  Extents product;
  product.Multiply(extent);
  return product;
}

// How many elements a shape has.
inline Extents ExtentsOf(const Shape& shape) {
  Extents product;
  for (const Dim& extent : shape) product.Multiply(extent);
  return product;
}

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_EXTENTS_H_
