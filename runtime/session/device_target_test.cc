#include "runtime/session/device_target.h"

#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

TEST(DeviceTarget, ProductsOfBytesAreThoseOfTheProcessor) {
  DeviceInfo device;
  device.kind = DeviceKind::kCpu;
  device.is_native = true;
  device.max_work_group_size = 4096;
  device.native.f32 = 8;
  EXPECT_FALSE(TargetForDevice(device).byte_dots);
  EXPECT_EQ(TargetForDevice(device).dot4_rate, passes::FindTarget("cpu-avx2")->dot4_rate);
  // A preset has no instructions that the device lacks.
  EXPECT_FALSE(ChooseTarget("cpu-avx512-vnni", "", device)->byte_dots);
  EXPECT_EQ(ChooseTarget("cpu-avx512", "", device)->dot4_rate, 0);
  device.byte_dots = true;
  EXPECT_TRUE(TargetForDevice(device).byte_dots);
  EXPECT_EQ(TargetForDevice(device).dot4_rate, 1);
  EXPECT_TRUE(ChooseTarget("cpu-avx512-vnni", "", device)->byte_dots);
  device.is_native = false;
  EXPECT_EQ(ChooseTarget("cpu-avx512-vnni", "", device)->dot4_rate, 0);
}

}  // namespace
}  // namespace tg::runtime
