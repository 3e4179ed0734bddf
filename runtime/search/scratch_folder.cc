#include "runtime/search/scratch_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/status.h"

namespace tg::search {
namespace {

namespace fs = std::filesystem;

// Followed by the process's number.
constexpr char kPrefix[] = "tg-search-";

void RemoveStale(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    pid_t pid = 0;
    std::from_chars(name.data() + sizeof kPrefix - 1, name.data() + name.size(), pid);
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) stale.push_back(entry.path());
  }
  for (const fs::path& path : stale) fs::remove_all(path, error);
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Make() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return NotFound("no folder for temporary files: ", error.message());
  RemoveStale(folder);
  std::string path = (folder / Cat(kPrefix, ::getpid(), "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(Cat("cannot make ", path, ": ", std::strerror(errno)));
  }
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace tg::search
