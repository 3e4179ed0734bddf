// Gives address arithmetic a machine type: i32 where an index, and all that it is computed from in
// one op, is known to fit; i64 elsewhere. Afterwards nothing has type index.
//
// Nothing overflows that did not overflow as `index`: a node's interval contains its value, and an
// op is done in i64 as soon as one of its operands or its result may need it.
#ifndef TG_PASSES_DECOMPOSE_INDEX_TYPE_H_
#define TG_PASSES_DECOMPOSE_INDEX_TYPE_H_

#include "ir/module.h"

namespace tg {

// `order`: what the root reaches, sources first.
void LowerIndexType(Body& body, const Module& module, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_DECOMPOSE_INDEX_TYPE_H_
