#include "ir/interpret/host_buffer.h"

#include <cstring>

#include "base/check.h"
#include "ir/value.h"

namespace tg::interpret {

int64_t NumElements(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

int64_t LoadBits(Scalar s, const void* memory, size_t i) {
  const auto size = static_cast<size_t>(ByteSize(s));
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(memory) + i * size, size);
  if (s == Scalar::kBool) return bits != 0;
  return IsFloat(s) ? static_cast<int64_t>(bits) : WrapInt(s, static_cast<int64_t>(bits));
}

void StoreBits(Scalar s, void* memory, size_t i, int64_t bits) {
  const auto size = static_cast<size_t>(ByteSize(s));
  std::memcpy(static_cast<char*>(memory) + i * size, &bits, size);
}

HostBuffer BufferFromBytes(DType dtype, std::vector<int64_t> shape, const void* bytes) {
  HostBuffer b{dtype, std::move(shape), {}, {}, {}, {}};
  b.data.resize(static_cast<size_t>(NumElements(b.shape)));
  for (size_t i = 0; i < b.data.size(); ++i) b.data[i] = LoadBits(dtype.scalar(), bytes, i);
  return b;
}

std::vector<uint8_t> BufferToBytes(const HostBuffer& b) {
  std::vector<uint8_t> bytes(b.data.size() * static_cast<size_t>(ByteSize(b.dtype.scalar())));
  for (size_t i = 0; i < b.data.size(); ++i) {
    StoreBits(b.dtype.scalar(), bytes.data(), i, b.data[i]);
  }
  return bytes;
}

HostBuffer BufferOf(Scalar s, std::vector<int64_t> shape, std::span<const double> values) {
  HostBuffer b{DType(s), std::move(shape), {}, {}, {}, {}};
  TG_CHECK(static_cast<size_t>(NumElements(b.shape)) == values.size());
  for (double v : values) b.data.push_back(BitsFromDouble(s, v));
  return b;
}

HostBuffer UndefinedBuffer(DType dtype, std::vector<int64_t> shape) {
  HostBuffer b{dtype, std::move(shape), {}, {}, {}, {}};
  const auto n = static_cast<size_t>(NumElements(b.shape));
  b.data.assign(n, 0);
  b.defined.assign(n, 0);
  return b;
}

std::vector<double> ToDoubles(const HostBuffer& b) {
  std::vector<double> out;
  out.reserve(b.data.size());
  for (int64_t bits : b.data) out.push_back(DoubleFromBits(b.dtype.scalar(), bits));
  return out;
}

}  // namespace tg::interpret
