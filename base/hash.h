// FNV-1a (Fowler, Noll, Vo): a hash of bytes that is the same on every machine and in every
// version, as seeds, names of kernels and keys of caches must be. It resists no attack.
#ifndef TG_BASE_HASH_H_
#define TG_BASE_HASH_H_

#include <cstdint>
#include <string_view>

namespace tg {

inline constexpr uint32_t kFnv32Basis = 0x811c9dc5u;
inline constexpr uint64_t kFnv64Basis = 0xcbf29ce484222325u;

// `hash`: the basis, or the hash of the bytes before these.
constexpr uint32_t Fnv32(std::string_view bytes, uint32_t hash = kFnv32Basis) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}
constexpr uint64_t Fnv64(std::string_view bytes, uint64_t hash = kFnv64Basis) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace tg

#endif  // TG_BASE_HASH_H_
