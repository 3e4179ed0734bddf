// Reads files as bytes, whole or mapped. Errors name the path and the operating system's reason.
// base/write_file.h writes files.
#ifndef TG_RUNTIME_IO_FILE_H_
#define TG_RUNTIME_IO_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::runtime {

// Returns the contents of the file. NotFound if it does not exist; InvalidArgument for a directory.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Whether the file is there and begins with these bytes, of which there are at most 64.
bool BeginsWith(const std::string& path, std::string_view bytes);

// A read-only private mapping of a whole file. An empty file maps to empty bytes. The file must not
// be truncated while it is mapped (touching a vanished page raises SIGBUS).
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }
  // When it was last written, in nanoseconds since 1970.
  int64_t modified() const { return modified_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  int64_t modified_ = 0;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_FILE_H_
