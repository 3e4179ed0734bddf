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
inline constexpr uint32_t kVersion = 6;
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

// A hash of words of 8 bytes, the last 32 bytes filled with zeros. Pairs of words go to two lanes
// by turns, each pair by one product of 128 bits, of which both halves count: as fast as memory is
// read. It finds damage; it resists no attack.
inline uint64_t Hash(std::string_view bytes) {
  constexpr size_t kLanes = 2;
  constexpr uint64_t kFactors[kLanes] = {0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu};
  constexpr uint64_t kStart = 0x9e3779b97f4a7c15u;
  const auto folded = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t lanes[kLanes], words[2 * kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = (bytes.size() + i + 1) * kStart;
  const auto add = [&](const void* step) {
    std::memcpy(words, step, sizeof words);
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = folded(lanes[i] ^ words[2 * i], kFactors[i] ^ words[2 * i + 1]);
    }
  };
  for (; bytes.size() >= sizeof words; bytes.remove_prefix(sizeof words)) add(bytes.data());
  char rest[sizeof words] = {};
  std::memcpy(rest, bytes.data(), bytes.size());
  add(rest);
  return folded(lanes[0] ^ kStart, lanes[1] ^ kFactors[0]);
}

inline uint64_t HeaderHash(const Header& header) {
  return Hash({reinterpret_cast<const char*>(&header), offsetof(Header, header_hash)});
}

constexpr uint64_t AlignedTo(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_FORMAT_H_
