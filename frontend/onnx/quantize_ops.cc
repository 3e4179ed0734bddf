// Numbers to quantized ones and back.
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/casts.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/quantization.h"

namespace tg::onnx {
namespace {

// The axis of x to which a vector of scales belongs. A vector x has only one axis, whatever the
// attribute's default is.
int64_t AxisOf(NodeContext& c, Value x) { return c.g.Rank(x) == 1 ? 0 : c.Int("axis", 1); }

void QuantizeLinear(NodeContext& c) {
  const Value x = c.In(0), scale = c.In(1);
  if (!x || !scale) return;
  const auto asked = static_cast<ElementType>(c.Int("output_dtype", 0));
  ElementType type = c.Has(2) ? c.TypeOf(2) : asked;
  if (type == ElementType::kUndefined) type = ElementType::kUint8;
  if (asked != ElementType::kUndefined && asked != type) {
    c.Fail(absl::StrCat("output_dtype ", std::string(TypeName(asked)), " and a zero point of ",
                        std::string(TypeName(type))));
    return;
  }
  // The division is done in the type of the scales unless told.
  const auto told = static_cast<ElementType>(c.Int("precision", 0));
  const auto precision = told != ElementType::kUndefined ? ScalarFor(told) : scale->dtype.scalar();
  if (!precision || !IsFloat(*precision)) {
    c.Fail("a division in a type that is no float");
    return;
  }
  const int64_t axis = AxisOf(c, x), block = c.Int("block_size", 0);
  const Value divisor = ScaleFor(c.g, x, c.g.Cast(scale, *precision), axis, block);
  const Value zero = c.Has(2) ? ScaleFor(c.g, x, c.In(2), axis, block) : nullptr;
  const Value quotient = c.g.Div(c.g.Cast(x, *precision), divisor);
  c.Return(RoundToType(c.g, quotient, zero, type, c.Int("saturate", 1) != 0), 0, type);
}

void DequantizeLinear(NodeContext& c) {
  const Value x = c.In(0), scale = c.In(1);
  if (!x || !scale) return;
  auto type = static_cast<ElementType>(c.Int("output_dtype", 0));
  if (type == ElementType::kUndefined) type = c.TypeOf(1);
  const int64_t axis = AxisOf(c, x), block = c.Int("block_size", 0);
  const Value factor = ScaleFor(c.g, x, scale, axis, block);
  const Value zero = c.Has(2) ? ScaleFor(c.g, x, c.In(2), axis, block) : nullptr;
  c.Return(CastTo(c.g, Dequantize(c.g, x, factor, zero), ElementType::kFloat, type, false), 0,
           type);
}

void DynamicQuantizeLinear(NodeContext& c) {
  const DynamicQuantization q = QuantizeDynamically(c.g, c.In(0));
  c.Return(q.codes);
  c.Return(q.scale, 1);
  c.Return(q.zero, 2);
}

constexpr Operator kQuantizeOperators[] = {
    {"", "DequantizeLinear", 10, DequantizeLinear},
    {"", "DynamicQuantizeLinear", 11, DynamicQuantizeLinear},
    {"", "QuantizeLinear", 10, QuantizeLinear},
    {"com.microsoft", "DequantizeLinear", 1, DequantizeLinear},
    {"com.microsoft", "QuantizeLinear", 1, QuantizeLinear},
};

}  // namespace

std::span<const Operator> QuantizeOperators() { return kQuantizeOperators; }

}  // namespace tg::onnx
