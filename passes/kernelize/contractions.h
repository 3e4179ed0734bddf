// Sums of products whose results share what they load, so that a kernel computes tiles of them. A
// tile has one such sum: a kernel that holds two has none.
#ifndef TG_PASSES_KERNELIZE_CONTRACTIONS_H_
#define TG_PASSES_KERNELIZE_CONTRACTIONS_H_

#include "ir/shape.h"
#include "ir/uop.h"

namespace tg::kernelize {

// Whether reduce `u` is a sum of products of two factors, each of which is repeated along some axis
// of the result.
bool IsContraction(const UOp* u, ShapeMap& shapes);

// The same, or such a sum of dot4.
bool IsContractionOrDots(const UOp* u, ShapeMap& shapes);

// Whether the factors of a product are of types that matrix instructions take, and the
// rows of one that meet columns of the other are no fewer than those of an instruction.
bool IsMatrixProduct(const UOp* product, ShapeMap& shapes);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CONTRACTIONS_H_
