// Devices: their capabilities, and the selection by a user's request.
#ifndef TG_RUNTIME_DEVICE_DEVICE_H_
#define TG_RUNTIME_DEVICE_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

// In the order of preference if the user names no kind.
enum class DeviceKind : uint8_t { kGpu, kAccelerator, kCpu, kOther };

std::string_view DeviceKindName(DeviceKind kind);  // "GPU", "accelerator", "CPU", "other"

// Vector widths that the device prefers, in elements; 0 if it lacks the type.
struct VectorWidths {
  uint32_t i8 = 0, i16 = 0, i32 = 0, i64 = 0, f16 = 0, f32 = 0, f64 = 0;
};

struct ImageLimits {
  bool supported = false;
  size_t max_width_2d = 0, max_height_2d = 0;  // pixels
  size_t max_buffer_pixels = 0;                // for a 1-D image made from a buffer
  uint32_t row_pitch_alignment = 0;            // pixels; 0 if a 2-D image cannot view a buffer
  uint32_t base_address_alignment = 0;         // pixels; 0 in the same case
};

// Properties reported by the driver. Sizes are in bytes.
struct DeviceInfo {
  std::string name, vendor, platform, platform_version;
  std::string device_version, driver_version, c_version;
  DeviceKind kind = DeviceKind::kOther;

  // fp16 is the extension cl_khr_fp16 (arithmetic); storage through vload_half is always available.
  // NVIDIA does not list the extension, yet compiles half arithmetic without the mathematical
  // functions.
  bool fp16 = false, fp64 = false, int64 = false, subgroups = false;
  bool exact_divide = false;  // f32 division and square root are correctly rounded on request

  uint64_t global_memory = 0, max_allocation = 0, local_memory = 0, global_cache = 0;
  // Of a core's data cache and its ways, of a core's next cache, and of the last one; 0 where they
  // are not known.
  int64_t near_cache = 0, near_cache_ways = 0, core_cache = 0, shared_cache = 0;
  bool local_memory_is_real = false;  // separate memory, not a region of global memory
  size_t max_work_group_size = 0;
  std::array<size_t, 3> max_work_item_sizes = {0, 0, 0};
  uint32_t compute_units = 0, clock_mhz = 0;
  size_t base_alignment = 0;  // of sub-buffers and buffers
  // Whether a launch takes no longer with a part of a buffer than with a whole one. Drivers of
  // OpenCL keep track of the parts of a buffer at each launch.
  bool parts_are_free = false;
  VectorWidths preferred, native;
  ImageLimits image;
  std::vector<std::string> extensions;  // sorted

  bool is_nvidia = false;
  int compute_capability = 0;  // NVIDIA: 10 * major + minor, e.g. 90 for Hopper; else 0
  uint32_t warp_size = 0;      // NVIDIA; else 0
  bool is_pocl = false;
  bool is_native = false;  // this machine's processor without OpenCL (runtime/cpu)
  bool byte_dots = false;  // native: multiplies and adds bytes by one instruction (VNNI)

  bool HasExtension(std::string_view extension) const;
};

// The device and its driver, on which measured times depend, without bars and line ends.
std::string DriverText(const DeviceInfo& device);

struct Device {
  // OpenCL's handles: a cl_platform_id and a cl_device_id; null for a native device.
  void* platform = nullptr;
  void* id = nullptr;
  int index = 0;  // index in ListDevices()
  DeviceInfo info;
};

// Returns the device that `wish` selects among `devices`, sorted by kind: GPU, accelerator, CPU,
// other. Native devices are the first in ListDevices(), so they precede a CPU device of OpenCL.
//   ""                   the first device
//   "gpu", "cpu"         the first device of that kind
//   "pocl"               the first device of PoCL
//   "native"             the first native device
//   "2"                  the device with that index in the unsorted list
//   "cpu:1", "nvidia:0"  the device with that number among the devices that match the text before
//                        the colon; "cl:1" selects among all devices
//   any other text       the first device whose name, vendor or platform contains the text,
//                        ignoring case
// The message of NotFound lists the existing devices.
absl::StatusOr<Device> ChooseDevice(std::span<const Device> devices, std::string_view wish);

// Returns one line per device: `  0: GPU NVIDIA H200 (NVIDIA CUDA, OpenCL 3.0, driver 580.1)`.
std::string DescribeDevices(std::span<const Device> devices);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_DEVICE_H_
