#include "runtime/devices/devices.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

// Devices that differ only in the properties that ChooseDevice reads.
std::vector<Device> Fakes() {
  std::vector<Device> devices(4);
  const DeviceKind kinds[] = {DeviceKind::kCpu, DeviceKind::kGpu, DeviceKind::kGpu,
                              DeviceKind::kOther};
  const char* names[] = {"pthread-AMD EPYC", "NVIDIA H200", "Intel(R) Arc", "Odd Thing"};
  const char* platforms[] = {"Portable Computing Language", "NVIDIA CUDA", "Intel OpenCL", "Odd"};
  for (int i = 0; i < 4; ++i) {
    devices[i].index = i;
    devices[i].info.kind = kinds[i];
    devices[i].info.name = names[i];
    devices[i].info.platform = platforms[i];
    devices[i].info.driver_version = "1.0";
    devices[i].info.device_version = "OpenCL 3.0";
  }
  return devices;
}

int Chosen(std::string_view wish) {
  const auto device = ChooseDevice(Fakes(), wish);
  return device.ok() ? device->index : -1;
}

TEST(Device, IsChosenByKindNumberOrName) {
  EXPECT_EQ(Chosen(""), 1);  // a GPU is preferred although the CPU is listed first
  EXPECT_EQ(Chosen("gpu"), 1);
  EXPECT_EQ(Chosen("CPU"), 0);
  EXPECT_EQ(Chosen("2"), 2);
  EXPECT_EQ(Chosen("arc"), 2);
  EXPECT_EQ(Chosen("portable"), 0);
  EXPECT_EQ(Chosen("odd thing"), 3);
  EXPECT_EQ(Chosen("4"), -1);
  EXPECT_EQ(Chosen("-1"), -1);
  EXPECT_EQ(Chosen("18446744073709551616"), -1);
  EXPECT_EQ(Chosen("adreno"), -1);
}

TEST(Device, ANativeCpuComesBeforeOthers) {
  std::vector<Device> devices = Fakes();
  devices[0].info.is_pocl = true;
  Device native;
  native.info.kind = DeviceKind::kCpu;
  native.info.is_native = true;
  native.info.platform = "native";
  devices.insert(devices.begin(), native);
  EXPECT_TRUE(ChooseDevice(devices, "cpu:1")->info.is_pocl);
  EXPECT_TRUE(ChooseDevice(devices, "cpu")->info.is_native);
  EXPECT_TRUE(ChooseDevice(devices, "native")->info.is_native);
  EXPECT_TRUE(ChooseDevice(devices, "pocl")->info.is_pocl);
  EXPECT_EQ(ChooseDevice(devices, "")->info.kind, DeviceKind::kGpu);
  EXPECT_FALSE(ChooseDevice(Fakes(), "pocl").ok());
  // Without other devices it is the one that is taken.
  EXPECT_TRUE(ChooseDevice(std::vector<Device>{native}, "")->info.is_native);
  EXPECT_TRUE(ChooseDevice(std::vector<Device>{native}, "cpu")->info.is_native);
}

TEST(Device, AMissingNativeDeviceSaysWhatToBuild) {
  const auto device = ChooseDevice(Fakes(), "native");
  EXPECT_NE(
      std::string(device.status().message()).find("bazel build //codegen/llvm:libtg_codegen.so"),
      std::string::npos);
}

TEST(Device, AnUnknownNameListsWhatThereIs) {
  const auto device = ChooseDevice(Fakes(), "adreno");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device.status().message(),
            "no device matches 'adreno'; name one by cpu, gpu, its number or a part of its name:\n"
            "  0: CPU pthread-AMD EPYC (Portable Computing Language, OpenCL 3.0, driver 1.0)\n"
            "  1: GPU NVIDIA H200 (NVIDIA CUDA, OpenCL 3.0, driver 1.0)\n"
            "  2: GPU Intel(R) Arc (Intel OpenCL, OpenCL 3.0, driver 1.0)\n"
            "  3: other Odd Thing (Odd, OpenCL 3.0, driver 1.0)\n");
}

TEST(Device, NoDeviceSaysWhatToInstall) {
  const auto device = ChooseDevice(std::vector<Device>(), "");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(device.status().message()).find("install"), std::string::npos);
}

TEST(Device, RealDevicesReportTheirLimits) {
  const auto devices = ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_TRUE(!devices->empty() && devices->back().id != nullptr)
      << "this test needs an OpenCL device, such as PoCL";
  EXPECT_NE(std::getenv("POCL_AFFINITY"), nullptr);
  for (const Device& device : *devices) {
    const DeviceInfo& info = device.info;
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.name.empty());
    EXPECT_NE(info.is_native, info.device_version.find("OpenCL ") == 0);
    EXPECT_NE(info.is_native, device.id != nullptr);
    EXPECT_GE(info.max_work_group_size, 1u);
    for (const size_t size : info.max_work_item_sizes) EXPECT_GE(size, 1u);
    EXPECT_GE(info.compute_units, 1u);
    EXPECT_GE(info.local_memory, 16u << 10);  // minimum of the embedded profile
    EXPECT_GE(info.global_memory, info.max_allocation);
    EXPECT_GE(info.base_alignment, info.is_native ? 1u : 8u);
    EXPECT_TRUE(info.int64);
    EXPECT_GE(info.preferred.f32, 1u);
    EXPECT_EQ(info.fp64, info.native.f64 > 0);
    EXPECT_EQ(info.is_nvidia, info.compute_capability > 0);
    EXPECT_EQ(info.image.supported, info.image.max_width_2d >= 2048u);
    EXPECT_FALSE(info.HasExtension("cl_khr_no_such_thing"));
  }
  const auto cpu = ChooseDevice(*devices, "0");
  ASSERT_TRUE(cpu.ok());
  EXPECT_EQ(cpu->id, devices->front().id);
}

}  // namespace
}  // namespace tg::runtime
