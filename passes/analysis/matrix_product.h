// Products whose sums are matrix instructions.
#ifndef TG_PASSES_ANALYSIS_MATRIX_PRODUCT_H_
#define TG_PASSES_ANALYSIS_MATRIX_PRODUCT_H_

#include <optional>

#include "ir/matrix/matrix_instruction.h"
#include "ir/uop.h"

namespace tg::analysis {

// The instruction for both factors of a `mul`, as they are before casts to its type; nullopt if
// there is none.
std::optional<MatrixInstruction> InstructionOf(const UOp* product, ModuleFlags flags);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_MATRIX_PRODUCT_H_
