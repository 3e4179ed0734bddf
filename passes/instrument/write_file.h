// Writing a whole file so that nobody ever sees half of it.
#ifndef TG_PASSES_INSTRUMENT_WRITE_FILE_H_
#define TG_PASSES_INSTRUMENT_WRITE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg {

// Replaces the file by one with this content: written beside it under another name, then renamed,
// so that after an error (which names the path and the cause) the old file is still there. What is
// no regular file (/dev/null, a pipe) is written to directly.
absl::Status WriteFile(const std::string& path, std::string_view content);

// Writes all to standard output and flushes.
absl::Status WriteStdout(std::string_view content);

// Makes the folder and those above it, where they are missing.
absl::Status MakeFolder(const std::string& path);

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_WRITE_FILE_H_
