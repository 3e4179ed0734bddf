#include "runtime/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "runtime/io/json_check.h"
#include "runtime/io/safetensors_dtype.h"

namespace tg::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used in place");

constexpr size_t kLengthSize = 8;
constexpr uint64_t kMaxHeaderSize = 100'000'000;  // the limit of the reference implementation
constexpr int kHeaderDepth = 3;                   // {name: {"shape": [...]}}
constexpr size_t kMaxRank = 64;
constexpr std::string_view kMetadata = "__metadata__";

llvm::StringRef ToRef(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToView(llvm::StringRef s) { return {s.data(), s.size()}; }

uint64_t ReadLength(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), kLengthSize);
  return value;
}

// Parses an array of at most `limit` integers >= 0.
std::optional<std::vector<int64_t>> ParseSizes(const llvm::json::Value* value, size_t limit) {
  const llvm::json::Array* array = value == nullptr ? nullptr : value->getAsArray();
  if (array == nullptr || array->size() > limit) return std::nullopt;
  std::vector<int64_t> out;
  for (const llvm::json::Value& v : *array) {
    // llvm::json converts a double of 2^63 to int64_t, which is undefined, so the magnitude is
    // checked first.
    const auto magnitude = v.getAsNumber();
    if (!magnitude || *magnitude >= 9e18) return std::nullopt;
    const auto number = v.getAsInteger();
    if (!number || *number < 0) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

// Parses one entry of the header. `data` follows the header and begins at `data_offset` in the
// file.
absl::StatusOr<SafetensorsEntry> ParseEntry(std::string_view tensor, const llvm::json::Value& value,
                                            std::string_view data, size_t data_offset,
                                            std::string_view file) {
  const std::string where = Cat(file, ": tensor \"", tensor.substr(0, 200), "\": ");
  const llvm::json::Object* object = value.getAsObject();
  if (object == nullptr) return InvalidArgument(where, "not an object");
  for (const auto& [key, unused] : *object) {
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      return InvalidArgument(where, "unknown key \"", ToView(key).substr(0, 40), "\"");
    }
  }
  const auto dtype = object->getString("dtype");
  if (!dtype) return InvalidArgument(where, "no \"dtype\"");
  const std::optional<ElementType> type = ParseSafetensorsDtype(ToView(*dtype));
  if (!type.has_value()) {
    return Unimplemented(where, "dtype \"", ToView(*dtype).substr(0, 40), "\" is not known");
  }
  std::optional<std::vector<int64_t>> shape = ParseSizes(object->get("shape"), kMaxRank);
  if (!shape.has_value()) {
    return InvalidArgument(where, "\"shape\" must be an array of at most ", kMaxRank,
                           " sizes >= 0");
  }
  const auto offsets = ParseSizes(object->get("data_offsets"), 2);
  if (!offsets.has_value() || offsets->size() != 2) {
    return InvalidArgument(where, "\"data_offsets\" must be [begin, end], both >= 0");
  }
  const auto begin = static_cast<uint64_t>((*offsets)[0]),
             end = static_cast<uint64_t>((*offsets)[1]);
  if (begin > end || end > data.size()) {
    return InvalidArgument(where, "data_offsets [", begin, ", ", end, "] are outside the ",
                           data.size(), " bytes of data");
  }
  const std::optional<size_t> size = NumBytes(*type, *shape);
  if (!size.has_value()) {
    return InvalidArgument(where, TypeAndShape(*type, *shape), " has no size in 64 bits");
  }
  if (*size != end - begin) {
    return InvalidArgument(where, TypeAndShape(*type, *shape), " needs ", *size,
                           " bytes, data_offsets [", begin, ", ", end, "] give ", end - begin);
  }
  return SafetensorsEntry{std::string(tensor), *type, std::move(*shape),
                          data.substr(begin, end - begin), data_offset + begin};
}

// Checks that the tensors, sorted by offset, cover the data from the first byte to the last without
// gap or overlap.
absl::Status CheckCoverage(std::span<const SafetensorsEntry> entries, size_t data_begin,
                           size_t file_size, std::string_view file) {
  size_t at = data_begin;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset != at) {
      return InvalidArgument(
          file, ": tensor \"", std::string_view(entry.name).substr(0, 200), "\" begins at byte ",
          entry.offset - data_begin, " of the data, ",
          entry.offset < at ? "inside the one before it, which ends at " : "leaving a hole after ",
          at - data_begin);
    }
    at += entry.bytes.size();
  }
  if (at != file_size) {
    return InvalidArgument(file, ": ", file_size - at, " bytes after the last tensor");
  }
  return absl::OkStatus();
}

absl::Status ParseMetadata(const llvm::json::Value& value, std::string_view file,
                           std::map<std::string, std::string>& out) {
  const llvm::json::Object* object = value.getAsObject();
  if (object == nullptr) return InvalidArgument(file, ": __metadata__ is not an object");
  for (const auto& [key, text] : *object) {
    const auto string = text.getAsString();
    if (!string) {
      return InvalidArgument(file, ": __metadata__ \"", ToView(key).substr(0, 200),
                             "\" is not a string");
    }
    out[key.str()] = string->str();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Parse(std::string_view bytes,
                                                       std::string_view name) {
  if (bytes.size() < kLengthSize) {
    return InvalidArgument(name, ": not a safetensors file (", bytes.size(),
                           " bytes; 8 are the least)");
  }
  const uint64_t header_size = ReadLength(bytes);
  std::string_view header = bytes.substr(kLengthSize);
  if (header_size > kMaxHeaderSize || header_size > header.size()) {
    return InvalidArgument(name, ": not a safetensors file (the header is said to be ", header_size,
                           " bytes; ", header.size(), " follow, and ", kMaxHeaderSize,
                           " is the limit)");
  }
  const std::string_view data = header.substr(header_size);
  header = header.substr(0, header_size);
  if (header.empty() || header[0] != '{') {
    return InvalidArgument(name, ": not a safetensors file (the header does not begin with '{')");
  }
  TG_RETURN_IF_ERROR(CheckJsonDepthAndKeys(header, kHeaderDepth, name));
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(ToRef(header));
  if (!json) {
    return InvalidArgument(name, ": safetensors header: ", llvm::toString(json.takeError()));
  }
  const llvm::json::Object* object = json->getAsObject();
  if (object == nullptr) return InvalidArgument(name, ": the safetensors header is not an object");

  SafetensorsFile file;
  file.name_ = name;
  for (const auto& [key, value] : *object) {
    if (ToView(key) == kMetadata) {
      TG_RETURN_IF_ERROR(ParseMetadata(value, name, file.metadata_));
      continue;
    }
    TG_ASSIGN_OR_RETURN(SafetensorsEntry entry,
                        ParseEntry(ToView(key), value, data, kLengthSize + header_size, name));
    file.entries_.push_back(std::move(entry));
  }
  std::sort(file.entries_.begin(), file.entries_.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(a.offset, a.bytes.size(), std::string_view(a.name)) <
           std::make_tuple(b.offset, b.bytes.size(), std::string_view(b.name));
  });
  TG_RETURN_IF_ERROR(CheckCoverage(file.entries_, kLengthSize + header_size, bytes.size(), name));
  for (size_t i = 0; i < file.entries_.size(); ++i) file.index_.emplace(file.entries_[i].name, i);
  return file;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  TG_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  TG_ASSIGN_OR_RETURN(SafetensorsFile file, Parse(mapped.bytes(), path));
  file.file_ = std::move(mapped);  // keeps the mapping's address, so views stay valid
  return file;
}

const SafetensorsEntry* SafetensorsFile::Find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &entries_[it->second];
}

absl::StatusOr<HostTensor> SafetensorsFile::Read(std::string_view name) const {
  const SafetensorsEntry* entry = Find(name);
  if (entry == nullptr) {
    const llvm::StringRef wanted = ToRef(name);
    const SafetensorsEntry* closest = nullptr;
    unsigned distance = 4;  // names at a larger distance do not help the user
    for (const SafetensorsEntry& e : entries_) {
      const unsigned d = wanted.edit_distance(e.name, /*AllowReplacements=*/true, distance);
      if (d < distance) std::tie(closest, distance) = std::make_tuple(&e, d);
    }
    return NotFound(name_, ": no tensor \"", name, "\" among ", entries_.size(),
                    closest == nullptr ? "" : Cat("; did you mean \"", closest->name, "\"?"));
  }
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(entry->type, entry->shape));
  if (!entry->bytes.empty()) {
    std::memcpy(tensor.data.data(), entry->bytes.data(), entry->bytes.size());
  }
  if (tensor.type == ElementType::kBool) NormalizeBools(tensor.data);
  return tensor;
}

}  // namespace tg::runtime
