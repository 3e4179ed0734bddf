#include "frontend/file_kind.h"

#include <cstdint>

namespace tg::frontend {
namespace {

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Length of the safetensors header if the file begins with one, which is a JSON object.
bool IsSafetensors(std::string_view bytes) {
  constexpr uint64_t kMostHeader = 100'000'000;
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  const uint64_t size = LittleEndian(bytes.substr(0, 8));
  return size >= 2 && size <= kMostHeader &&
         (bytes[9] == '"' || bytes[9] == ' ' || bytes[9] == '}');
}

template <size_t kSize>
struct Magic {
  char text[kSize] = {};
  constexpr Magic(const char (&from)[kSize]) {  // NOLINT: to be written as a literal
    for (size_t i = 0; i < kSize; ++i) text[i] = from[i];
  }
};

// Whether the bytes at `kAt` are those of the literal.
template <Magic kMagic, size_t kAt = 0>
bool Has(std::string_view bytes) {
  const std::string_view magic(kMagic.text, sizeof kMagic.text - 1);
  return bytes.size() >= kAt + magic.size() && bytes.substr(kAt, magic.size()) == magic;
}

constexpr FileKind kKinds[] = {
    {"a GGUF model", "", Has<"GGUF">},
    {"a TFLite model", "", Has<"TFL3", 4>},
    {"a safetensors file",
     "a module takes weights from it: buffer @w : f32[8] param = file(\"m.safetensors\", \"w\")",
     IsSafetensors},
    {"a zip archive, such as a PyTorch checkpoint or an npz file", "", Has<"PK\x03\x04">},
    {"an npy array", "--input gives it to a buffer of the module", Has<"\x93NUMPY">},
    {"an HDF5 file", "", Has<"\x89HDF\r\n\x1a\n">},
    {"a pickle of Python", "", Has<"\x80\x02">},
    {"a pickle of Python", "", Has<"\x80\x04\x95">},
    {"a file that gzip has compressed", "decompress it first", Has<"\x1f\x8b">},
    {"a file that xz has compressed", "decompress it first", Has<"\xfd\x37zXZ">},
    {"a file that zstd has compressed", "decompress it first", Has<"\x28\xb5\x2f\xfd">},
    {"an ELF program", "", Has<"\x7f\x45LF">},
};

}  // namespace

const FileKind* KindOfFile(std::string_view bytes) {
  for (const FileKind& kind : kKinds) {
    if (kind.matches(bytes)) return &kind;
  }
  return nullptr;
}

}  // namespace tg::frontend
