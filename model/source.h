// Source: a model as a user has it, a file or bytes.
#ifndef TG_MODEL_SOURCE_H_
#define TG_MODEL_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/io/file.h"

namespace tg::model {

// Bytes as a file without a name, which exists as long as this object.
class MemoryFile {
 public:
  static absl::StatusOr<std::shared_ptr<MemoryFile>> Create(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit MemoryFile(int descriptor);
  const int descriptor_;
  const std::string path_;
};

struct Source {
  static absl::StatusOr<Source> File(const std::string& path);
  // Copies the bytes. `path` is for messages, and in its folder are other files that the model
  // names; "" if there is none.
  static absl::StatusOr<Source> Bytes(std::string_view bytes, const std::string& path);

  std::string_view bytes() const { return mapped->bytes(); }
  // The last part of the path.
  std::string file_name() const;

  std::string path;                    // for messages, and for files that the model names
  std::string file;                    // where the bytes are: `path`, or that of `memory`
  std::shared_ptr<MemoryFile> memory;  // null: `file` is the user's. Outlives sessions
  std::shared_ptr<const runtime::MappedFile> mapped;
};

}  // namespace tg::model

#endif  // TG_MODEL_SOURCE_H_
