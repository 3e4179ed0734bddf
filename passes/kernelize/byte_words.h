// Words of four bytes, the operands of dot4.
#ifndef TG_PASSES_KERNELIZE_BYTE_WORDS_H_
#define TG_PASSES_KERNELIZE_BYTE_WORDS_H_

#include <vector>

#include "passes/kernelize/byte_factor.h"

namespace tg::kernelize {

// Where the bytes of a factor become words: below its first `above` movement ops, counted from the
// outermost. The words are made along the axis axes.back() there, which is axis axes[i] below the
// first i ops.
struct WordPlace {
  size_t above = 0;
  std::vector<size_t> axes;
  bool splits = false;  // the axis is a part of an axis of a shape below, and must be whole words
};

class ByteWords {
 public:
  ByteWords(Builder& b, ShapeMap& shapes) : b_(b), shapes_(shapes) {}

  // Their number; a symbolic extent counts once.
  static double Elements(const Shape& shape);

  // Finds where the bytes of a factor become words along axis `axis` of the products: as far below
  // the repeats of elements as possible. False if words would be made of repeated bytes.
  bool Find(const ByteFactor& factor, size_t axis, const Shape& products, WordPlace& place);

  // The bytes of the factor at its place as words, moved to the shape of the products, in which the
  // axis of the words has a fourth of its size.
  const UOp* Make(const ByteFactor& factor, const WordPlace& place);

 private:
  // Four neighbours along `axis` as one word each, the first one in its low byte.
  const UOp* Packed(const UOp* x, size_t axis);
  // Movement op `u` of words `x`: axis `from` of its source, and `to` of its result, have a fourth
  // of the elements.
  const UOp* MovedWords(const UOp* u, const UOp* x, size_t from, size_t to);

  Builder& b_;
  ShapeMap& shapes_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_BYTE_WORDS_H_
