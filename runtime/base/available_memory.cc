#include "runtime/base/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace tg::runtime {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The number behind `key` in a file of words; the first number of the file for an empty key.
std::optional<uint64_t> NumberIn(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  while (!key.empty() && file >> word && word != key) {
  }
  uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number of bytes that a control group may still allocate: its limit minus the memory of its
// processes. The file cache does not count, since it is given up when memory is short.
uint64_t LeftInGroup(const std::string& folder, const char* limit_file, std::string_view used_key) {
  const std::optional<uint64_t> limit = NumberIn(folder + limit_file, "");
  if (!limit) return kUnlimited;
  const uint64_t used = NumberIn(folder + "memory.stat", used_key).value_or(0);
  return *limit - std::min(used, *limit);
}

}  // namespace

uint64_t AvailableMemoryIn(const std::string& root) {
  uint64_t bytes = kUnlimited;
  const std::optional<uint64_t> kilobytes = NumberIn(root + "/proc/meminfo", "MemAvailable:");
  if (kilobytes && *kilobytes <= kUnlimited / 1024) bytes = *kilobytes * 1024;
  const std::string groups = root + "/sys/fs/cgroup/";
  bytes = std::min(bytes, LeftInGroup(groups, "memory.max", "anon"));
  bytes = std::min(bytes, LeftInGroup(groups + "memory/", "memory.limit_in_bytes", "total_rss"));
  return bytes - bytes / 16;
}

uint64_t AvailableMemory() {
  uint64_t bytes = AvailableMemoryIn("");
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<uint64_t>(bytes, limit.rlim_cur);
  }
  return bytes;
}

}  // namespace tg::runtime
