#include "passes/instrument/write_file.h"

#include <unistd.h>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace tg {
namespace {

absl::Status Failure(const std::string& path, std::error_code error) {
  return absl::UnavailableError("cannot write " + path + ": " + error.message());
}

// Writes to an open descriptor and closes it (not standard output).
absl::Status Write(int fd, std::string_view content, const std::string& path, bool close) {
  llvm::raw_fd_ostream out(fd, /*shouldClose=*/false, /*unbuffered=*/true);
  out.write(content.data(), content.size());
  std::error_code error = out.error();
  out.clear_error();
  if (close && ::close(fd) != 0 && !error) error = {errno, std::generic_category()};
  return error ? Failure(path, error) : absl::OkStatus();
}

}  // namespace

absl::Status WriteFile(const std::string& path, std::string_view content) {
  namespace fs = llvm::sys::fs;
  int fd = -1;
  fs::file_status old;
  const bool exists = !fs::status(path, old) && fs::exists(old);
  if (exists && !fs::is_regular_file(old)) {
    const auto disposition = fs::CD_OpenExisting;
    if (const std::error_code error = fs::openFileForWrite(path, fd, disposition)) {
      return Failure(path, error);
    }
    return Write(fd, content, path, /*close=*/true);
  }
  // A link stays a link: what it names is replaced.
  llvm::SmallString<256> real(path);
  if (exists) {
    if (const std::error_code error = fs::real_path(path, real)) return Failure(path, error);
    // A file that may not be written is not to be replaced either.
    if (const std::error_code error = fs::access(real, fs::AccessMode::Write)) {
      return Failure(path, error);
    }
  }
  llvm::SmallString<256> temporary;
  if (const std::error_code error = fs::createUniqueFile(real + ".%%%%%%%%.tmp", fd, temporary)) {
    return Failure(path, error);
  }
  absl::Status status = Write(fd, content, path, /*close=*/true);
  if (status.ok() && exists) {
    if (const std::error_code error = fs::setPermissions(temporary, old.permissions())) {
      status = Failure(path, error);
    }
  }
  if (status.ok()) {
    if (const std::error_code error = fs::rename(temporary, real)) status = Failure(path, error);
  }
  if (!status.ok()) fs::remove(temporary);
  return status;
}

absl::Status WriteStdout(std::string_view content) {
  return Write(STDOUT_FILENO, content, "standard output", /*close=*/false);
}

absl::Status MakeFolder(const std::string& path) {
  const std::error_code error = llvm::sys::fs::create_directories(path);
  return error ? Failure(path, error) : absl::OkStatus();
}

}  // namespace tg
