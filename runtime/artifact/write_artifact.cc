#include "runtime/artifact/write_artifact.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/temporary_file.h"
#include "runtime/artifact/format.h"

namespace tg::artifact {
namespace {

// Writes a file from its beginning to its end.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  // Returns false and sets errno on failure.
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      at_ += static_cast<uint64_t>(n);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  bool AlignTo(uint64_t alignment) {
    static constexpr char kZeros[kPageBytes] = {};
    return Write({kZeros, AlignedTo(at_, alignment) - at_});
  }
  uint64_t at() const { return at_; }

 private:
  const int fd_;
  uint64_t at_ = 0;
};

}  // namespace

absl::Status WriteArtifact(const std::string& path, Artifact artifact, const ReadContents& read) {
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) return InvalidArgument(path, " is no regular file");
  TemporaryFile file(path, exists ? std::optional<mode_t>(info.st_mode & 07777) : std::nullopt);
  const auto failure = [&] { return absl::ErrnoToStatus(errno, "cannot write " + path); };
  if (file.fd() < 0) return failure();
  Output out(file.fd());
  Header header = {};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.version = kVersion;
  const auto head = [&] {
    return std::string_view(reinterpret_cast<const char*>(&header), sizeof header);
  };
  if (!out.Write(head()) || !out.AlignTo(kPageBytes)) return failure();
  header.weights_offset = out.at();
  for (Contents& c : artifact.contents) {
    TG_ASSIGN_OR_RETURN(const std::span<const std::byte> span, read(c.buffer));
    const std::string_view bytes(reinterpret_cast<const char*>(span.data()), span.size());
    c.bytes = bytes.size();
    c.hash = Hash(bytes);
    if (c.file > 0) continue;
    if (!out.AlignTo(kLineBytes)) return failure();
    c.offset = out.at();
    if (!out.Write(bytes)) return failure();
  }
  header.weights_bytes = out.at() - header.weights_offset;
  if (!out.AlignTo(kLineBytes)) return failure();
  header.plan_offset = out.at();
  const std::string plan = EncodePlan(std::move(artifact));
  header.plan_bytes = plan.size();
  header.plan_hash = Hash(plan);
  if (!out.Write(plan)) return failure();
  header.file_bytes = out.at();
  header.header_hash = HeaderHash(header);
  // On disk before it has its name: a file cut off by a loss of power is not taken for a whole one.
  if (::pwrite(file.fd(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      ::fdatasync(file.fd()) != 0 || !file.Commit()) {
    return failure();
  }
  return absl::OkStatus();
}

}  // namespace tg::artifact
