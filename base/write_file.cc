#include "base/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/temporary_file.h"

namespace tg {
namespace {

absl::Status Failure(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, "cannot write " + path);
}

// Writes all pieces to `fd`. On failure, returns false and errno is set.
bool WriteAll(int fd, std::span<const std::string_view> pieces) {
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const ssize_t n = ::write(fd, piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      piece.remove_prefix(static_cast<size_t>(n));
    }
  }
  return true;
}

// Writes directly to an existing file that is not a regular one, such as a pipe.
absl::Status WriteInto(const std::string& path, std::span<const std::string_view> pieces) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return Failure(path, errno);
  const int error = WriteAll(fd, pieces) ? 0 : errno;
  if (::close(fd) != 0 && error == 0) return Failure(path, errno);
  return error == 0 ? absl::OkStatus() : Failure(path, error);
}

}  // namespace

absl::Status WriteFile(const std::string& path, std::span<const std::string_view> pieces) {
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return WriteInto(path, pieces);
  std::string target = path;
  std::optional<mode_t> mode;
  // Another process may remove the file meanwhile, so that ENOENT below is no error.
  if (exists) {
    // A file without permission to write must not be replaced either, as a rename would do.
    if (::access(path.c_str(), W_OK) != 0 && errno != ENOENT) return Failure(path, errno);
    // Replaces the file that a symbolic link names, not the link.
    if (char* real = ::realpath(path.c_str(), nullptr)) {
      target = real;
      std::free(real);
    }
    mode = info.st_mode & 07777;
  }
  TemporaryFile file(std::move(target), mode);
  if (file.fd() < 0 || !WriteAll(file.fd(), pieces) || !file.Commit()) return Failure(path, errno);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::string_view content) {
  return WriteFile(path, std::span(&content, 1));
}

absl::Status WriteStdout(std::string_view content) {
  if (WriteAll(STDOUT_FILENO, std::span(&content, 1))) return absl::OkStatus();
  return Failure("standard output", errno);
}

absl::Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return absl::OkStatus();
  if (errno == ENOENT) {
    const size_t slash = path.find_last_of('/', path.find_last_not_of('/'));
    if (slash == std::string::npos || slash == 0) return Failure(path, ENOENT);
    if (const absl::Status made = MakeFolder(path.substr(0, slash)); !made.ok()) return made;
    if (::mkdir(path.c_str(), 0777) == 0) return absl::OkStatus();
  }
  const int error = errno;
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if (exists) return absl::OkStatus();
  return Failure(path, error == EEXIST ? ENOTDIR : error);
}

}  // namespace tg
