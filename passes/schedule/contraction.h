// Finds contractions: sums of products, or of dot4, of two operands, each of which is repeated
// along some axes of the result. Matrix products and convolutions are contractions, whatever the
// layout of their operands.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_H_

#include <optional>
#include <vector>

#include "ir/matrix/matrix_instruction.h"
#include "ir/module.h"

namespace tg::schedule {

// A sum of products. All pointers are nodes of the kernel's body.
struct Contraction {
  const UOp* reduce = nullptr;
  const UOp* product = nullptr;
  // The `packed` ops of the product's sources, after WithPackedOperands().
  const UOp* operands[2] = {nullptr, nullptr};
};
// All reduces of a kernel, if every one of them is a contraction of values read directly from
// memory and the kernel stages nothing. Otherwise returns an empty list.
std::vector<Contraction> FindContractions(const Kernel& kernel);

// Returns the root of a new body in which each operand of these contractions' products is wrapped
// in a `packed` op. The op goes below the movement ops that repeat the operand, so that it packs
// each element once; with `instruction`, also below a cast from a type that it takes. Operands that
// are staged stay. Updates
// `operands` and `reduce` of each contraction to nodes of the new body.
const UOp* WithPackedOperands(Kernel& kernel, std::vector<Contraction>& contractions,
                              const std::optional<MatrixInstruction>& instruction = {});

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CONTRACTION_H_
