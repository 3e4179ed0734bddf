// Reads GGUF files, versions 2 and 3: metadata, and the positions of tensors, as plain data.
//
// Names, strings and tensors are views into the file's bytes, which must outlive the results. Every
// length, count and offset is checked against the file, so that a view is always inside it.
#ifndef TG_FRONTEND_GGUF_GGUF_H_
#define TG_FRONTEND_GGUF_GGUF_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::gguf {

enum class TensorType : uint32_t {
#define TYPE(number, name, elements, bytes) k##name = number,
#include "frontend/gguf/tensor_types.def"
#undef TYPE
};

struct TensorTypeInfo {
  TensorType type;
  std::string_view name;
  int64_t block_elements, block_bytes;
};
// Null for a type that tg does not read.
const TensorTypeInfo* FindTensorType(uint32_t number);
const TensorTypeInfo& InfoOf(TensorType type);
std::span<const TensorTypeInfo> AllTensorTypes();

// Integers and booleans are int64_t (a larger u64 is an error), floats are double. The elements of
// an array have one kind.
using MetadataValue = std::variant<int64_t, double, bool, std::string_view, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string_view>>;

struct Tensor {
  std::string_view name;
  TensorType type = TensorType::kF32;
  std::vector<int64_t> shape;  // row-major: the file's order reversed; the last axis is contiguous
  int file = 0;                // number of the split file
  int64_t offset = 0;          // bytes from the beginning of that file
  std::string_view bytes;
};

// The metadata and the tensors of a model, merged over its split files.
struct Model {
  std::vector<std::string> paths;  // of the split files, in order
  std::map<std::string_view, MetadataValue> metadata;
  std::map<std::string_view, Tensor> tensors;

  const Tensor* FindTensor(std::string_view name) const;
  // The value of this key. Null if the file lacks it or has a value of another kind. An integer is
  // not accepted as a float; an array of bools is an array of integers.
  const int64_t* Int(std::string_view key) const { return As<int64_t>(key); }
  const double* Float(std::string_view key) const { return As<double>(key); }
  const bool* Bool(std::string_view key) const { return As<bool>(key); }
  const std::string_view* String(std::string_view key) const { return As<std::string_view>(key); }
  const std::vector<int64_t>* Ints(std::string_view key) const {
    return As<std::vector<int64_t>>(key);
  }
  const std::vector<double>* Floats(std::string_view key) const {
    return As<std::vector<double>>(key);
  }
  const std::vector<std::string_view>* Strings(std::string_view key) const {
    return As<std::vector<std::string_view>>(key);
  }

 private:
  template <typename T>
  const T* As(std::string_view key) const {
    const auto found = metadata.find(key);
    return found == metadata.end() ? nullptr : std::get_if<T>(&found->second);
  }
};

// Whether the bytes are a GGUF file, by their beginning.
bool IsGguf(std::string_view bytes);

// Gives the bytes of a file, which stay valid for as long as the model is used.
using FileOpener = std::function<absl::StatusOr<std::string_view>(const std::string& path)>;

// Reads the file and, if it is the first of several ("-00001-of-00003.gguf" at the end of its
// name), the others too. Errors are InvalidArgument with one line that has the path, and the key,
// tensor or byte: a damaged file, an unknown version, a tensor type that tg does not read, a
// repeated name, or a part of a split file that is not the first.
absl::StatusOr<Model> ReadModel(const std::string& path, const FileOpener& open);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_GGUF_H_
