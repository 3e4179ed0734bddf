#include "runtime/io/host_tensor.h"

#include <sys/mman.h>

#include <array>
#include <limits>
#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

struct TypeRow {
  std::string_view name;
  size_t size;
};

constexpr std::array<TypeRow, kNumElementTypes> kTypes = {{
    {"bool", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"f8e4m3", 1},
    {"f8e5m2", 1},
}};

// Returns whether the system can allocate this amount. Small amounts are not checked.
bool MemoryHas(size_t bytes) {
  constexpr size_t kSmall = size_t{1} << 28;
  if (bytes <= kSmall) return true;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

}  // namespace

size_t ElementSize(ElementType type) { return kTypes[static_cast<size_t>(type)].size; }

std::string_view ElementTypeName(ElementType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

std::string TypeAndShape(ElementType type, std::span<const int64_t> shape) {
  std::string out = Cat(ElementTypeName(type), '[');
  for (size_t i = 0; i < shape.size(); ++i) out += Cat(i == 0 ? "" : ", ", shape[i]);
  return out + "]";
}

std::optional<int64_t> NumElements(std::span<const int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dim, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

std::optional<size_t> NumBytes(ElementType type, std::span<const int64_t> shape) {
  const std::optional<int64_t> elements = NumElements(shape);
  int64_t bytes = 0;
  if (!elements.has_value() ||
      __builtin_mul_overflow(*elements, static_cast<int64_t>(ElementSize(type)), &bytes)) {
    return std::nullopt;
  }
  return static_cast<size_t>(bytes);
}

absl::StatusOr<HostTensor> MakeHostTensor(ElementType type, std::vector<int64_t> shape) {
  const std::optional<size_t> bytes = NumBytes(type, shape);
  if (!bytes.has_value()) {
    return InvalidArgument("the shape of ", TypeAndShape(type, shape), " has no size in 64 bits");
  }
  if (!MemoryHas(*bytes)) {
    return absl::ResourceExhaustedError(
        Cat("no memory for ", TypeAndShape(type, shape), ", ", *bytes, " bytes"));
  }
  HostTensor tensor{type, std::move(shape), {}};
  tensor.data.resize(*bytes);
  return tensor;
}

void NormalizeBools(std::span<std::byte> data) {
  for (std::byte& b : data) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace tg::runtime
