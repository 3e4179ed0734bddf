// OpenCL devices: what there is, what each can do, and which one a user means.
#ifndef TG_RUNTIME_OPENCL_DEVICE_H_
#define TG_RUNTIME_OPENCL_DEVICE_H_

#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

// In the order of preference when the user names none.
enum class DeviceKind : uint8_t { kGpu, kAccelerator, kCpu, kOther };

std::string_view DeviceKindName(DeviceKind kind);  // "GPU", "accelerator", "CPU", "other"

// Element counts of the vectors that the device says suit it; 0 where it lacks the type.
struct VectorWidths {
  uint32_t i8 = 0, i16 = 0, i32 = 0, i64 = 0, f16 = 0, f32 = 0, f64 = 0;
};

struct ImageLimits {
  bool supported = false;
  size_t max_width_2d = 0, max_height_2d = 0;  // pixels
  size_t max_buffer_pixels = 0;                // of a 1-D image from a buffer
  uint32_t row_pitch_alignment = 0;            // pixels; 0 where no 2-D image can view a buffer
  uint32_t base_address_alignment = 0;         // pixels; likewise
};

// What the driver reports. Sizes are in bytes.
struct DeviceInfo {
  std::string name, vendor, platform, platform_version;
  std::string device_version, driver_version, c_version;
  DeviceKind kind = DeviceKind::kOther;

  // fp16 is the extension cl_khr_fp16 (arithmetic); storage through vload_half needs nothing.
  // NVIDIA does not list it, yet compiles half arithmetic without the mathematical functions.
  bool fp16 = false, fp64 = false, int64 = false, subgroups = false;
  bool exact_divide = false;  // f32 division and square root correctly rounded, if asked to

  uint64_t global_memory = 0, max_allocation = 0, local_memory = 0, global_cache = 0;
  bool local_memory_is_real = false;  // a memory of its own, and not a part of global memory
  size_t max_work_group_size = 0;
  std::array<size_t, 3> max_work_item_sizes = {0, 0, 0};
  uint32_t compute_units = 0, clock_mhz = 0;
  size_t base_alignment = 0;  // of sub-buffers and of every buffer
  VectorWidths preferred, native;
  ImageLimits image;
  std::vector<std::string> extensions;  // sorted

  bool is_nvidia = false;
  int compute_capability = 0;  // NVIDIA: 10 * major + minor, so 90 for Hopper; else 0
  uint32_t warp_size = 0;      // NVIDIA; else 0
  bool is_pocl = false;

  bool HasExtension(std::string_view extension) const;
};

struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  int index = 0;  // in ListDevices()
  DeviceInfo info;
};

// Every available device of every platform, in the order of the loader. An empty list is not an
// error; a platform that fails is left out. The first OpenCL call of the process should be here: it
// sets POCL_AFFINITY=1 unless the user set it, without which PoCL's workers may share one core.
absl::StatusOr<std::vector<Device>> ListDevices();

// The device that `wish` names among `devices`:
//   ""                the first by kind: GPU, accelerator, CPU, other
//   "gpu", "cpu"      the first of that kind
//   "2"               by index in the list
//   anything else     the first by kind whose name, vendor or platform contains it, in any case
//   "cpu:1", "nvidia:0"  of all that the part in front of the colon fits, by kind, the one with
//                     this number; "cl:1" of all there are
// NotFound lists what there is.
absl::StatusOr<Device> ChooseDevice(std::span<const Device> devices, std::string_view wish);

// The same among all devices of the machine.
absl::StatusOr<Device> ChooseDevice(std::string_view wish);

// One line a device: "  0: GPU NVIDIA H200 (NVIDIA CUDA, OpenCL 3.0, driver 580.1)".
std::string DescribeDevices(std::span<const Device> devices);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DEVICE_H_
