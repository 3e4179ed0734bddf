// Writes GGUF files for tests, well-formed or not.
#ifndef TG_FRONTEND_GGUF_TESTING_FILE_WRITER_H_
#define TG_FRONTEND_GGUF_TESTING_FILE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gguf/gguf.h"

namespace tg::gguf {

class FileWriter {
 public:
  template <typename T>
  static std::string Bytes(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static std::string Text(std::string_view text) {
    return Bytes(uint64_t{text.size()}) + std::string(text);
  }

  // A value whose bytes, behind the number of its type, are given.
  FileWriter& Value(std::string_view key, uint32_t type, std::string_view bytes) {
    values_ += Text(key) + Bytes(type) + std::string(bytes);
    ++num_values_;
    return *this;
  }
  FileWriter& U32(std::string_view key, uint32_t v) { return Value(key, 4, Bytes(v)); }
  FileWriter& F32(std::string_view key, float v) { return Value(key, 6, Bytes(v)); }
  FileWriter& Bool(std::string_view key, bool v) { return Value(key, 7, Bytes(v)); }
  FileWriter& String(std::string_view key, std::string_view v) { return Value(key, 8, Text(v)); }
  FileWriter& Strings(std::string_view key, const std::vector<std::string>& elements) {
    std::string bytes = Bytes(uint32_t{8}) + Bytes(uint64_t{elements.size()});
    for (const std::string& e : elements) bytes += Text(e);
    return Value(key, 9, bytes);
  }

  // `shape` is row-major. The data is placed behind that of the tensors before.
  FileWriter& AddTensor(std::string_view name, uint32_t type, const std::vector<uint64_t>& shape,
                        std::string_view data) {
    data_.resize((data_.size() + alignment_ - 1) / alignment_ * alignment_);
    AddTensorInfo(name, type, shape, data_.size());
    data_ += data;
    return *this;
  }
  FileWriter& AddTensorInfo(std::string_view name, uint32_t type,
                            const std::vector<uint64_t>& shape, uint64_t offset) {
    tensors_ += Text(name) + Bytes(static_cast<uint32_t>(shape.size()));
    for (size_t i = shape.size(); i-- > 0;) tensors_ += Bytes(shape[i]);
    tensors_ += Bytes(type) + Bytes(offset);
    ++num_tensors_;
    return *this;
  }
  FileWriter& Alignment(uint32_t alignment) {
    alignment_ = alignment;
    return U32("general.alignment", alignment);
  }

  std::string Finish(uint32_t version = 3) const {
    std::string file =
        "GGUF" + Bytes(version) + Bytes(num_tensors_) + Bytes(num_values_) + values_ + tensors_;
    file.resize((file.size() + alignment_ - 1) / alignment_ * alignment_);
    return file + data_;
  }

 private:
  std::string values_, tensors_, data_;
  uint64_t num_values_ = 0, num_tensors_ = 0;
  size_t alignment_ = 32;
};

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_TESTING_FILE_WRITER_H_
