// Arrays of numbers and the movement ops on them, coordinate by coordinate: a reference that shares
// no code with the interpreter, nor with the passes' index arithmetic.
#ifndef TG_IR_TESTING_ARRAY_MODEL_H_
#define TG_IR_TESTING_ARRAY_MODEL_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tg::testing {

// What a view of memory is made of: the position of each element; or the elements themselves.
struct Array {
  std::vector<int64_t> shape;
  std::vector<int64_t> items;  // row-major

  size_t size() const { return items.size(); }
};

using Coordinates = std::vector<int64_t>;

// The array of this shape whose element at `to` is item(to).
Array Filled(const std::vector<int64_t>& shape,
             const std::function<int64_t(const Coordinates&)>& item);
int64_t ItemAt(const Array& x, const Coordinates& at);

Array Reshaped(const Array& x, std::vector<int64_t> shape);
Array Permuted(const Array& x, const std::vector<int64_t>& order);
Array Flipped(const Array& x, const std::vector<int64_t>& axes);
// From the first of each pair to in front of the second.
Array Shrunk(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
// Grows by the first of each pair in front and by the second behind; what is added is `padding`.
Array Padded(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs,
             int64_t padding);
Array Expanded(const Array& x, const std::vector<int64_t>& shape);
// 0, 1, 2, ...
Array Counted(const std::vector<int64_t>& shape);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_ARRAY_MODEL_H_
