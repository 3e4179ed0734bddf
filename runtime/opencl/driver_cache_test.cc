#include "runtime/opencl/driver_cache.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

// Sets an environment variable (null: unsets it) for the object's lifetime.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~ScopedEnvironment() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

DeviceInfo Pocl() {
  DeviceInfo device;
  device.is_pocl = true;
  return device;
}

TEST(DriverCache, FolderFollowsTheEnvironment) {
  const ScopedEnvironment home("HOME", "/home/a"), base("XDG_CACHE_HOME", nullptr),
      own("POCL_CACHE_DIR", nullptr);
  EXPECT_EQ(PoclCacheDirectory(), "/home/a/.cache/pocl/kcache");
  const ScopedEnvironment base2("XDG_CACHE_HOME", "/b");
  EXPECT_EQ(PoclCacheDirectory(), "/b/pocl/kcache");
  const ScopedEnvironment own2("POCL_CACHE_DIR", "/c");
  EXPECT_EQ(PoclCacheDirectory(), "/c");
  EXPECT_EQ(DriverCacheHint(Pocl()), "; PoCL's cache may be damaged: delete the folder /c");
  EXPECT_EQ(DriverCacheHint(DeviceInfo()), "");
}

using DriverCacheDeathTest = testing::Test;

TEST(DriverCacheDeathTest, ACrashNamesTheFolder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ScopedEnvironment own("POCL_CACHE_DIR", "/c");
  for (const int signal : {SIGABRT, SIGBUS, SIGSEGV}) {
    EXPECT_EXIT(
        {
          for (const int s : {SIGABRT, SIGBUS, SIGILL, SIGSEGV}) ::signal(s, SIG_DFL);
          ExplainDriverCrashes("tool", Pocl());
          ::raise(signal);
        },
        testing::KilledBySignal(signal), "tool: .*delete the folder /c\n");
  }
  // The previous handler of the signal still runs.
  EXPECT_EXIT(
      {
        ::signal(SIGABRT, [](int) { ::_exit(9); });
        ExplainDriverCrashes("tool", Pocl());
        ::raise(SIGABRT);
      },
      testing::ExitedWithCode(9), "tool: .*delete the folder /c\n");
  // Other drivers: the signal has no hint.
  EXPECT_EXIT(
      {
        for (const int s : {SIGABRT, SIGBUS, SIGILL, SIGSEGV}) ::signal(s, SIG_DFL);
        ExplainDriverCrashes("tool", DeviceInfo());
        ::raise(SIGABRT);
      },
      testing::KilledBySignal(SIGABRT), "^$");
}

}  // namespace
}  // namespace tg::runtime
