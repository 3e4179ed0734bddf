#include "runtime/opencl/pocl_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

class PoclCacheTest : public testing::Test {
 protected:
  PoclCacheTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    // A threadsafe death test runs this constructor in the child as well.
    folder_ = testing::TempDir() + "pocl_cache_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_ + "/tmp");
    std::ofstream(folder_ + "/file") << "text";
    for (const char* name : {"POCL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
    ::setenv("TMPDIR", (folder_ + "/tmp").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  int TemporaryFolders() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ + "/tmp")) ++count;
    return count;
  }

  std::string folder_;
};

using PoclCacheDeathTest = PoclCacheTest;

TEST_F(PoclCacheTest, FolderFollowsTheEnvironment) {
  EXPECT_EQ(PoclCacheDirectory(), "/tmp/pocl/kcache");
  ::setenv("HOME", "", 1);
  EXPECT_EQ(PoclCacheDirectory(), "/.cache/pocl/kcache");
  ::setenv("HOME", "/home/a", 1);
  EXPECT_EQ(PoclCacheDirectory(), "/home/a/.cache/pocl/kcache");
  ::setenv("XDG_CACHE_HOME", "/b", 1);
  EXPECT_EQ(PoclCacheDirectory(), "/b/pocl/kcache");
  ::setenv("POCL_CACHE_DIR", "/c", 1);
  EXPECT_EQ(PoclCacheDirectory(), "/c");
}

TEST_F(PoclCacheTest, AFolderThatCanBeMadeIsUsableAndIsNotMade) {
  EXPECT_TRUE(CheckKernelFolder(folder_ + "/a/b").ok());
  EXPECT_TRUE(CheckKernelFolder(folder_ + "/tmp").ok());
  EXPECT_FALSE(fs::exists(folder_ + "/a"));
  EXPECT_EQ(TemporaryFolders(), 0);
}

TEST_F(PoclCacheTest, AnUnusableFolderHasACause) {
  EXPECT_EQ(CheckKernelFolder(folder_ + "/file").message(), "Not a directory");
  EXPECT_EQ(CheckKernelFolder(folder_ + "/file/kcache").message(), "Not a directory");
  EXPECT_FALSE(CheckKernelFolder("/proc/none").ok());
}

// Prints the cause where no file may have more bytes, as on a full disk.
void CheckWithoutSpace(const std::string& folder) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {65536, 65536};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::fprintf(stderr, "%s", std::string(CheckKernelFolder(folder).message()).c_str());
  std::exit(0);
}

TEST_F(PoclCacheDeathTest, AFolderNeedsSpace) {
  EXPECT_EXIT(CheckWithoutSpace(folder_), testing::ExitedWithCode(0), "File too large");
}

// Prints whether PoCL's folder was replaced, and the warning.
void Prepare() {
  PreparePoclCache();
  const std::string now = PoclCacheDirectory();
  std::ofstream(now + "/kernel.so") << "code";
  std::fprintf(stderr, "%s %s %s|", PoclCacheIsTemporary() ? "temporary" : "own",
               fs::exists(now + "/kernel.so") ? "usable" : "missing", PoclCacheWarning().c_str());
}

TEST_F(PoclCacheDeathTest, AUsableFolderStays) {
  EXPECT_EXIT(
      {
        ::setenv("POCL_CACHE_DIR", (folder_ + "/tmp").c_str(), 1);
        Prepare();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^own usable \\|$");
}

TEST_F(PoclCacheDeathTest, AnUnusableFolderIsReplacedUntilTheEnd) {
  EXPECT_EXIT(
      {
        ::setenv("POCL_CACHE_DIR", (folder_ + "/file").c_str(), 1);
        Prepare();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^temporary usable PoCL cannot use its cache .*/file \\(Not a directory\\); it compiles into "
      ".*/tmp/tg-pocl-.*, which is removed at the end\\|$");
  EXPECT_EQ(TemporaryFolders(), 0);
}

TEST_F(PoclCacheDeathTest, AnEmptyVariableIsNoFolder) {
  EXPECT_EXIT(
      {
        ::setenv("POCL_CACHE_DIR", "", 1);
        ::setenv("HOME", (folder_ + "/file").c_str(), 1);
        Prepare();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^temporary usable PoCL cannot use its cache .*/file/.cache");
}

TEST_F(PoclCacheDeathTest, FoldersOfKilledProcessesAreRemoved) {
  const auto replace = [&](bool is_killed) {
    ::setenv("POCL_CACHE_DIR", (folder_ + "/file").c_str(), 1);
    Prepare();
    if (is_killed) ::_exit(0);
    std::exit(0);
  };
  EXPECT_EXIT(replace(true), testing::ExitedWithCode(0), "^temporary usable");
  EXPECT_EQ(TemporaryFolders(), 1);
  EXPECT_EXIT(replace(false), testing::ExitedWithCode(0), "^temporary usable");
  EXPECT_EQ(TemporaryFolders(), 0);
}

TEST_F(PoclCacheDeathTest, FoldersInUseStay) {
  const std::string used = folder_ + "/tmp/tg-pocl-used";
  fs::create_directories(used);
  const int lock = ::open((used + "/.lock").c_str(), O_CREAT | O_RDWR, 0600);
  ::flock(lock, LOCK_EX | LOCK_NB);  // fails in the child, where this process holds it
  EXPECT_EXIT(
      {
        ::setenv("POCL_CACHE_DIR", (folder_ + "/file").c_str(), 1);
        Prepare();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^temporary usable");
  EXPECT_EQ(TemporaryFolders(), 1);
  ::close(lock);
}

}  // namespace
}  // namespace tg::runtime
