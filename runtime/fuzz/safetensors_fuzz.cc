// For any bytes, the safetensors reader returns an error, or tensors that lie inside the input
// without gap or overlap and are unchanged by writing and reading.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/io/safetensors.h"

namespace tg::runtime {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void RunOne(std::string_view bytes) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Parse(bytes, "input");
  if (!file.ok()) return;
  std::vector<NamedTensor> tensors;
  size_t covered = 0;
  for (const SafetensorsEntry& entry : file->entries()) {
    Require(entry.bytes.data() == bytes.data() + entry.offset);
    Require(entry.offset + entry.bytes.size() <= bytes.size());
    Require(file->Find(entry.name) == &entry);
    Require(file->Read(entry.name).ok());
    covered += entry.bytes.size();
    tensors.push_back({entry.name, entry.type, entry.shape, AsBytes(entry.bytes)});
  }
  const std::string_view data = bytes.substr(bytes.size() - covered);
  const absl::StatusOr<std::string> header = SafetensorsHeader(tensors, file->metadata());
  Require(header.ok());
  const std::string written = Cat(*header, data);
  const absl::StatusOr<SafetensorsFile> again = SafetensorsFile::Parse(written, "output");
  Require(again.ok());
  Require(again->metadata() == file->metadata());
  Require(again->entries().size() == file->entries().size());
  for (const SafetensorsEntry& entry : file->entries()) {
    Require(*again->Read(entry.name) == *file->Read(entry.name));
  }
}

}  // namespace
}  // namespace tg::runtime

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tg::runtime::RunOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
