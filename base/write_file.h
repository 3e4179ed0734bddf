// Writes a file atomically, so that readers never see a part of it.
#ifndef TG_BASE_WRITE_FILE_H_
#define TG_BASE_WRITE_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg {

// Writes the pieces in order to a new file in the same folder and renames it over `path`, so that a
// reader sees the old file or the complete new one. With several writers the last one wins. After
// an error, which names the path and the cause, the old file remains and the new one is removed;
// for signals see TemporaryFile. The file keeps its mode, and a link stays a link. A file that is
// not regular (/dev/null, a pipe) is written directly.
absl::Status WriteFile(const std::string& path, std::span<const std::string_view> pieces);
absl::Status WriteFile(const std::string& path, std::string_view content);

// Writes all to standard output and flushes.
absl::Status WriteStdout(std::string_view content);

// Creates the folder and its parents, if they are missing.
absl::Status MakeFolder(const std::string& path);

}  // namespace tg

#endif  // TG_BASE_WRITE_FILE_H_
