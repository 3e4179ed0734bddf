#include "runtime/device/buffer_pool.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/opencl/testing.h"

namespace tg::runtime {
namespace {

std::vector<std::byte> RandomBytes(size_t size, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<std::byte> out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(rng());
  return out;
}

TEST(SizeClassTest, WastesAtMostAnEighth) {
  EXPECT_EQ(SizeClass(0), 256u);
  EXPECT_EQ(SizeClass(256), 256u);
  EXPECT_EQ(SizeClass(257), 512u);
  EXPECT_EQ(SizeClass(1 << 20), 1u << 20);
  EXPECT_EQ(SizeClass((1 << 20) + 1), (1u << 20) + (1u << 17));
  EXPECT_EQ(SizeClass(~size_t{0}), 0u);
  std::mt19937_64 rng(1);
  for (int i = 0; i < 10000; ++i) {
    const size_t size = rng() >> (1 + rng() % 63);
    const size_t rounded = SizeClass(size);
    ASSERT_GE(rounded, size);
    ASSERT_EQ(SizeClass(rounded), rounded);
    ASSERT_LE(rounded - size, std::max<size_t>(256, size / 8));
  }
}

TEST(BufferPoolTest, KeepsBytesAndChecksRanges) {
  BufferPool pool(TestContext());
  const BufferRef buffer = *pool.Allocate(1000);
  EXPECT_EQ(buffer->size(), 1000u);
  const std::vector<std::byte> data = RandomBytes(1000, 1);
  ASSERT_TRUE(Write(*buffer, 0, data).ok());
  std::vector<std::byte> back(300);
  ASSERT_TRUE(Read(*buffer, 600, back).ok());
  EXPECT_EQ(std::memcmp(back.data(), data.data() + 600, 300), 0);
  EXPECT_EQ(Read(*buffer, 701, back).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Write(*buffer, 1, data).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Write(*buffer, ~size_t{0}, data).code(), absl::StatusCode::kOutOfRange);

  const BufferRef other = *pool.Allocate(500);
  ASSERT_TRUE(Fill(*other, std::byte{0xab}).ok());
  ASSERT_TRUE(Copy(*buffer, 100, *other, 20, 200).ok());
  std::vector<std::byte> got(500), want(500, std::byte{0xab});
  std::memcpy(want.data() + 20, data.data() + 100, 200);
  ASSERT_TRUE(Read(*other, 0, got).ok());
  EXPECT_EQ(got, want);
  EXPECT_EQ(Copy(*buffer, 900, *other, 0, 101).code(), absl::StatusCode::kOutOfRange);
  const BufferRef empty = *pool.Allocate(0);
  EXPECT_EQ(empty->size(), 0u);
  EXPECT_TRUE(Read(*empty, 0, {}).ok());
}

TEST(BufferPoolTest, ReusesWhatWasLetGo) {
  BufferPool pool(TestContext());
  BufferRef a = *pool.Allocate(5000);
  const BufferRef b = *pool.Allocate(5000);
  const Memory* memory = &a->memory();
  EXPECT_NE(&b->memory(), memory);
  const BufferRef second_owner = a;
  a.reset();
  EXPECT_NE(&(*pool.Allocate(5000))->memory(), memory);  // still held
  EXPECT_EQ(pool.stats().allocations, 3u);
  a = second_owner;
}

TEST(BufferPoolTest, CountsWhatIsHeldCachedAndThePeak) {
  BufferPool pool(TestContext());
  BufferRef a = *pool.Allocate(4096);
  BufferRef b = *pool.Allocate(4000);  // same size class
  const Memory* memory = &b->memory();
  EXPECT_EQ(pool.stats().in_use_bytes, 8192u);
  a.reset();
  b.reset();
  EXPECT_EQ(pool.stats().in_use_bytes, 0u);
  EXPECT_EQ(pool.stats().cached_bytes, 8192u);
  const BufferRef c = *pool.Allocate(3900);
  EXPECT_EQ(&c->memory(), memory);  // the most recently used block
  EXPECT_EQ(c->size(), 3900u);
  const BufferPoolStats stats = pool.stats();
  EXPECT_EQ(stats.allocations, 2u);
  EXPECT_EQ(stats.reuses, 1u);
  EXPECT_EQ(stats.in_use_bytes, 4096u);
  EXPECT_EQ(stats.cached_bytes, 4096u);
  EXPECT_EQ(stats.peak_in_use_bytes, 8192u);
  EXPECT_EQ(stats.peak_total_bytes, 8192u);
  pool.Trim();
  EXPECT_EQ(pool.stats().cached_bytes, 0u);
  EXPECT_EQ(pool.stats().in_use_bytes, 4096u);
}

TEST(BufferPoolTest, MakesRoomBeforeItFails) {
  BufferPool pool(TestContext(), 100 << 10);
  BufferRef in_use = *pool.Allocate(32 << 10);
  (*pool.Allocate(64 << 10)).reset();
  EXPECT_EQ(pool.stats().cached_bytes, 64u << 10);
  const auto other_class = pool.Allocate(48 << 10);  // fits only after the cached block is released
  ASSERT_TRUE(other_class.ok()) << other_class.status();
  EXPECT_EQ(pool.stats().flushes, 1u);
  const absl::Status full = pool.Allocate(32 << 10).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  const std::string message(full.message());
  EXPECT_NE(message.find("a buffer of 32768 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("81920 bytes are in use"), std::string::npos) << message;
  EXPECT_NE(message.find("the limit is 102400"), std::string::npos) << message;
  in_use.reset();
  EXPECT_TRUE(pool.Allocate(32 << 10).ok());
}

TEST(BufferPoolTest, MoreThanTheDeviceHasIsAnError) {
  BufferPool pool(TestContext());
  const absl::Status status = pool.Allocate(size_t{1} << 60).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(pool.Allocate(~size_t{0}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(BufferPoolTest, BuffersOutliveThePool) {
  BufferRef buffer;
  {
    BufferPool pool(TestContext());
    buffer = *pool.Allocate(64);
  }
  const std::vector<std::byte> data = RandomBytes(64, 2);
  ASSERT_TRUE(Write(*buffer, 0, data).ok());
  std::vector<std::byte> back(64);
  ASSERT_TRUE(Read(*buffer, 0, back).ok());
  EXPECT_EQ(back, data);
}

TEST(BufferPoolTest, APartSharesTheMemoryOfTheWhole) {
  const std::shared_ptr<Context> context = TestContext();
  const size_t align = context->info().base_alignment;
  BufferPool pool(context);
  BufferRef whole = *pool.Allocate(4 * align);
  const std::vector<std::byte> data = RandomBytes(4 * align, 3);
  ASSERT_TRUE(Write(*whole, 0, data).ok());
  const auto part = Buffer::Part(whole, 2 * align, align);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_FALSE(Buffer::Part(whole, align + 1, 4).ok());
  EXPECT_FALSE(Buffer::Part(whole, align, 4 * align).ok());
  EXPECT_FALSE(Buffer::Part(whole, align, 0).ok());
  const auto inner = Buffer::Part(*part, 0, 4);
  ASSERT_TRUE(inner.ok()) << inner.status();
  EXPECT_EQ(&(*inner)->whole(), whole.get());
  EXPECT_EQ((*inner)->offset(), 2 * align);
  EXPECT_FALSE(Buffer::Part(*part, align - 1, 2).ok());
  whole.reset();  // the sub-buffer keeps the memory alive
  EXPECT_EQ(pool.stats().cached_bytes, 0u);
  std::vector<std::byte> back(align);
  ASSERT_TRUE(Read(**part, 0, back).ok());
  EXPECT_EQ(std::memcmp(back.data(), data.data() + 2 * align, align), 0);
  ASSERT_TRUE(Read(**inner, 0, std::span(back).first(4)).ok());
  EXPECT_EQ(std::memcmp(back.data(), data.data() + 2 * align, 4), 0);
}

TEST(BufferPoolTest, ThreadsShareAPool) {
  BufferPool pool(TestContext());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 rng(t);
      std::vector<BufferRef> held(4);
      for (int i = 0; i < 500; ++i) held[rng() % 4] = *pool.Allocate(rng() % 10000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const BufferPoolStats stats = pool.stats();
  EXPECT_EQ(stats.allocations + stats.reuses, 2000u);
  EXPECT_EQ(stats.in_use_bytes, 0u);
  EXPECT_GT(stats.reuses, 1000u);
}

}  // namespace
}  // namespace tg::runtime
