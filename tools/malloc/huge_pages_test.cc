#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

extern "C" void* tc_malloc(size_t) __attribute__((weak));  // null if tcmalloc is not linked

namespace tg::tools {
namespace {

// The flags in /proc/self/smaps of the mapping that contains an address.
std::string FlagsOfMapping(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return "";
}

// Whether the system supports huge pages on request; a kernel may be built without.
bool SystemHasHugePages() {
  const size_t size = size_t{4} << 20;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool has = memory != MAP_FAILED && madvise(memory, size, MADV_HUGEPAGE) == 0 &&
                   FlagsOfMapping(memory).find(" hg ") != std::string::npos;
  if (memory != MAP_FAILED) munmap(memory, size);
  return has;
}

TEST(HugePagesTest, WhatIsAllocatedAsksForHugePages) {
  if (!tc_malloc) GTEST_SKIP() << "a sanitizer's malloc, or libc's";
  if (!SystemHasHugePages()) GTEST_SKIP() << "this system has none";
  const std::vector<char> small(64), large(size_t{16} << 20);
  EXPECT_NE(FlagsOfMapping(small.data()).find(" hg "), std::string::npos);
  EXPECT_NE(FlagsOfMapping(large.data()).find(" hg "), std::string::npos);
}

// Blocks of many sizes that exceed a region do not overlap.
TEST(HugePagesTest, BlocksKeepWhatIsWrittenToThem) {
  std::vector<std::vector<uint32_t>> blocks;
  for (uint32_t i = 0; i < 400; ++i) blocks.emplace_back((i % 7 + 1) * 20'000, i);
  blocks.emplace_back(size_t{24} << 20, 400);
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    for (uint32_t v : blocks[i]) ASSERT_EQ(v, i);
  }
}

}  // namespace
}  // namespace tg::tools
