// A bounded folder of byte strings by key, shared by any number of processes.
//
// An entry is one file, named by a hash of its key, that holds the whole key, the value and a
// checksum. A lookup compares the whole key, so a hash that two keys share costs a miss, never a
// wrong value; a file that is torn, of another format or damaged is a miss and is removed. Files
// appear by an atomic rename, so readers and writers need no lock. When the folder grows past its
// bound, the entries longest unused (by modification time, which a hit renews) go. A folder that
// cannot be made, written or read only loses caching: one warning, no error. Every method may be
// called from any thread.
#ifndef TG_RUNTIME_OPENCL_DISK_CACHE_H_
#define TG_RUNTIME_OPENCL_DISK_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg::runtime {

// $TG_CACHE_DIR, else $XDG_CACHE_HOME/tg, else $HOME/.cache/tg; empty where none of them is set.
std::string DefaultCacheDirectory();

struct DiskCacheStats {
  uint64_t hits = 0, misses = 0, stores = 0;
  uint64_t damaged = 0;  // entries found torn or damaged, and removed
  uint64_t evicted = 0;
};

class DiskCache {
 public:
  using Warn = std::function<void(std::string_view)>;

  static constexpr uint64_t kDefaultBound = uint64_t{512} << 20;

  // `bound` is in bytes, of all entries with their keys. `warn` (standard error where it is null)
  // is called at most once. An empty folder name means no caching.
  explicit DiskCache(std::string directory, uint64_t bound = kDefaultBound, Warn warn = nullptr);

  // The value stored under exactly this key.
  std::optional<std::string> Load(std::string_view key);

  // Keeps the value, and evicts others if needed. A value larger than the bound is not kept.
  void Store(std::string_view key, std::string_view value);

  // Forgets the entry, as for a value that turned out to be unusable.
  void Remove(std::string_view key);

  // The file that holds (or would hold) the key's entry.
  std::string PathOf(std::string_view key) const;

  const std::string& directory() const { return directory_; }
  DiskCacheStats stats() const;

 private:
  void WarnOnce(const absl::Status& status);
  void Evict();

  const std::string directory_;
  const uint64_t bound_;
  const Warn warn_;
  std::atomic<bool> warned_{false};
  mutable std::mutex mutex_;  // of stats_ and stored_since_scan_
  DiskCacheStats stats_;
  uint64_t stored_since_scan_;  // bytes
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DISK_CACHE_H_
