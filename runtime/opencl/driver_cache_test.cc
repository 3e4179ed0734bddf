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

std::string Folder() { return testing::TempDir() + "kernels"; }

TEST(DriverCache, HintNamesTheFolder) {
  const ScopedEnvironment own("POCL_CACHE_DIR", Folder().c_str());
  EXPECT_EQ(DriverCacheFault(Pocl()), "");
  EXPECT_EQ(DriverCacheHint(Pocl()),
            "; PoCL's cache may be damaged: delete the folder " + Folder());
  EXPECT_EQ(DriverCacheHint(DeviceInfo()), "");
}

TEST(DriverCache, HintTellsWhyTheFolderCannotBeUsed) {
  const ScopedEnvironment own("POCL_CACHE_DIR", "/dev/null");
  const std::string fault = "; PoCL cannot use its cache /dev/null (Not a directory)";
  EXPECT_EQ(DriverCacheFault(Pocl()), fault);
  EXPECT_EQ(DriverCacheHint(Pocl()), fault);
  EXPECT_EQ(DriverCacheFault(DeviceInfo()), "");
}

using DriverCacheDeathTest = testing::Test;

TEST(DriverCacheDeathTest, ACrashNamesTheFolder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ScopedEnvironment own("POCL_CACHE_DIR", Folder().c_str());
  for (const int signal : {SIGABRT, SIGBUS, SIGSEGV}) {
    EXPECT_EXIT(
        {
          for (const int s : {SIGABRT, SIGBUS, SIGILL, SIGSEGV}) ::signal(s, SIG_DFL);
          ExplainDriverCrashes("tool", Pocl());
          ::raise(signal);
        },
        testing::KilledBySignal(signal), "tool: .*delete the folder .*kernels\n");
  }
  // The previous handler of the signal still runs.
  EXPECT_EXIT(
      {
        ::signal(SIGABRT, [](int) { ::_exit(9); });
        ExplainDriverCrashes("tool", Pocl());
        ::raise(SIGABRT);
      },
      testing::ExitedWithCode(9), "tool: .*delete the folder .*kernels\n");
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
