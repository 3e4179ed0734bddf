// Any bytes: the reader refuses them in one line, or gives tensors whose bytes are in the file.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "frontend/gguf/gguf.h"

namespace {

// Reads every byte of a view, for the sanitizer.
uint64_t SumOf(std::string_view bytes) {
  uint64_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = tg::gguf::ReadModel(
      "m-00001-of-00002.gguf",
      [&](const std::string&) -> absl::StatusOr<std::string_view> { return bytes; });
  if (!model.ok()) {
    TG_CHECK(!model.status().message().empty());
    TG_CHECK(model.status().message().find('\n') == std::string_view::npos);
    return 0;
  }
  volatile uint64_t sum = 0;
  for (const auto& [name, tensor] : model->tensors) {
    TG_CHECK(tensor.bytes.data() >= bytes.data());
    TG_CHECK(tensor.bytes.data() + tensor.bytes.size() <= bytes.data() + bytes.size());
    sum = sum + SumOf(name) + SumOf(tensor.bytes);
  }
  for (const auto& [key, value] : model->metadata) {
    sum = sum + SumOf(key);
    const auto* strings = std::get_if<std::vector<std::string_view>>(&value);
    for (size_t i = 0; strings && i < strings->size(); ++i) sum = sum + SumOf((*strings)[i]);
  }
  return 0;
}
