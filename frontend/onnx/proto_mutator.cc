#include "frontend/onnx/proto_mutator.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace tg::onnx {
namespace {

constexpr int kMaxDepth = 70;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint64_t key = 0;  // number * 8 + wire type
  uint64_t number = 0;
  std::string bytes;  // fixed, or of a length, unless it is a message
  bool is_message = false;
  std::vector<Field> fields;
};

std::optional<uint64_t> ReadVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

void AppendVarint(std::string& to, uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<char>(value | 128));
  to.push_back(static_cast<char>(value));
}

// Bytes are taken for a message where all of them can be read as fields.
std::optional<std::vector<Field>> Read(std::string_view bytes, int depth) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    Field& f = fields.emplace_back();
    const auto key = ReadVarint(bytes);
    if (!key || *key < 8) return std::nullopt;
    f.key = *key;
    const uint64_t type = *key % 8;
    if (type == kVarint) {
      const auto number = ReadVarint(bytes);
      if (!number) return std::nullopt;
      f.number = *number;
      continue;
    }
    uint64_t size = type == kFixed64 ? 8 : 4;
    if (type == kBytes) {
      const auto length = ReadVarint(bytes);
      if (!length) return std::nullopt;
      size = *length;
    } else if (type != kFixed64 && type != kFixed32) {
      return std::nullopt;
    }
    if (size > bytes.size()) return std::nullopt;
    f.bytes = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (type != kBytes || f.bytes.empty() || depth == 0) continue;
    if (auto inner = Read(f.bytes, depth - 1)) {
      f.is_message = true;
      f.fields = std::move(*inner);
    }
  }
  return fields;
}

std::string Write(const std::vector<Field>& fields) {
  std::string bytes;
  for (const Field& f : fields) {
    AppendVarint(bytes, f.key);
    const std::string data = f.is_message ? Write(f.fields) : f.bytes;
    if (f.key % 8 == kVarint) {
      AppendVarint(bytes, f.number);
    } else {
      if (f.key % 8 == kBytes) AppendVarint(bytes, data.size());
      bytes += data;
    }
  }
  return bytes;
}

uint64_t RandomNumber(uint64_t old, std::mt19937& random) {
  static constexpr int64_t kExtremes[] = {
      0,         1,        -1, 4096, 4097, 1 << 20, INT32_MAX, int64_t{1} << 40, int64_t{1} << 62,
      INT64_MAX, INT64_MIN};
  switch (random() % 4) {
    case 0:
      return static_cast<uint64_t>(kExtremes[random() % std::size(kExtremes)]);
    case 1:
      return old + random() % 5 - 2;
    case 2:
      return old ^ (uint64_t{1} << random() % 64);
    default:
      return random() % 29;
  }
}

void Change(Field& f, std::span<const std::string_view> words, std::mt19937& random) {
  if (f.key % 8 == kVarint) {
    f.number = RandomNumber(f.number, random);
  } else if (f.key % 8 != kBytes) {
    for (char& c : f.bytes) c = static_cast<char>(random());
  } else if (f.bytes.size() % 8 == 0 && random() % 2) {
    for (size_t i = 0; i + 8 <= f.bytes.size(); i += 8) {
      uint64_t number;
      std::memcpy(&number, f.bytes.data() + i, 8);
      number = RandomNumber(number, random);
      std::memcpy(f.bytes.data() + i, &number, 8);
    }
    f.is_message = false;
  } else if (!words.empty()) {
    f.bytes = words[random() % words.size()];
    f.is_message = false;
  }
}

struct Place {
  std::vector<Field>* fields;
  size_t index;
};

void ListPlaces(std::vector<Field>& fields, std::vector<Place>& places) {
  for (size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i});
    ListPlaces(fields[i].fields, places);
  }
}

}  // namespace

std::string MutateProto(std::string_view bytes, std::span<const std::string_view> words,
                        std::mt19937& random) {
  std::optional<std::vector<Field>> fields = Read(bytes, kMaxDepth);
  if (!fields) return std::string(bytes);
  for (uint64_t left = 1 + random() % 3; left > 0; --left) {
    std::vector<Place> places;
    ListPlaces(*fields, places);
    if (places.empty()) break;
    const Place place = places[random() % places.size()], other = places[random() % places.size()];
    std::vector<Field>& list = *place.fields;
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(place.index);
    switch (random() % 8) {
      case 0:
        list.erase(at);
        break;
      case 1: {
        Field copy = *at;
        list.insert(at, std::move(copy));
        break;
      }
      case 2: {
        Field copy = (*other.fields)[other.index];
        *at = std::move(copy);
        break;
      }
      default:
        // Messages change by their fields.
        if (!at->is_message || random() % 8 == 0) Change(*at, words, random);
    }
  }
  return Write(*fields);
}

}  // namespace tg::onnx
