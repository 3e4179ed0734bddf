// Factors of products that are quantized numbers, or other bytes.
#ifndef TG_PASSES_KERNELIZE_BYTE_FACTOR_H_
#define TG_PASSES_KERNELIZE_BYTE_FACTOR_H_

#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/shape.h"

namespace tg::kernelize {

// A bit for each axis of a shape.
using AxisMask = std::vector<bool>;

// Whether the values of this shape are a single one.
bool IsOneNumber(const Shape& shape);
// Whether an op gives each element of its source at some place, and nothing else.
bool OnlyRepeats(const UOp* u);

// The axes of the source of movement op `u` along which an element's position depends on one of the
// axes `mask` of the result. Nullopt if that is not known.
std::optional<AxisMask> AxesBelow(ShapeMap& shapes, const UOp* u, const AxisMask& mask);

// Movement op `u` of `x`, whose type may differ from that of the op's source.
const UOp* Moved(Context& context, const UOp* u, const UOp* x);
// The same for several ops, the outermost first.
const UOp* Moved(Context& context, UOpSpan movement, const UOp* x);

// scale * (bytes - zero), at the shape of the products that are summed.
struct ByteFactor {
  const UOp* bytes = nullptr;        // u8 or i8
  std::vector<const UOp*> movement;  // of the bytes to the products' shape, the outermost op first
  bool is_padded = false;            // a movement op adds zeros: there the factor is 0
  // Values that do not vary along the terms, of the shape of the sums, or [] if they are one
  // number. i32 (null: 0) and f32 (null: 1).
  const UOp *zero = nullptr, *scale = nullptr;
};

// Reads the factors of one sum of products.
class ByteFactorReader {
 public:
  // `shape`: of the products; `terms`: the axes that are summed.
  ByteFactorReader(Builder& b, ShapeMap& shapes, const Shape& shape, AxisMask terms)
      : b_(b), shapes_(shapes), shape_(shape), terms_(std::move(terms)) {}

  // Nullopt if the factor has another form.
  std::optional<ByteFactor> Read(const UOp* factor);

  // `x`, of the shape of the products, at the first of the axes `mask`.
  const UOp* First(const UOp* x, const Shape& shape, const AxisMask& mask);

 private:
  // Whether `x` may vary along the axes `along` of its shape.
  bool Varies(const UOp* x, AxisMask along);
  // The value that `x`, after the movement of `factor`, has along all terms. Null if it varies.
  const UOp* Invariant(const ByteFactor& factor, const UOp* x);

  Builder& b_;
  ShapeMap& shapes_;
  const Shape& shape_;
  const AxisMask terms_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_BYTE_FACTOR_H_
