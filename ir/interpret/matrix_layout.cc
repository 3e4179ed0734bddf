#include "ir/interpret/matrix_layout.h"

#include "ir/value.h"

namespace tg::interpret {
namespace {

constexpr MatrixInstruction kInstructions[] = {
    {"m16n8k16.f32.f16", 16, 8, 16, Scalar::kF16, Scalar::kF32, false},
    {"m16n8k16.f32.bf16", 16, 8, 16, Scalar::kBF16, Scalar::kF32, false},
    {"m16n8k16.f16.f16", 16, 8, 16, Scalar::kF16, Scalar::kF16, false},
    {"m16n8k8.f32.f16", 16, 8, 8, Scalar::kF16, Scalar::kF32, false},
    {"m16n8k8.f32.bf16", 16, 8, 8, Scalar::kBF16, Scalar::kF32, false},
    {"m16n8k8.f32.tf32", 16, 8, 8, Scalar::kF32, Scalar::kF32, true},
};

}  // namespace

std::optional<MatrixInstruction> FindMatrixInstruction(std::string_view name) {
  for (const MatrixInstruction& mi : kInstructions) {
    if (mi.name == name) return mi;
  }
  return std::nullopt;
}

std::pair<int, int> FragmentElement(const MatrixInstruction& mi, int which, int t, int e) {
  const int group = t / 4, in_group = t % 4;
  if (which == 2) return {group + (e / 2 ? 8 : 0), in_group * 2 + e % 2};
  if (mi.tf32) {
    // One element a register, at distance 4 along k.
    return which == 0 ? std::pair{group + (e % 2 ? 8 : 0), in_group + (e / 2 ? 4 : 0)}
                      : std::pair{in_group + (e ? 4 : 0), group};
  }
  // Two neighbours along k a register; registers of A go down the rows before they go along k.
  const int pair = e / 2, half = e % 2;
  if (which == 0) return {group + (pair % 2 ? 8 : 0), in_group * 2 + half + (pair / 2 ? 8 : 0)};
  return {in_group * 2 + half + (pair ? 8 : 0), group};
}

double RoundToTf32(int64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  const bool special = (word & 0x7f800000u) == 0x7f800000u;
  const uint32_t rounded = special ? word : (word + 0x1000u) & ~0x1fffu;
  return DoubleFromBits(Scalar::kF32, rounded);
}

}  // namespace tg::interpret
