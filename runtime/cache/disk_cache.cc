#include "runtime/cache/disk_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/write_file.h"
#include "runtime/io/file.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

// An entry has a magic, the key's length, the value's length, the key, the value, and a checksum of
// all preceding bytes. Numbers have 8 bytes in this machine's order. On a machine with another
// order, the lengths or the checksum do not match, which is a miss.
constexpr std::string_view kCacheMagic = "tgcache1";
constexpr std::string_view kSuffix = ".tgcache";
constexpr size_t kOverhead = 8 + 8 + 8 + 8;
constexpr auto kStaleTemporary = std::chrono::hours(1);
constexpr uint64_t kScanFraction = 16;  // scans the folder after storing 1/16 of the bound

std::string Number(uint64_t value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

uint64_t TakeNumber(std::string_view& bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

enum class Found { kValue, kOtherKey, kDamaged };

Found Decode(std::string_view bytes, std::string_view key, std::string_view& value) {
  if (bytes.size() < kOverhead || bytes.substr(0, kCacheMagic.size()) != kCacheMagic)
    return Found::kDamaged;
  std::string_view tail = bytes.substr(bytes.size() - 8);
  if (TakeNumber(tail) != Fnv64(bytes.substr(0, bytes.size() - 8))) return Found::kDamaged;
  std::string_view body = bytes.substr(kCacheMagic.size(), bytes.size() - kCacheMagic.size() - 8);
  const uint64_t key_size = TakeNumber(body), value_size = TakeNumber(body);
  if (key_size > body.size() || value_size != body.size() - key_size) return Found::kDamaged;
  if (body.substr(0, key_size) != key) return Found::kOtherKey;
  value = body.substr(key_size);
  return Found::kValue;
}

// Makes the folder and its parents, accessible only to the user.
absl::Status MakeDirectories(const std::string& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return absl::OkStatus();
  const fs::path parent = fs::path(directory).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return absl::UnavailableError(
      Cat("cannot make the folder ", directory, ": ", std::strerror(errno)));
}

}  // namespace

uint64_t Checksum(std::string_view bytes) { return Fnv64(bytes); }

std::string DefaultCacheDirectory() {
  if (std::string directory = Environment("TG_CACHE_DIR"); !directory.empty()) return directory;
  if (std::string base = Environment("XDG_CACHE_HOME"); !base.empty()) return base + "/tg";
  if (std::string home = Environment("HOME"); !home.empty()) return home + "/.cache/tg";
  return "";
}

DiskCache::DiskCache(std::string directory, uint64_t bound, Warn warn)
    : directory_(std::move(directory)),
      bound_(bound),
      warn_(std::move(warn)),
      stored_since_scan_(bound) {}  // so that the first store scans the folder

std::string DiskCache::PathOf(std::string_view key) const {
  std::array<char, 33> name;
  // Two hashes with different bases give 128 bits. A collision only costs a miss.
  std::snprintf(name.data(), name.size(), "%016llx%016llx",
                static_cast<unsigned long long>(Fnv64(key)),
                static_cast<unsigned long long>(Fnv64(key, ~kFnv64Basis)));
  return Cat(directory_, "/", std::string_view(name.data()), kSuffix);
}

std::optional<std::string> DiskCache::Load(std::string_view key) {
  if (directory_.empty()) return std::nullopt;
  const std::string path = PathOf(key);
  absl::StatusOr<std::string> bytes = ReadFile(path);
  std::string_view value;
  Found found = Found::kOtherKey;
  if (bytes.ok()) {
    found = Decode(*bytes, key, value);
  } else if (bytes.status().code() != absl::StatusCode::kNotFound) {
    WarnOnce(bytes.status());
  }
  if (found == Found::kDamaged) ::unlink(path.c_str());
  if (found == Found::kValue) {
    std::error_code ignored;  // hits work even in a read-only folder
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++(found == Found::kValue ? stats_.hits : stats_.misses);
  if (found == Found::kDamaged) ++stats_.damaged;
  if (found != Found::kValue) return std::nullopt;
  return std::string(value);
}

void DiskCache::Store(std::string_view key, std::string_view value) {
  const uint64_t size = kOverhead + key.size() + value.size();
  if (directory_.empty() || size > bound_) return;
  if (absl::Status made = MakeDirectories(directory_); !made.ok()) return WarnOnce(made);
  std::string head = Cat(kCacheMagic, Number(key.size()), Number(value.size()), key);
  const std::string checksum = Number(Fnv64(value, Fnv64(head)));
  const absl::Status written =
      WriteFile(PathOf(key), std::array<std::string_view, 3>{head, value, checksum});
  if (!written.ok()) return WarnOnce(written);
  bool scan = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.stores;
    stored_since_scan_ += size;
    scan = stored_since_scan_ > bound_ / kScanFraction;
    if (scan) stored_since_scan_ = 0;
  }
  if (scan) Evict();
}

void DiskCache::Remove(std::string_view key) {
  if (!directory_.empty()) ::unlink(PathOf(key).c_str());
}

DiskCacheStats DiskCache::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

void DiskCache::WarnOnce(const absl::Status& status) {
  if (warned_.exchange(true)) return;
  const std::string text = Cat("tg: programs are not cached: ", std::string(status.message()));
  if (warn_ != nullptr) return warn_(text);
  std::fprintf(stderr, "%s\n", text.c_str());
}

// Shrinks the folder to its bound minus the fraction 1/kScanFraction, which may be stored before
// the next scan. Keeps files with foreign names. Another process may remove a file at the same
// time.
void DiskCache::Evict() {
  struct Entry {
    fs::file_time_type time;
    uint64_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0, evicted = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    const std::string name = it->path().filename().string();
    const fs::file_time_type time = it->last_write_time(gone);
    if (gone) continue;
    if (name.find(Cat(kSuffix, ".tmp.")) != std::string::npos) {
      if (now - time > kStaleTemporary) fs::remove(it->path(), gone);  // its process died
      continue;
    }
    if (!it->path().has_extension() || it->path().extension().string() != kSuffix) continue;
    const uint64_t size = it->file_size(gone);
    if (gone) continue;
    entries.push_back({time, size, it->path()});
    total += size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.path < b.path;
  });
  for (const Entry& entry : entries) {
    if (total <= bound_ - bound_ / kScanFraction) break;
    std::error_code gone;
    if (fs::remove(entry.path, gone)) ++evicted;
    total -= entry.size;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  stats_.evicted += evicted;
}

}  // namespace tg::runtime
