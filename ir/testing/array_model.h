// Arrays of numbers and movement ops on them, one coordinate at a time: a reference that shares no
// code with the interpreter or with the index arithmetic of passes.
#ifndef TG_IR_TESTING_ARRAY_MODEL_H_
#define TG_IR_TESTING_ARRAY_MODEL_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tg::testing {

// A view of memory as the position of each element, or a value as its elements.
struct Array {
  std::vector<int64_t> shape;
  std::vector<int64_t> items;  // row-major

  size_t size() const { return items.size(); }
};

using Coordinates = std::vector<int64_t>;

// The array of this shape with the element item(to) at coordinate `to`.
Array Filled(const std::vector<int64_t>& shape,
             const std::function<int64_t(const Coordinates&)>& item);
int64_t ItemAt(const Array& x, const Coordinates& at);

Array Reshaped(const Array& x, std::vector<int64_t> shape);
Array Permuted(const Array& x, const std::vector<int64_t>& order);
Array Flipped(const Array& x, const std::vector<int64_t>& axes);
// Keeps the half-open range [first, second) of each axis.
Array Shrunk(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
// Pads each axis with `padding`: `first` elements before, `second` elements after.
Array Padded(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs,
             int64_t padding);
Array Expanded(const Array& x, const std::vector<int64_t>& shape);
// 0, 1, 2, ...
Array Counted(const std::vector<int64_t>& shape);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_ARRAY_MODEL_H_
