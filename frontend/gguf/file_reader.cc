#include "frontend/gguf/file_reader.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/escaping.h"
#include "base/status.h"

namespace tg::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr int64_t kDefaultAlignment = 32, kMaxAlignment = int64_t{1} << 30;
constexpr uint32_t kMaxRank = 4;
constexpr int64_t kMaxElements = int64_t{1} << 48;

// Types of metadata by their numbers in the file.
enum class ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
constexpr uint32_t kNumValueTypes = 13;

// The least number of bytes that a value takes.
uint64_t LeastBytes(ValueType type) {
  switch (type) {
    case ValueType::kU8:
    case ValueType::kI8:
    case ValueType::kBool:
      return 1;
    case ValueType::kU16:
    case ValueType::kI16:
      return 2;
    case ValueType::kU32:
    case ValueType::kI32:
    case ValueType::kF32:
      return 4;
    case ValueType::kString:
    case ValueType::kU64:
    case ValueType::kI64:
    case ValueType::kF64:
      return 8;
    case ValueType::kArray:
      return 12;
  }
  return 1;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path, int file)
      : bytes_(bytes), path_(path), file_(file) {}

  absl::StatusOr<File> Read() {
    if (!Header()) return status_;
    for (uint64_t i = 0; i < num_values_; ++i) {
      if (!KeyAndValue()) return status_;
    }
    for (uint64_t i = 0; i < num_tensors_; ++i) {
      if (!TensorInfo()) return status_;
    }
    if (!PlaceTensors()) return status_;
    return std::move(result_);
  }

 private:
  template <typename... T>
  bool Fail(const T&... what) {
    status_ = InvalidArgument(path_, ": ", what...);
    return false;
  }
  // A name from the file, quoted for a message. It may contain any bytes.
  static std::string Quoted(std::string_view name) {
    constexpr size_t kMost = 100;
    return Cat("'", absl::CHexEscape(std::string(name.substr(0, kMost))),
               name.size() > kMost ? "..." : "", "'");
  }

  template <typename T>
  bool Number(T* out, std::string_view what) {
    if (bytes_.size() - at_ < sizeof(T)) {
      return Fail("the file ends at byte ", bytes_.size(), ", in ", what, where_);
    }
    // The file is little-endian, as is every machine that tg runs on.
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(out, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }

  // A count of things that take at least `least` bytes each.
  bool Count(uint64_t* out, uint64_t least, std::string_view what) {
    const size_t begin = at_;
    if (!Number(out, what)) return false;
    if (*out > (bytes_.size() - at_) / least) {
      return Fail(what, where_, " is ", *out, " at byte ", begin, ", but the file has only ",
                  bytes_.size() - at_, " bytes more");
    }
    return true;
  }

  bool Text(std::string_view* out, std::string_view what) {
    uint64_t size = 0;
    if (!Count(&size, 1, what)) return false;
    *out = bytes_.substr(at_, size);
    at_ += size;
    return true;
  }

  bool Header() {
    if (!bytes_.starts_with(kMagic))
      return Fail("this is no GGUF file: it does not begin with GGUF");
    at_ = kMagic.size();
    uint32_t version = 0;
    if (!Number(&version, "the version")) return false;
    if ((version & 0xffff) == 0 && version != 0) {
      return Fail("the file is big-endian; tg reads little-endian GGUF files");
    }
    if (version != 2 && version != 3) {
      return Fail("the file is of GGUF version ", version, "; tg reads versions 2 and 3");
    }
    // A tensor takes its name's length, its rank, an extent, a type and an offset.
    return Count(&num_tensors_, 32, "the number of tensors") &&
           Count(&num_values_, 13, "the number of metadata values");
  }

  bool Type(ValueType* out, std::string_view what) {
    uint32_t number = 0;
    const size_t begin = at_;
    if (!Number(&number, what)) return false;
    if (number >= kNumValueTypes) {
      return Fail(what, where_, " is ", number, " at byte ", begin, ", which is no type");
    }
    *out = static_cast<ValueType>(number);
    return true;
  }

  bool KeyAndValue() {
    where_ = Cat(" of metadata value ", result_.metadata.size());
    std::string_view key;
    if (!Text(&key, "the length of the key")) return false;
    where_ = Cat(" of key ", Quoted(key));
    if (!keys_.insert(key).second) return Fail("key ", Quoted(key), " is there twice");
    ValueType type;
    MetadataValue value;
    if (!Type(&type, "the type") || !Value(type, &value)) return false;
    if (key == "general.alignment") {
      const int64_t* alignment = std::get_if<int64_t>(&value);
      if (!alignment || *alignment < 1 || *alignment > kMaxAlignment ||
          !std::has_single_bit(static_cast<uint64_t>(*alignment))) {
        return Fail("key 'general.alignment' is no power of two up to 2^30");
      }
      alignment_ = *alignment;
    }
    result_.metadata.emplace_back(key, std::move(value));
    where_.clear();
    return true;
  }

  template <typename T, typename To>
  bool NumberAs(To* out) {
    T value{};
    if (!Number(&value, "the value")) return false;
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return Fail("the value", where_, " is ", value, ", beyond 63 bits");
      }
    }
    *out = static_cast<To>(value);
    return true;
  }

  bool Integer(ValueType type, int64_t* out) {
    switch (type) {
      case ValueType::kU8:
        return NumberAs<uint8_t>(out);
      case ValueType::kI8:
        return NumberAs<int8_t>(out);
      case ValueType::kU16:
        return NumberAs<uint16_t>(out);
      case ValueType::kI16:
        return NumberAs<int16_t>(out);
      case ValueType::kU32:
        return NumberAs<uint32_t>(out);
      case ValueType::kI32:
        return NumberAs<int32_t>(out);
      case ValueType::kU64:
        return NumberAs<uint64_t>(out);
      case ValueType::kI64:
        return NumberAs<int64_t>(out);
      case ValueType::kBool:
        if (!NumberAs<uint8_t>(out)) return false;
        if (*out > 1) return Fail("the value", where_, " is ", *out, ", which is no bool");
        return true;
      case ValueType::kF32:
      case ValueType::kF64:
      case ValueType::kString:
      case ValueType::kArray:
        break;
    }
    return Fail("the value", where_, " is no integer");
  }

  bool Value(ValueType type, MetadataValue* out) {
    switch (type) {
      case ValueType::kF32:
        return NumberAs<float>(&out->emplace<double>());
      case ValueType::kF64:
        return NumberAs<double>(&out->emplace<double>());
      case ValueType::kString:
        return Text(&out->emplace<std::string_view>(), "the length");
      case ValueType::kArray:
        return Array(out);
      case ValueType::kBool: {
        int64_t value = 0;
        if (!Integer(type, &value)) return false;
        *out = value != 0;
        return true;
      }
      default:
        return Integer(type, &out->emplace<int64_t>());
    }
  }

  bool Array(MetadataValue* out) {
    ValueType type;
    if (!Type(&type, "the type of the elements")) return false;
    if (type == ValueType::kArray) return Fail("the value", where_, " is an array of arrays");
    uint64_t count = 0;
    if (!Count(&count, LeastBytes(type), "the number of elements")) return false;
    const auto fill = [&](auto& elements, auto read) {
      elements.resize(count);
      for (auto& element : elements) {
        if (!read(&element)) return false;
      }
      return true;
    };
    switch (type) {
      case ValueType::kF32:
        return fill(out->emplace<std::vector<double>>(),
                    [&](double* x) { return NumberAs<float>(x); });
      case ValueType::kF64:
        return fill(out->emplace<std::vector<double>>(),
                    [&](double* x) { return NumberAs<double>(x); });
      case ValueType::kString:
        return fill(out->emplace<std::vector<std::string_view>>(),
                    [&](std::string_view* x) { return Text(x, "the length of an element"); });
      default:
        return fill(out->emplace<std::vector<int64_t>>(),
                    [&](int64_t* x) { return Integer(type, x); });
    }
  }

  bool TensorInfo() {
    where_ = Cat(" of tensor ", result_.tensors.size());
    Tensor tensor;
    tensor.file = file_;
    if (!Text(&tensor.name, "the length of the name")) return false;
    where_ = Cat(" of tensor ", Quoted(tensor.name));
    if (!names_.insert(tensor.name).second) {
      return Fail("tensor ", Quoted(tensor.name), " is there twice");
    }
    uint32_t rank = 0, type = 0;
    if (!Number(&rank, "the number of axes")) return false;
    if (rank > kMaxRank) return Fail("tensor ", Quoted(tensor.name), " has ", rank, " axes");
    tensor.shape.resize(rank);
    int64_t elements = 1;
    for (size_t axis = rank; axis-- > 0;) {
      uint64_t extent = 0;
      if (!Number(&extent, "an extent")) return false;
      if (extent < 1 || extent > static_cast<uint64_t>(kMaxElements / elements)) {
        return Fail("tensor ", Quoted(tensor.name), " has an extent of ", extent);
      }
      tensor.shape[axis] = static_cast<int64_t>(extent);
      elements *= tensor.shape[axis];
    }
    if (!Number(&type, "the type")) return false;
    const TensorTypeInfo* info = FindTensorType(type);
    if (!info) {
      std::string known;
      for (const TensorTypeInfo& t : AllTensorTypes()) known += Cat(" ", t.name);
      return Fail("tensor ", Quoted(tensor.name), " is of type number ", type,
                  ", which tg does not read; it reads", known);
    }
    tensor.type = info->type;
    const int64_t row = rank == 0 ? 1 : tensor.shape.back();
    if (row % info->block_elements != 0) {
      return Fail("tensor ", Quoted(tensor.name), " has rows of ", row, " elements, but blocks of ",
                  info->name, " have ", info->block_elements);
    }
    uint64_t offset = 0;
    if (!Number(&offset, "the offset")) return false;
    offsets_.push_back(offset);
    sizes_.push_back(static_cast<uint64_t>(elements / info->block_elements * info->block_bytes));
    result_.tensors.push_back(std::move(tensor));
    where_.clear();
    return true;
  }

  bool PlaceTensors() {
    const uint64_t mask = static_cast<uint64_t>(alignment_) - 1;
    const uint64_t begin = (at_ + mask) & ~mask;
    if (result_.tensors.empty()) return true;
    for (size_t i = 0; i < result_.tensors.size(); ++i) {
      Tensor& t = result_.tensors[i];
      if (offsets_[i] & mask) {
        return Fail("tensor ", Quoted(t.name), " begins at ", offsets_[i],
                    ", which is no multiple of ", alignment_);
      }
      if (begin > bytes_.size() || offsets_[i] > bytes_.size() - begin ||
          sizes_[i] > bytes_.size() - begin - offsets_[i]) {
        return Fail("tensor ", Quoted(t.name), " takes ", sizes_[i], " bytes at ", offsets_[i],
                    " behind byte ", begin, ", beyond the file's ", bytes_.size(), " bytes");
      }
      t.offset = static_cast<int64_t>(begin + offsets_[i]);
      t.bytes = bytes_.substr(begin + offsets_[i], sizes_[i]);
    }
    return true;
  }

  const std::string_view bytes_;
  const std::string& path_;
  const int file_;
  size_t at_ = 0;
  std::string where_;  // for messages: " of key 'x'"
  uint64_t num_tensors_ = 0, num_values_ = 0;
  int64_t alignment_ = kDefaultAlignment;
  std::vector<uint64_t> offsets_, sizes_;  // by tensor
  std::set<std::string_view> keys_, names_;
  File result_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<File> ReadGgufFile(std::string_view bytes, const std::string& path, int file) {
  return Reader(bytes, path, file).Read();
}

bool IsGguf(std::string_view bytes) { return bytes.starts_with(kMagic); }

}  // namespace tg::gguf
