// Writing a whole file so that nobody ever sees half of it.
#ifndef TG_PASSES_INSTRUMENT_WRITE_FILE_H_
#define TG_PASSES_INSTRUMENT_WRITE_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg {

// Writes the pieces one after the other to a new file in the same folder and renames it over
// `path`, so that a reader sees the old file or the whole new one; with several writers the last
// one wins. After an error, which names the path and the cause, the old file is still there and the
// new one is gone; for signals see TemporaryFile. The file keeps its mode, and a link stays a link.
// What is no regular file (/dev/null, a pipe) is written to directly.
absl::Status WriteFile(const std::string& path, std::span<const std::string_view> pieces);
absl::Status WriteFile(const std::string& path, std::string_view content);

// Writes all to standard output and flushes.
absl::Status WriteStdout(std::string_view content);

// Flushes llvm::outs(). An error of it, also of an earlier write, is returned once: left alone it
// would abort the process at its end.
absl::Status FlushStdout();

// Makes the folder and those above it, where they are missing.
absl::Status MakeFolder(const std::string& path);

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_WRITE_FILE_H_
