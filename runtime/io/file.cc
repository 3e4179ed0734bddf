#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/status.h"

namespace tg::runtime {
namespace {

absl::Status FileError(std::string_view verb, const std::string& path, int error) {
  const std::string message = Cat("cannot ", verb, " ", path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    case EISDIR:
      return absl::InvalidArgumentError(message);
    default:
      return absl::UnknownError(message);
  }
}

// Closes the descriptor at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  int Close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

absl::StatusOr<size_t> RegularFileSize(int fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return FileError("inspect", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", path, EISDIR);
  return static_cast<size_t>(info.st_size);
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

// Writes all and closes.
absl::Status WritePieces(Descriptor& fd, std::span<const std::string_view> pieces,
                         const std::string& path) {
  for (std::string_view piece : pieces) TG_RETURN_IF_ERROR(WriteAll(fd.get(), piece, path));
  return fd.Close() == 0 ? absl::OkStatus() : FileError("write", path, errno);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return FileError("open", path, errno);
  TG_ASSIGN_OR_RETURN(const size_t size, RegularFileSize(fd.get(), path));
  // The size is a hint (it is 0 for pipes and /proc); the end of the file is where read() says so.
  std::string out;
  size_t used = 0;
  out.resize(size + 1);
  while (true) {
    if (used == out.size()) out.resize(out.size() * 2);
    const ssize_t n = ::read(fd.get(), out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("read", path, errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  out.resize(used);
  return out;
}

absl::Status WriteFileAtomically(const std::string& path,
                                 std::span<const std::string_view> pieces) {
  static std::atomic<uint64_t> counter{0};
  // What is no regular file (/dev/null, a pipe) is not replaced but written to.
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) return FileError("write", path, errno);
    return WritePieces(fd, pieces, path);
  }
  // A file that may not be written is not to be replaced either; a link stays a link. (Meanwhile
  // another process can have removed it.)
  std::string target = path;
  if (exists) {
    if (::access(path.c_str(), W_OK) != 0 && errno != ENOENT) {
      return FileError("write", path, errno);
    }
    if (char* real = ::realpath(path.c_str(), nullptr)) {
      target = real;
      std::free(real);
    }
  }
  // The process is asked for each time: it changes in a forked child.
  std::string temporary;
  int opened = -1;
  do {  // A file of that name can be left from an older process with the same number.
    temporary = Cat(target, ".tmp.", ::getpid(), ".", counter.fetch_add(1));
    opened = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  } while (opened < 0 && errno == EEXIST);
  if (opened < 0) return FileError("write", path, errno);
  Descriptor fd(opened);
  absl::Status status = WritePieces(fd, pieces, path);
  if (status.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    status = FileError("replace", path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return FileError("open", path, errno);
  TG_ASSIGN_OR_RETURN(const size_t size, RegularFileSize(fd.get(), path));
  MappedFile file;
  if (size == 0) return file;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return FileError("map", path, errno);
  file.data_ = data;
  file.size_ = size;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace tg::runtime
