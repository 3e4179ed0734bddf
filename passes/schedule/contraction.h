// Finds contractions: sums of products, or of dot4, of two operands, each of which is repeated
// along some axes of the result. Matrix products and convolutions are contractions, whatever the
// layout of their operands.
#ifndef TG_PASSES_SCHEDULE_CONTRACTION_H_
#define TG_PASSES_SCHEDULE_CONTRACTION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/matrix/matrix_instruction.h"
#include "ir/module.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::schedule {

// A sum of products. All pointers are nodes of the kernel's body.
struct Contraction {
  const UOp* reduce = nullptr;
  const UOp* product = nullptr;
  // The `packed` ops of the product's sources, after WithPackedOperands().
  const UOp* operands[2] = {nullptr, nullptr};
};

// Along which axes the operands of a contraction vary in a nest, by operand.
struct OperandAxes {
  analysis::LoopSet varies[2] = {0, 0};
  // The numbers of their `packed` ops; SIZE_MAX: it is read nowhere.
  size_t packed[2] = {SIZE_MAX, SIZE_MAX};

  // What a base axis is: one of the terms; or of results, along which one operand varies, or both
  // or neither do.
  enum class Role : uint8_t { kFirst, kSecond, kBatch, kTerm };
  Role RoleOf(const loop_nest::LoopNest& nest, size_t base) const;
  // Whether each operand varies along a base axis.
  std::array<bool, 2> Vary(size_t base) const {
    return {(varies[0] & analysis::LoopBit(base)) != 0, (varies[1] & analysis::LoopBit(base)) != 0};
  }
};
// `nest`: of a kernel WithPackedOperands().
OperandAxes AxesOfOperands(const loop_nest::LoopNest& nest, const Contraction& contraction);

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
