// A tensor in host memory, which files store and which the runtime uploads to devices: type, shape,
// bytes.
//
// Invariants, established by MakeHostTensor and by the readers: every dimension is >= 0; `data`
// holds exactly product(shape) * ElementSize(type) bytes, in C order and in the byte order of this
// machine; a bool is one byte that is 0 or 1. Rank 0 (an empty shape) is a scalar.
#ifndef TG_RUNTIME_IO_HOST_TENSOR_H_
#define TG_RUNTIME_IO_HOST_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

// Types that can be stored. The runtime does not need to know which arithmetic they support.
enum class ElementType : uint8_t {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF8E4M3,  // OCP 8-bit float, 4 exponent bits, finite only ("e4m3fn")
  kF8E5M2,  // OCP 8-bit float, 5 exponent bits
};
inline constexpr int kNumElementTypes = 15;

// Returns the size of an element in bytes: 1, 2, 4 or 8.
size_t ElementSize(ElementType type);

// Returns "bool", "i8" ... "u64", "f16", "bf16", "f32", "f64", "f8e4m3" or "f8e5m2".
std::string_view ElementTypeName(ElementType type);

struct HostTensor {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

// Returns a text like "f32[2, 3]".
std::string TypeAndShape(ElementType type, std::span<const int64_t> shape);

// Returns product(shape), or nothing if a dimension is negative or the product of the non-zero
// dimensions overflows int64. Strides computed from a valid shape therefore never overflow, even
// when a dimension is 0.
std::optional<int64_t> NumElements(std::span<const int64_t> shape);

// Returns the bytes of a dense tensor, or nothing if NumElements fails or the bytes overflow int64.
std::optional<size_t> NumBytes(ElementType type, std::span<const int64_t> shape);

// Makes a zero-filled tensor. InvalidArgument if NumBytes of the shape fails, ResourceExhausted if
// the system lacks the memory.
absl::StatusOr<HostTensor> MakeHostTensor(ElementType type, std::vector<int64_t> shape);

// Sets every non-zero byte to 1, so that bools from a file are valid C++ bools.
void NormalizeBools(std::span<std::byte> data);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_HOST_TENSOR_H_
