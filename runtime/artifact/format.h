// The head of a .tgx file and its checksums (docs/artifact.md).
#ifndef TG_RUNTIME_ARTIFACT_FORMAT_H_
#define TG_RUNTIME_ARTIFACT_FORMAT_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tg::artifact {

// The first byte is no text, and the line ends show a transfer as text.
inline constexpr std::string_view kMagic = "\x89tgx\r\n\x1a\n";
// Changes whenever an older reader would misread a file.
inline constexpr uint32_t kVersion = 5;
// The alignment of the weights as a whole.
inline constexpr uint64_t kPageBytes = 4096;
// The alignment of each tensor: a cache line, on which kernels of a native device rely.
inline constexpr uint64_t kLineBytes = 64;

// All numbers of a file are little-endian, as those of the machines that read it.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;  // 0
  uint64_t file_bytes;
  uint64_t weights_offset, weights_bytes;
  uint64_t plan_offset, plan_bytes, plan_hash;
  uint64_t header_hash;  // of the bytes before it
};
static_assert(sizeof(Header) == 72);

// A hash of words of 8 bytes, the last one filled with zeros. Word i goes to lane i % 4, so that
// four products are in flight. It finds damage; it resists no attack.
inline uint64_t Hash(std::string_view bytes) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  constexpr size_t kLanes = 4;
  const auto mixed = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * kFactor;
    return hash ^ (hash >> 32);
  };
  uint64_t lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = (bytes.size() + i + 1) * kFactor;
  for (; bytes.size() >= sizeof lanes; bytes.remove_prefix(sizeof lanes)) {
    uint64_t words[kLanes];
    std::memcpy(words, bytes.data(), sizeof words);
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  uint64_t rest[kLanes] = {};
  std::memcpy(rest, bytes.data(), bytes.size());
  uint64_t hash = 0;
  for (size_t i = 0; i < kLanes; ++i) hash = mixed(hash, mixed(lanes[i], rest[i]));
  return hash;
}

inline uint64_t HeaderHash(const Header& header) {
  return Hash({reinterpret_cast<const char*>(&header), offsetof(Header, header_hash)});
}

constexpr uint64_t AlignedTo(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_FORMAT_H_
