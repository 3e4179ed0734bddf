#include "runtime/device/transfer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "runtime/device/buffer_pool.h"
#include "runtime/device/launch.h"
#include "runtime/opencl/testing.h"

namespace tg::runtime {
namespace {

std::vector<std::byte> RandomBytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(size);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

constexpr size_t kSize = (3 << 20) + 12;  // large enough for several pieces

// Copies there and back repeatedly without waiting in between. The result must equal the input.
void GoesThereAndBack(const std::shared_ptr<OpenClContext>& a,
                      const std::shared_ptr<OpenClContext>& b, bool through_host) {
  BufferPool here(a), there(b);
  const BufferRef from = *here.Allocate(kSize), far = *there.Allocate(kSize),
                  to = *here.Allocate(kSize);
  Transfer out = *Transfer::Create(from, far, kSize), back = *Transfer::Create(far, to, kSize);
  ASSERT_EQ(out.through_host(), through_host);
  const auto enqueue = [](Transfer& transfer, std::span<const Event> waits, Event* event) {
    if (!transfer.through_host()) return transfer.EnqueueWrite(event, waits);
    // The write follows the read without an explicit wait; `waits` belong to the sender.
    const absl::Status status = transfer.EnqueueRead(nullptr, waits);
    return status.ok() ? transfer.EnqueueWrite(event) : status;
  };
  for (unsigned round = 0; round < 5; ++round) {
    const std::vector<std::byte> data = RandomBytes(kSize, round);
    ASSERT_TRUE(Write(*from, 0, data).ok());
    Event arrived, returned;
    ASSERT_TRUE(enqueue(out, {}, &arrived).ok());
    const Event wait = arrived;
    ASSERT_TRUE(enqueue(back, std::span(&wait, 1), &returned).ok());
    // Enqueued before the previous copy has finished.
    const Event last = returned;
    if (!through_host) {
      ASSERT_TRUE(EnqueueBarrier(*b, std::span(&last, 1)).ok());
    }
    ASSERT_TRUE(enqueue(out, {}, &arrived).ok());
    ASSERT_TRUE(a->Finish().ok());
    ASSERT_TRUE(b->Finish().ok());
    ASSERT_TRUE(a->Finish().ok());
    const auto times = out.Times(arrived);
    ASSERT_TRUE(times.ok()) << times.status();
    EXPECT_LE(times->queued, times->started);
    EXPECT_LE(times->started, times->ended);
    std::vector<std::byte> got(kSize);
    ASSERT_TRUE(Read(*to, 0, got).ok());
    EXPECT_EQ(got, data);
    ASSERT_TRUE(Read(*far, 0, got).ok());
    EXPECT_EQ(got, data);
  }
}

TEST(Transfer, ThroughTheHost) {
  const std::shared_ptr<OpenClContext> a = TestContext();
  GoesThereAndBack(a, TestContext(), /*through_host=*/true);
}

TEST(Transfer, InOneContext) {
  const auto devices = ListOpenClDevices();
  ASSERT_TRUE(devices.ok());
  const std::shared_ptr<OpenClContext> any = TestContext();
  std::vector<Device> pair;
  for (const Device& d : *devices) {
    if (d.platform == any->device().platform && pair.size() < 2) pair.push_back(d);
  }
  if (pair.size() < 2) GTEST_SKIP() << "the platform has one device";
  const auto contexts = OpenClContext::CreateAll(pair, /*profiling=*/true);
  ASSERT_TRUE(contexts.ok()) << contexts.status();
  EXPECT_TRUE((*contexts)[0]->SharesWith(*(*contexts)[1]));
  EXPECT_FALSE((*contexts)[0]->SharesWith(*any));
  const bool through_host = any->info().is_nvidia;
  GoesThereAndBack((*contexts)[0], (*contexts)[1], through_host);
}

TEST(Transfer, NothingIsDoneAtOnce) {
  const std::shared_ptr<OpenClContext> a = TestContext(), b = TestContext();
  BufferPool here(a), there(b);
  Transfer none = *Transfer::Create(*here.Allocate(0), *there.Allocate(0), 0);
  Event read, written;
  ASSERT_TRUE(none.EnqueueRead(&read).ok());
  ASSERT_TRUE(none.EnqueueWrite(&written).ok());
  EXPECT_TRUE(none.Times(written).ok());
}

TEST(Context, ADeviceIsOpenedOnce) {
  const std::shared_ptr<OpenClContext> any = TestContext();
  const std::vector<Device> twice = {any->device(), any->device()};
  const auto contexts = OpenClContext::CreateAll(twice, /*profiling=*/false);
  ASSERT_TRUE(contexts.ok());
  EXPECT_EQ((*contexts)[0], (*contexts)[1]);
}

}  // namespace
}  // namespace tg::runtime

int main(int argc, char** argv) {
  // With this setting PoCL has two devices on any machine.
  ::setenv("POCL_DEVICES", "pthread pthread", /*overwrite=*/0);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
