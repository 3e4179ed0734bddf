// A bounded folder of byte strings by key, shared by any number of processes.
//
// An entry is one file, named by a hash of its key. It contains the whole key, the value and a
// checksum. A lookup compares the whole key, so a hash collision costs a miss and never returns a
// wrong value. A file that is truncated, damaged or of another format is a miss and is removed.
// Files appear by an atomic rename, so readers and writers need no lock. When the folder exceeds
// its bound, the least recently used entries are evicted (by modification time, which a hit
// renews). If the folder cannot be made, written or read, caching is lost with one warning and no
// error. Every method may be called from any thread.
#ifndef TG_RUNTIME_CACHE_DISK_CACHE_H_
#define TG_RUNTIME_CACHE_DISK_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tg::runtime {

// Returns $TG_CACHE_DIR, else $XDG_CACHE_HOME/tg, else $HOME/.cache/tg; empty if none of them is
// set.
std::string DefaultCacheDirectory();

// FNV-1a, 64 bits: detects damage, not forgery.
uint64_t Checksum(std::string_view bytes);

struct DiskCacheStats {
  uint64_t hits = 0, misses = 0, stores = 0;
  uint64_t damaged = 0;  // truncated or damaged entries that were removed
  uint64_t evicted = 0;
};

class DiskCache {
 public:
  using Warn = std::function<void(std::string_view)>;

  static constexpr uint64_t kDefaultBound = uint64_t{512} << 20;

  // `bound` is a limit in bytes for all entries with their keys. `warn` (default: write to standard
  // error) is called for the first failed read or write. An empty folder name disables caching.
  explicit DiskCache(std::string directory, uint64_t bound = kDefaultBound, Warn warn = nullptr);

  // Returns the value stored under exactly this key.
  std::optional<std::string> Load(std::string_view key);

  // Stores the value and evicts others if needed. A value larger than the bound is not stored.
  void Store(std::string_view key, std::string_view value);

  // Removes the entry, for example because its value is unusable.
  void Remove(std::string_view key);

  // Returns the path of the file for the key's entry, whether or not it exists.
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
  mutable std::mutex mutex_;  // guards stats_ and stored_since_scan_
  DiskCacheStats stats_;
  uint64_t stored_since_scan_;  // bytes
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_CACHE_DISK_CACHE_H_
