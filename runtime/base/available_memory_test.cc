#include "runtime/base/available_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace tg::runtime {
namespace {

class AvailableMemoryTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  const std::string root_ = ::testing::TempDir() + "/available_memory";
};

TEST_F(AvailableMemoryTest, IsTheLeastOfWhatTheSystemTells) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(AvailableMemoryIn(root_), most - most / 16);
  Write("/proc/meminfo", "MemTotal:  999 kB\nMemFree: 1 kB\nMemAvailable:  160 kB\n");
  EXPECT_EQ(AvailableMemoryIn(root_), 150u * 1024);
  Write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(AvailableMemoryIn(root_), 150u * 1024);
  Write("/sys/fs/cgroup/memory.max", "100000\n");
  Write("/sys/fs/cgroup/memory.stat", "anon 20000\nfile 70000\n");
  EXPECT_EQ(AvailableMemoryIn(root_), 75000u);
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(AvailableMemoryIn(root_), 75000u);
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "50000\n");
  Write("/sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_rss 60000\n");
  EXPECT_EQ(AvailableMemoryIn(root_), 0u);
}

TEST(AvailableMemory, OfThisMachine) {
  EXPECT_GT(AvailableMemory(), uint64_t{1} << 20);
  EXPECT_LT(AvailableMemory(), uint64_t{1} << 50);
}

}  // namespace
}  // namespace tg::runtime
