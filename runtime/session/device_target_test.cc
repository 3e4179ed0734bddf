#include "runtime/session/device_target.h"

#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

TEST(DeviceTarget, DeviceLimitsThePreset) {
  DeviceInfo device;
  device.kind = DeviceKind::kGpu;
  device.is_nvidia = true;
  device.compute_capability = 90;
  device.fp64 = device.int64 = true;
  device.local_memory = 16384;
  device.max_work_group_size = 512;
  device.max_work_item_sizes = {512, 512, 64};
  device.warp_size = 32;
  device.compute_units = 4;
  const passes::Target target = TargetForDevice(device);
  EXPECT_EQ(target.name, "cl-nvidia-sm90");
  EXPECT_EQ(target.local_memory, 16384);
  EXPECT_EQ(target.max_group_size, 512);
  EXPECT_EQ(target.max_local[2], 64);
  EXPECT_EQ(target.compute_units, 4);
  EXPECT_FALSE(target.fp16);
  device.fp16 = true;
  EXPECT_TRUE(TargetForDevice(device).fp16);
  device.fp64 = false;
  EXPECT_FALSE(TargetForDevice(device).fp64);
  EXPECT_EQ(ChooseTarget("cl-cpu", "cl-intel", device)->name, "cl-cpu");
  EXPECT_EQ(ChooseTarget("", "cl-intel", device)->name, "cl-intel");
  EXPECT_EQ(ChooseTarget("host", "cl-intel", device)->name, "cl-nvidia-sm90");
  EXPECT_FALSE(ChooseTarget("cl-none", "", device).ok());
}

TEST(DeviceTarget, VectorsOfACpuChooseThePreset) {
  DeviceInfo device;
  device.kind = DeviceKind::kCpu;
  device.max_work_group_size = 4096;
  device.max_work_item_sizes = {4096, 4096, 4096};
  EXPECT_EQ(TargetForDevice(device).name, "cl-cpu");  // the device does not report it
  for (uint32_t lanes : {1, 4, 8}) {
    device.native.f32 = lanes;
    EXPECT_EQ(TargetForDevice(device).name, "cl-cpu-avx2") << lanes;
  }
  device.native.f32 = 4;
  device.name = "pthread-cortex-a76";
  EXPECT_EQ(TargetForDevice(device).name, "cl-cpu-neon");
  device.name = "";
  device.native.f32 = 16;
  EXPECT_EQ(TargetForDevice(device).name, "cl-cpu");
  device.is_native = true;
  EXPECT_EQ(TargetForDevice(device).name, "cpu-avx512");
  device.native.f32 = 8;
  EXPECT_EQ(TargetForDevice(device).name, "cpu-avx2");
}

TEST(DeviceTarget, CachesAreTheReportedOnes) {
  DeviceInfo device;
  device.kind = DeviceKind::kCpu;
  device.is_native = true;
  device.native.f32 = 16;
  device.near_cache = 49152;
  device.near_cache_ways = 12;
  device.shared_cache = 8 << 20;
  const passes::Target preset = *passes::FindTarget("cpu-avx512");
  const passes::Target target = TargetForDevice(device);
  EXPECT_EQ(target.near_cache_bytes, 49152);
  EXPECT_EQ(target.near_cache_ways, 12);
  EXPECT_EQ(target.shared_cache_bytes, 8 << 20);
  EXPECT_EQ(target.core_cache_bytes, preset.core_cache_bytes);  // not known
}

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
