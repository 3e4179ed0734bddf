#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/write_file.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/io/safetensors.h"
#include "runtime/io/safetensors_dtype.h"

namespace tg::runtime {
namespace {

constexpr size_t kHeaderAlignment = 8;

absl::Status CheckTensor(const NamedTensor& tensor, std::set<std::string>& seen) {
  if (!llvm::json::isUTF8(tensor.name)) return InvalidArgument("a tensor's name is not UTF-8");
  if (tensor.name == "__metadata__") {
    return InvalidArgument("the name __metadata__ is reserved in safetensors");
  }
  if (!seen.insert(tensor.name).second) {
    return InvalidArgument("two tensors are named \"", tensor.name, "\"");
  }
  if (NumBytes(tensor.type, tensor.shape) != tensor.data.size()) {
    return InvalidArgument("tensor \"", tensor.name,
                           "\": ", TypeAndShape(tensor.type, tensor.shape), " with ",
                           tensor.data.size(), " bytes of data");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> SafetensorsHeader(std::span<const NamedTensor> tensors,
                                              const std::map<std::string, std::string>& metadata) {
  std::set<std::string> seen;
  for (const NamedTensor& tensor : tensors) TG_RETURN_IF_ERROR(CheckTensor(tensor, seen));
  for (const auto& [key, value] : metadata) {
    if (!llvm::json::isUTF8(key) || !llvm::json::isUTF8(value)) {
      return InvalidArgument("safetensors metadata is not UTF-8");
    }
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    if (!metadata.empty()) {
      json.attributeObject("__metadata__", [&] {
        for (const auto& [key, value] : metadata) json.attribute(key, value);
      });
    }
    int64_t offset = 0;
    for (const NamedTensor& tensor : tensors) {
      json.attributeObject(tensor.name, [&] {
        const std::string_view dtype = kSafetensorsDtypes[static_cast<size_t>(tensor.type)];
        json.attribute("dtype", llvm::StringRef(dtype.data(), dtype.size()));
        json.attributeArray("shape", [&] {
          for (const int64_t dim : tensor.shape) json.value(dim);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          offset += static_cast<int64_t>(tensor.data.size());
          json.value(offset);
        });
      });
    }
  });
  os.flush();
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  const uint64_t length = text.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + text;
}

absl::Status WriteSafetensors(const std::string& path, std::vector<NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const NamedTensor& a, const NamedTensor& b) {
    const size_t size_a = ElementSize(a.type), size_b = ElementSize(b.type);
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
  const absl::StatusOr<std::string> header = SafetensorsHeader(tensors, metadata);
  if (!header.ok()) return InvalidArgument(path, ": ", std::string(header.status().message()));
  std::vector<std::string_view> pieces = {*header};
  for (const NamedTensor& tensor : tensors) {
    pieces.emplace_back(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  return WriteFile(path, pieces);
}

}  // namespace tg::runtime
