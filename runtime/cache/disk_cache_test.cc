#include "runtime/cache/disk_cache.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "passes/instrument/write_file.h"
#include "runtime/io/file.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

// An empty folder for the duration of the test.
class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    directory_ = Cat(testing::TempDir(), "/disk_cache_test.", ::getpid(), ".",
                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
  }
  ~DiskCacheTest() override { fs::remove_all(directory_); }

  static absl::Status Overwrite(const std::string& path, std::string_view bytes) {
    return instrument::WriteFile(path, bytes);
  }

  size_t Files() const {
    size_t n = 0;
    for (const auto& unused : fs::directory_iterator(directory_)) n += unused.exists();
    return n;
  }

  std::string directory_;
};

std::string RandomBytes(size_t size, std::mt19937& rng) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(rng());
  return out;
}

TEST_F(DiskCacheTest, ReturnsWhatWasStored) {
  std::mt19937 rng(1);
  const std::string value = RandomBytes(100000, rng);
  {
    DiskCache cache(directory_);
    EXPECT_FALSE(cache.Load("key").has_value());
    cache.Store("key", value);
    cache.Store("empty", "");
    EXPECT_EQ(cache.Load("key"), value);
    EXPECT_EQ(cache.Load("empty"), "");
    EXPECT_FALSE(cache.Load("kez").has_value());
    cache.Store("key", "newer");
    EXPECT_EQ(cache.Load("key"), "newer");
    EXPECT_EQ(cache.stats().hits, 3u);
    EXPECT_EQ(cache.stats().misses, 2u);
    EXPECT_EQ(cache.stats().stores, 3u);
  }
  DiskCache again(directory_);  // a second cache, as in another process
  EXPECT_EQ(again.Load("key"), "newer");
  again.Remove("key");
  EXPECT_FALSE(again.Load("key").has_value());
}

TEST_F(DiskCacheTest, ComparesTheWholeKey) {
  // An entry is stored under the name of another key, as after a hash collision.
  DiskCache cache(directory_);
  cache.Store("one", "value of one");
  fs::copy_file(cache.PathOf("one"), cache.PathOf("two"));
  EXPECT_FALSE(cache.Load("two").has_value());
  EXPECT_EQ(cache.stats().damaged, 0u);
  cache.Store("two", "value of two");
  EXPECT_EQ(cache.Load("two"), "value of two");
  EXPECT_EQ(cache.Load("one"), "value of one");
}

TEST_F(DiskCacheTest, EveryTornOrDamagedFileIsAMissAndGoes) {
  DiskCache cache(directory_);
  cache.Store("key", "some value");
  const std::string path = cache.PathOf("key");
  const std::string whole = *ReadFile(path);
  uint64_t damaged = 0;
  for (size_t n = 0; n < whole.size(); ++n) {
    std::string flipped = whole;
    flipped[n] ^= 0x20;
    for (const std::string& bad : {whole.substr(0, n), flipped, whole + whole.substr(0, n + 1)}) {
      ASSERT_TRUE(Overwrite(path, bad).ok());
      ASSERT_FALSE(cache.Load("key").has_value()) << n;
      ASSERT_FALSE(fs::exists(path)) << n;
      ASSERT_EQ(cache.stats().damaged, ++damaged);
    }
  }
  ASSERT_TRUE(Overwrite(path, whole).ok());
  EXPECT_EQ(cache.Load("key"), "some value");
}

TEST_F(DiskCacheTest, EvictsTheLongestUnusedAndLeavesOtherFilesAlone) {
  constexpr uint64_t kBound = 64 << 10;
  const std::string value(1 << 10, 'v');
  DiskCache cache(directory_, kBound);
  const auto age = [&](std::string_view key, int minutes) {
    fs::last_write_time(cache.PathOf(key),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  for (int i = 0; i < 40; ++i) {
    cache.Store(Cat("old", i), value);
    age(Cat("old", i), 100 + i);
  }
  ASSERT_TRUE(cache.Load("old39").has_value());  // the oldest entry, but recently used
  ASSERT_TRUE(Overwrite(directory_ + "/notes.txt", "keep").ok());
  const std::string dead = cache.PathOf("x") + ".tmp.1.1", alive = cache.PathOf("x") + ".tmp.1.2";
  ASSERT_TRUE(Overwrite(dead, "torn").ok());
  ASSERT_TRUE(Overwrite(alive, "being written").ok());
  fs::last_write_time(dead, fs::file_time_type::clock::now() - std::chrono::hours(2));
  for (int i = 0; i < 40; ++i) cache.Store(Cat("new", i), value);

  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(directory_)) total += entry.file_size();
  EXPECT_LE(total, kBound);
  EXPECT_GT(total, kBound / 2);
  EXPECT_GT(cache.stats().evicted, 10u);
  EXPECT_TRUE(cache.Load("old39").has_value());
  EXPECT_FALSE(cache.Load("old38").has_value());
  EXPECT_TRUE(cache.Load("new0").has_value());
  EXPECT_TRUE(cache.Load("new39").has_value());
  EXPECT_TRUE(fs::exists(directory_ + "/notes.txt"));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));

  cache.Store("huge", std::string(kBound, 'x'));
  EXPECT_FALSE(cache.Load("huge").has_value());
}

TEST_F(DiskCacheTest, AnUnusableFolderWarnsOnceAndCachesNothing) {
  ASSERT_TRUE(Overwrite(directory_, "a file, where a folder should be").ok());
  std::vector<std::string> warnings;
  DiskCache cache(directory_ + "/below", DiskCache::kDefaultBound,
                  [&](std::string_view text) { warnings.emplace_back(text); });
  for (int i = 0; i < 3; ++i) {
    cache.Store("key", "value");
    EXPECT_FALSE(cache.Load("key").has_value());
  }
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(directory_), std::string::npos) << warnings[0];
  EXPECT_EQ(cache.stats().stores, 0u);
}

// A limit on the size of files simulates a full disk: writes fail after the first bytes.
TEST_F(DiskCacheTest, AFullDiskWarnsOnceAndLeavesNoRubbish) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
    int warnings = 0;
    DiskCache cache(directory_, DiskCache::kDefaultBound, [&](std::string_view) { ++warnings; });
    cache.Store("small", "fits");
    cache.Store("large", std::string(5000, 'x'));
    cache.Store("large too", std::string(5000, 'x'));
    if (cache.Load("large").has_value() || cache.Load("small") != "fits") ::_exit(2);
    ::_exit(warnings == 1 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(DiskCacheTest, NoFolderMeansNoCaching) {
  std::vector<std::string> warnings;
  DiskCache cache("", DiskCache::kDefaultBound,
                  [&](std::string_view text) { warnings.emplace_back(text); });
  cache.Store("key", "value");
  EXPECT_FALSE(cache.Load("key").has_value());
  EXPECT_TRUE(warnings.empty());
}

// Processes store, load and evict in one folder at the same time. Each value that is found must
// belong to its key.
TEST_F(DiskCacheTest, ManyProcessesShareAFolder) {
  constexpr int kProcesses = 4, kKeys = 24, kRounds = 300;
  const auto value_of = [](int key) {
    return std::string(500 + 97 * key, static_cast<char>('a' + key));
  };
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::mt19937 rng(p);
      DiskCache cache(directory_, 20 << 10, [](std::string_view) { ::_exit(3); });
      for (int i = 0; i < kRounds; ++i) {
        const int key = static_cast<int>(rng() % kKeys);
        const auto found = cache.Load(Cat("key", key));
        if (found.has_value() && *found != value_of(key)) ::_exit(1);
        if (!found.has_value()) cache.Store(Cat("key", key), value_of(key));
      }
      const DiskCacheStats stats = cache.stats();
      ::_exit(stats.damaged != 0 ? 2 : stats.hits == 0 ? 4 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  for (const auto& entry : fs::directory_iterator(directory_)) {
    EXPECT_EQ(entry.path().extension(), ".tgcache") << entry.path();  // no temporary file is left
  }
}

TEST_F(DiskCacheTest, ManyThreadsShareACache) {
  DiskCache cache(directory_, 20 << 10);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 rng(t);
      for (int i = 0; i < 200; ++i) {
        const std::string key = Cat("key", rng() % 16);
        const auto found = cache.Load(key);
        if (found.has_value() && *found != key + std::string(1000, '!')) ++wrong;
        if (!found.has_value()) cache.Store(key, key + std::string(1000, '!'));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.stats().hits + cache.stats().misses, 800u);
}

TEST(DefaultCacheDirectoryTest, FollowsTheEnvironment) {
  ::setenv("HOME", "/home/someone", 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("TG_CACHE_DIR");
  EXPECT_EQ(DefaultCacheDirectory(), "/home/someone/.cache/tg");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(DefaultCacheDirectory(), "/xdg/tg");
  ::setenv("TG_CACHE_DIR", "/own", 1);
  EXPECT_EQ(DefaultCacheDirectory(), "/own");
  ::unsetenv("TG_CACHE_DIR");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(DefaultCacheDirectory(), "");
}

}  // namespace
}  // namespace tg::runtime
