#include "ir/matrix/matrix_instruction.h"

namespace tg {
namespace {

using enum Scalar;

constexpr MatrixInstruction kInstructions[] = {
    {"m16n8k16.f32.f16", 16, 8, 16, kF16, kF16, kF32},
    {"m16n8k16.f32.bf16", 16, 8, 16, kBF16, kBF16, kF32},
    {"m16n8k16.f16.f16", 16, 8, 16, kF16, kF16, kF16},
    {"m16n8k8.f32.f16", 16, 8, 8, kF16, kF16, kF32},
    {"m16n8k8.f32.bf16", 16, 8, 8, kBF16, kBF16, kF32},
    {"m16n8k8.f32.tf32", 16, 8, 8, kF32, kF32, kF32, true},
    {"m16n8k8.f32.f32", 16, 8, 8, kF32, kF32, kF32, false, true},
    {"m16n8k32.s32.s8.s8", 16, 8, 32, kI8, kI8, kI32},
    {"m16n8k32.s32.u8.u8", 16, 8, 32, kU8, kU8, kI32},
    {"m16n8k32.s32.s8.u8", 16, 8, 32, kI8, kU8, kI32},
    {"m16n8k32.s32.u8.s8", 16, 8, 32, kU8, kI8, kI32},
    {"m64n8k16.f32.f16", 64, 8, 16, kF16, kF16, kF32, false, false, true},
    {"m64n8k16.f32.bf16", 64, 8, 16, kBF16, kBF16, kF32, false, false, true},
    {"m64n8k8.f32.tf32", 64, 8, 8, kF32, kF32, kF32, true, false, true},
    {"m64n8k32.s32.s8.s8", 64, 8, 32, kI8, kI8, kI32, false, false, true},
    {"m64n8k32.s32.u8.u8", 64, 8, 32, kU8, kU8, kI32, false, false, true},
    {"m64n8k32.s32.s8.u8", 64, 8, 32, kI8, kU8, kI32, false, false, true},
    {"m64n8k32.s32.u8.s8", 64, 8, 32, kU8, kI8, kI32, false, false, true},
};

}  // namespace

std::optional<MatrixInstruction> FindMatrixInstruction(std::string_view name) {
  for (const MatrixInstruction& mi : kInstructions) {
    if (mi.name == name) return mi;
  }
  return std::nullopt;
}

std::optional<MatrixInstruction> MatrixInstructionFor(Scalar a, Scalar b, Scalar accumulator,
                                                      ModuleFlags flags) {
  const bool rounds = flags.has(ModuleFlag::kTf32);
  std::optional<MatrixInstruction> best;
  for (const MatrixInstruction& mi : kInstructions) {
    if (mi.a != a || mi.b != b || mi.accumulator != accumulator || mi.is_warpgroup) continue;
    if (rounds ? mi.in_parts : mi.tf32) continue;
    if (!best || mi.k > best->k) best = mi;
  }
  return best;
}

std::optional<MatrixInstruction> WarpgroupInstructionFor(Scalar a, Scalar b, Scalar accumulator,
                                                         ModuleFlags flags) {
  for (const MatrixInstruction& mi : kInstructions) {
    if (!mi.is_warpgroup || (mi.tf32 && !flags.has(ModuleFlag::kTf32))) continue;
    if (mi.a == a && mi.b == b && mi.accumulator == accumulator) return mi;
  }
  return std::nullopt;
}

int64_t FactorLayout::Element(int64_t start, int64_t result, int64_t term,
                              int64_t element_bytes) const {
  constexpr int64_t kChunkBytes = 16;
  const int64_t inside =
      blocks > 0 ? result / row * blocks + term * row + result % row : result * row + term;
  const int64_t byte = (start + inside) * element_bytes;
  return (byte ^ (byte >> 3 & (row * element_bytes - kChunkBytes))) / element_bytes;
}

bool FactorLayout::IsOf(Scalar type) const {
  const int64_t bytes = row * static_cast<int64_t>(ByteSize(type));
  return (bytes == 32 || bytes == 64 || bytes == 128) && blocks >= 0 &&
         (blocks == 0 || BitWidth(type) == 16);
}

std::pair<int, int> FragmentElement(const MatrixInstruction& mi, int which, int t, int e) {
  const int unit = t / MatrixInstruction::kSubgroup, group = t / 4 % 8, in_group = t % 4;
  if (which == 2) {
    return {unit * 16 + group + (e / 2 % 2 ? 8 : 0), e / 4 * 8 + in_group * 2 + e % 2};
  }
  // Registers of A go down the rows before they go along the terms.
  const int per = mi.PerRegister(), number = e / per, far = which == 0 ? number / 2 : number;
  const int term = far * 4 * per + in_group * per + e % per;
  return which == 0 ? std::pair{group + (number % 2 ? 8 : 0), term} : std::pair{term, group};
}

}  // namespace tg
