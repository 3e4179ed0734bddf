// Makes sums of products of bytes into sums of dot4, where the target multiplies bytes fast.
#ifndef TG_PASSES_KERNELIZE_BYTE_PRODUCTS_H_
#define TG_PASSES_KERNELIZE_BYTE_PRODUCTS_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// Rewrites sums of products of two factors s * (q - z) in a prepared graph (prepare.h), in i32 or
// f32, where q is a byte (u8 or i8), and neither the zero point z nor the scale s varies along the
// terms:
//
//   sum sa * (a - za) * sb * (b - zb)  =  sa * sb * (sum a * b - za * (sum b - n * zb) - zb * sum
//   a)
//
// The sum of a * b is one of dot4 on words of four bytes along an axis of terms. Of two factors of
// one sign, one is offset by 128, by which its zero point moves. Words, and sums, that no input
// reaches are then moved to @init (hoist.h). In i32 all of this is exact. In f32 it reassociates
// the sum (docs/ops.md, `no-reassociate`), and is done where the integers cannot overflow. Updates
// `fused` (prepare.h).
void MakeByteProducts(const Module& module, Body& body, ShapeMap& shapes,
                      const passes::Target& target, NodeSet& fused, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_BYTE_PRODUCTS_H_
