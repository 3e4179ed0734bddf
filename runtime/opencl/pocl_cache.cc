#include "runtime/opencl/pocl_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/status.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

// The space that is required, in bytes: about what the kernels of a small network take.
constexpr off_t kRequiredSpace = off_t{8} << 20;
constexpr std::string_view kPrefix = "tg-pocl-";
// Held locked by the process that uses the folder.
constexpr char kLock[] = ".lock";
// A folder without a lock may be one that another process is making.
constexpr auto kUnlockedAge = std::chrono::hours(1);

struct State {
  std::string own, temporary;  // PoCL's folder, and the one that replaces it
  std::string cause;           // empty: PoCL uses its own
  pid_t process = -1;
};
State& state = *new State();

absl::Status Cause(int error) { return absl::UnavailableError(std::strerror(error)); }

// Opens a file in a folder that exists. It has no name, so that nothing is left of it.
int OpenNameless(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // Some file systems need a name.
  std::string name = folder + "/" + std::string(kPrefix) + "XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

void RemoveAbandonedFolders(const fs::path& base) {
  std::error_code error;
  std::vector<fs::path> abandoned;
  for (fs::directory_iterator it(base, error), end; !error && it != end; it.increment(error)) {
    struct stat info = {};
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    if (::lstat(it->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (info.st_uid != ::geteuid()) continue;
    const int lock = ::open((it->path() / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    std::error_code gone;
    const auto age = fs::file_time_type::clock::now() - it->last_write_time(gone);
    const bool is_abandoned =
        lock < 0 ? !gone && age > kUnlockedAge : ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (is_abandoned) abandoned.push_back(it->path());
    if (lock >= 0) ::close(lock);
  }
  for (const fs::path& folder : abandoned) fs::remove_all(folder, error);
}

// Returns an empty text if no folder can be made there.
std::string MakeTemporaryFolder(const std::string& base) {
  if (!CheckKernelFolder(base).ok()) return "";
  RemoveAbandonedFolders(base);
  std::string folder = base + "/" + std::string(kPrefix) + "XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return "";
  const int lock =
      ::open((folder + "/" + kLock).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (lock >= 0) ::flock(lock, LOCK_EX | LOCK_NB);  // until the process ends
  return folder;
}

// At the end of the process. A child that was forked must not remove its parent's folder.
void RemoveTemporaryFolder() {
  std::error_code ignored;
  if (::getpid() == state.process) fs::remove_all(state.temporary, ignored);
}

void ReplaceUnusableFolder() {
  // PoCL aborts if the variable is empty.
  const char* variable = std::getenv("POCL_CACHE_DIR");
  if (variable != nullptr && *variable == '\0') ::unsetenv("POCL_CACHE_DIR");
  state.own = PoclCacheDirectory();
  const absl::Status usable = CheckKernelFolder(state.own);
  if (usable.ok()) return;
  state.cause = std::string(usable.message());
  const char* preferred = std::getenv("TMPDIR");
  for (const char* base : {preferred, "/tmp", "/var/tmp", "/dev/shm"}) {
    if (base == nullptr || *base == '\0') continue;
    state.temporary = MakeTemporaryFolder(base);
    if (state.temporary.empty()) continue;
    state.process = ::getpid();
    ::setenv("POCL_CACHE_DIR", state.temporary.c_str(), /*overwrite=*/1);
    std::atexit(&RemoveTemporaryFolder);
    return;
  }
}

}  // namespace

std::string PoclCacheDirectory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (const auto folder = variable("POCL_CACHE_DIR"); !folder.empty()) return std::string(folder);
  if (const auto base = variable("XDG_CACHE_HOME"); !base.empty()) return Cat(base, "/pocl/kcache");
  if (std::getenv("HOME") != nullptr) return Cat(variable("HOME"), "/.cache/pocl/kcache");
  return "/tmp/pocl/kcache";
}

absl::Status CheckKernelFolder(const std::string& folder) {
  // A folder that is missing is made in its nearest parent that exists.
  fs::path place(folder);
  struct stat info = {};
  while (::stat(place.c_str(), &info) != 0) {
    if (errno != ENOENT) return Cause(errno);
    const fs::path parent = place.parent_path();
    place = parent.empty() ? fs::path(".") : parent;
  }
  if (!S_ISDIR(info.st_mode)) return Cause(ENOTDIR);
  struct statvfs system = {};
  if (::statvfs(place.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return absl::UnavailableError("mounted with the option noexec");
  }
  const int file = OpenNameless(place.string());
  if (file < 0) return Cause(errno);
  const int error = ::posix_fallocate(file, 0, kRequiredSpace);
  ::close(file);
  return error == 0 ? absl::OkStatus() : Cause(error);
}

void PreparePoclCache() {
  static const bool done = (ReplaceUnusableFolder(), true);
  static_cast<void>(done);
}

bool PoclCacheIsTemporary() { return !state.temporary.empty(); }

std::string PoclCacheWarning() {
  if (state.cause.empty()) return "";
  const std::string fault = Cat("PoCL cannot use its cache ", state.own, " (", state.cause, ")");
  if (!PoclCacheIsTemporary()) return Cat(fault, ", and there is no temporary folder for it");
  return Cat(fault, "; it compiles into ", state.temporary, ", which is removed at the end");
}

}  // namespace tg::runtime
