// Matrix instructions over a subgroup of 32 work-items, D = A*B + C, and the layout of their
// fragments, by NVIDIA's "PTX ISA", section on mma fragments.
#ifndef TG_IR_INTERPRET_MATRIX_LAYOUT_H_
#define TG_IR_INTERPRET_MATRIX_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/dtype.h"

namespace tg::interpret {

inline constexpr int kSubgroup = 32;

struct MatrixInstruction {
  std::string_view name;  // m16n8k16.<accumulator>.<input>
  int m = 0, n = 0, k = 0;
  Scalar input = Scalar::kVoid;
  Scalar accumulator = Scalar::kVoid;
  bool tf32 = false;  // inputs are f32 of which 10 bits of mantissa count
};

std::optional<MatrixInstruction> FindMatrixInstruction(std::string_view name);

// (row, column) of element `e` of work-item `t`'s fragment; which: 0 for A (m x k), 1 for B (k x
// n), 2 for C and D (m x n).
std::pair<int, int> FragmentElement(const MatrixInstruction& mi, int which, int t, int e);

// The value of an f32 rounded to tf32 (nearest, ties away from zero).
double RoundToTf32(int64_t f32_bits);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_MATRIX_LAYOUT_H_
