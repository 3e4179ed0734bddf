#include "tools/train/npz.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/status.h"
#include "runtime/io/npy.h"

namespace tg::train {
namespace {

// The records of a zip file: their signatures and the sizes of their fixed parts.
constexpr uint32_t kEnd = 0x06054b50, kEntry = 0x02014b50, kMember = 0x04034b50;
constexpr size_t kEndSize = 22, kEntrySize = 46, kMemberSize = 30, kMaxComment = 65535;

// Little-endian; 0 beyond the end, which no signature is.
uint32_t Read(std::string_view bytes, size_t at, size_t size) {
  if (at + size > bytes.size()) return 0;
  uint32_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

uint32_t Checksum(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      table[i] = c;
    }
    return table;
  }();
  uint32_t c = ~0u;
  for (const char b : bytes) c = kTable[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ c >> 8;
  return ~c;
}

std::optional<size_t> FindEnd(std::string_view bytes) {
  if (bytes.size() < kEndSize) return std::nullopt;
  const size_t last = bytes.size() - kEndSize;
  for (size_t back = 0; back <= std::min(last, kMaxComment); ++back) {
    if (Read(bytes, last - back, 4) == kEnd) return last - back;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::map<std::string, runtime::HostTensor>> ParseNpz(std::string_view bytes,
                                                                    std::string_view name) {
  const std::optional<size_t> end = FindEnd(bytes);
  if (!end) return InvalidArgument(name, ": no archive of arrays (.npz): its end is missing");
  std::map<std::string, runtime::HostTensor> arrays;
  size_t at = Read(bytes, *end + 16, 4);
  for (uint32_t i = Read(bytes, *end + 10, 2); i > 0; --i) {
    if (Read(bytes, at, 4) != kEntry || at + kEntrySize > bytes.size()) {
      return InvalidArgument(name, ": the archive's list of arrays is damaged");
    }
    const uint32_t method = Read(bytes, at + 10, 2), checksum = Read(bytes, at + 16, 4);
    const uint32_t size = Read(bytes, at + 24, 4), name_size = Read(bytes, at + 28, 2);
    const size_t start = Read(bytes, at + 42, 4);
    if (at + kEntrySize + name_size > bytes.size()) {
      return InvalidArgument(name, ": the archive's list of arrays is damaged");
    }
    std::string member(bytes.substr(at + kEntrySize, name_size));
    at += kEntrySize + name_size + Read(bytes, at + 30, 2) + Read(bytes, at + 32, 2);
    const std::string label = Cat(name, ": ", member);
    if (method != 0) {
      return Unimplemented(label, " is compressed; write it by numpy.savez");
    }
    if (size == UINT32_MAX || start == UINT32_MAX) {
      return Unimplemented(label, " has 4 GiB or more; use NAME=FILE.npy");
    }
    const size_t data =
        start + kMemberSize + Read(bytes, start + 26, 2) + Read(bytes, start + 28, 2);
    if (Read(bytes, start, 4) != kMember || data > bytes.size() || bytes.size() - data < size) {
      return InvalidArgument(label, " is not where the archive says");
    }
    const std::string_view contents = bytes.substr(data, size);
    if (Checksum(contents) != checksum)
      return InvalidArgument(label, " is damaged: wrong checksum");
    if (!member.ends_with(".npy")) return InvalidArgument(label, " is no array (.npy)");
    member.resize(member.size() - 4);
    TG_ASSIGN_OR_RETURN(runtime::HostTensor array, runtime::ParseNpy(contents, label));
    arrays[member] = std::move(array);
  }
  return arrays;
}

}  // namespace tg::train
