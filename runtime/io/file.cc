#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status.h"

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

}  // namespace

bool BeginsWith(const std::string& path, std::string_view bytes) {
  // A pipe can be read only once.
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char start[64];
  if (file.get() < 0 || bytes.size() > sizeof start) return false;
  const ssize_t n = ::read(file.get(), start, bytes.size());
  return n == static_cast<ssize_t>(bytes.size()) &&
         std::memcmp(start, bytes.data(), bytes.size()) == 0;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return FileError("open", path, errno);
  TG_ASSIGN_OR_RETURN(const size_t size, RegularFileSize(fd.get(), path));
  // The size is only a hint (it is 0 for pipes and /proc); the file ends where read() returns 0.
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

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // To open a pipe would wait for its writer.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return FileError("open", path, errno);
  TG_ASSIGN_OR_RETURN(const size_t size, RegularFileSize(fd.get(), path));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FileError("inspect", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(Cat("cannot map ", path, ": it is not a regular file"));
  }
  MappedFile file;
  file.modified_ = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (size == 0) return file;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return FileError("map", path, errno);
  file.data_ = data;
  file.size_ = size;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      modified_(other.modified_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(modified_, other.modified_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace tg::runtime
