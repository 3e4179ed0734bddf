// Buffers and variables as arguments and results of the interpreters.
#ifndef TG_IR_INTERPRET_HOST_BUFFER_H_
#define TG_IR_INTERPRET_HOST_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace tg::interpret {

// The contents of a buffer: one word an element (bits in the format of ir/value.h), row-major.
struct HostBuffer {
  DType dtype;  // a scalar, or an image (its words are texel channels in its storage)
  std::vector<int64_t> shape;  // the declared shape with the variables' values
  std::vector<int64_t> data;
  // 1 for each element that has a value; empty where all have one.
  std::vector<uint8_t> defined;
  // 1 for each element that a run stored; empty if that is not recorded.
  std::vector<uint8_t> written;
  // For each element, a bound of the difference from any other correct evaluation (see
  // InterpretOptions::track_error); empty: all are exact.
  std::vector<double> error;

  bool IsDefined(size_t i) const { return defined.empty() || defined[i]; }
};

using HostBuffers = std::map<std::string, HostBuffer, std::less<>>;
using VarValues = std::map<std::string, int64_t, std::less<>>;

// The product of extents; 1 for [].
int64_t NumElements(std::span<const int64_t> shape);

// Element `i` of packed memory of type `s`, as bits.
int64_t LoadBits(Scalar s, const void* memory, size_t i);
void StoreBits(Scalar s, void* memory, size_t i, int64_t bits);

// From and to packed bytes in the host's (little-endian) order.
HostBuffer BufferFromBytes(DType dtype, std::vector<int64_t> shape, const void* bytes);
std::vector<uint8_t> BufferToBytes(const HostBuffer& buffer);

// A buffer of numbers, each converted to the type. For tests.
HostBuffer BufferOf(Scalar s, std::vector<int64_t> shape, std::span<const double> values);
// A buffer without any value yet: reads of it are errors.
HostBuffer UndefinedBuffer(DType dtype, std::vector<int64_t> shape);
std::vector<double> ToDoubles(const HostBuffer& buffer);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_HOST_BUFFER_H_
