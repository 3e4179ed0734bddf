// Files as bytes: read whole, map, and replace atomically. Errors name the path and the reason of
// the operating system.
#ifndef TG_RUNTIME_IO_FILE_H_
#define TG_RUNTIME_IO_FILE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::runtime {

// The whole file. NotFound where there is none; InvalidArgument for a directory.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes the pieces one after the other to a new file beside `path` and renames it over `path`, so
// that a reader sees the old file or the whole new one, never a part; with several writers the last
// one wins. The new file's name is `path`.tmp.<process>.<number>. What is no regular file
// (/dev/null, a pipe) is written to directly, and a link stays a link.
absl::Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces);

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

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_FILE_H_
