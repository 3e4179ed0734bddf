#include "frontend/gguf/blocks.h"

#include "base/check.h"

namespace tg::gguf {
namespace {

using enum Scalar;

// Layouts. Two halves of 16 elements, low and high bits of the same bytes:
const BlockLayout& Halves() {
  static const BlockLayout& layout = *new BlockLayout{{2, 16}, {true, false}};
  return layout;
}
// Two halves of four rows of 32, a scale for each 16:
const BlockLayout& FourRows() {
  static const BlockLayout& layout = *new BlockLayout{{2, 4, 2, 16}, {false, true, false, false}};
  return layout;
}
// Eight rows of 32, a scale for each. Those of the last four rows are packed in another way.
const BlockLayout& EightRows() {
  static const BlockLayout& layout = *new BlockLayout{{2, 2, 2, 32}, {true, false, true, false}};
  return layout;
}

const std::vector<BlockFormat>& Formats() {
  static const auto& formats = *new std::vector<BlockFormat>{
      {TensorType::kF32, {{"", Scalar::kF32, 0, 1}}, {{}, {}}},
      {TensorType::kF16, {{"", kF16, 0, 1}}, {{}, {}}},
      {TensorType::kBF16, {{"", Scalar::kBF16, 0, 1}}, {{}, {}}},
      {TensorType::kQ4_0, {{"d", kF16, 0, 1}, {"qs", kU8, 2, 16}}, Halves()},
      {TensorType::kQ4_1, {{"d", kF16, 0, 1}, {"m", kF16, 2, 1}, {"qs", kU8, 4, 16}}, Halves()},
      {TensorType::kQ5_0,
       {{"d", kF16, 0, 1}, {"qh", Scalar::kU32, 2, 1}, {"qs", kU8, 6, 16}},
       Halves()},
      {TensorType::kQ5_1,
       {{"d", kF16, 0, 1}, {"m", kF16, 2, 1}, {"qh", Scalar::kU32, 4, 1}, {"qs", kU8, 8, 16}},
       Halves()},
      {TensorType::kQ8_0, {{"d", kF16, 0, 1}, {"qs", kI8, 2, 32}}, {{32}, {false}}},
      {TensorType::kQ2_K,
       {{"scales", kU8, 0, 16}, {"qs", kU8, 16, 64}, {"d", kF16, 80, 1}, {"dmin", kF16, 82, 1}},
       FourRows()},
      {TensorType::kQ3_K,
       {{"hmask", kU8, 0, 32}, {"qs", kU8, 32, 64}, {"scales", kU8, 96, 12}, {"d", kF16, 108, 1}},
       FourRows()},
      {TensorType::kQ4_K,
       {{"d", kF16, 0, 1}, {"dmin", kF16, 2, 1}, {"scales", kU8, 4, 12}, {"qs", kU8, 16, 128}},
       EightRows()},
      {TensorType::kQ5_K,
       {{"d", kF16, 0, 1},
        {"dmin", kF16, 2, 1},
        {"scales", kU8, 4, 12},
        {"qh", kU8, 16, 32},
        {"qs", kU8, 48, 128}},
       EightRows()},
      {TensorType::kQ6_K,
       {{"ql", kU8, 0, 128}, {"qh", kU8, 128, 64}, {"scales", kI8, 192, 16}, {"d", kF16, 208, 1}},
       FourRows()},
      {TensorType::kIQ4_NL, {{"d", kF16, 0, 1}, {"qs", kU8, 2, 16}}, Halves()},
      {TensorType::kIQ4_XS,
       {{"d", kF16, 0, 1},
        {"scales_h", Scalar::kU16, 2, 1},
        {"scales_l", kU8, 4, 4},
        {"qs", kU8, 8, 128}},
       {{4, 2, 2, 16}, {false, false, true, false}}},
      {TensorType::kMXFP4, {{"e", kU8, 0, 1}, {"qs", kU8, 1, 16}}, Halves()},
  };
  return formats;
}

}  // namespace

const BlockFormat& FormatOf(TensorType type) {
  for (const BlockFormat& format : Formats()) {
    if (format.type == type) return format;
  }
  TG_UNREACHABLE();
}

const BlockLayout& LayoutOf(TensorType type) { return FormatOf(type).layout; }

}  // namespace tg::gguf
