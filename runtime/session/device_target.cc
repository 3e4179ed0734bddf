#include "runtime/session/device_target.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "codegen/llvm/renderer.h"

namespace tg::runtime {
namespace {

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// PoCL names a CPU after LLVM's name of it.
bool IsArm(const DeviceInfo& device) {
  for (const char* part : {"cortex", "neoverse", "apple", "ampere", "aarch64", "thunderx"}) {
    if (Contains(device.name, part)) return true;
  }
  return Contains(device.vendor, "ARM");
}

std::string_view PresetFor(const DeviceInfo& device) {
  if (device.is_native) return device.native.f32 > 8 ? "cpu-avx512" : "cpu-avx2";
  if (device.kind == DeviceKind::kCpu) {
    if (IsArm(device)) return "cl-cpu-neon";
    // With sixteen lanes, a tile of accumulators needs more than all registers of a CPU whose
    // vectors have eight lanes.
    const uint32_t lanes = device.native.f32;
    return lanes > 0 && lanes <= 8 ? "cl-cpu-avx2" : "cl-cpu";
  }
  if (device.is_nvidia && device.compute_capability >= 90) return "cl-nvidia-sm90";
  if (Contains(device.vendor, "Intel")) return "cl-intel";
  if (Contains(device.vendor, "QUALCOMM") || Contains(device.name, "Adreno")) return "cl-adreno";
  return "cl-gpu";
}

// Matrix instructions of warpgroups are those of one architecture: no later one has them.
void KeepWarpgroups(const DeviceInfo& device, passes::Target& target) {
  constexpr int kHopper = 90;
  if (device.compute_capability != kHopper) target.warpgroup_flops_per_second = 0;
}

}  // namespace

passes::Target TargetForDevice(const DeviceInfo& device) {
  const absl::StatusOr<passes::Target> preset = passes::FindTarget(PresetFor(device));
  TG_CHECK(preset.ok());
  passes::Target target = *preset;
  // NVIDIA compiles small kernels that compute in half without listing the extension, but fails on
  // larger ones ("do not know how to split the result of this operator"). Half arithmetic is used
  // only if the extension is listed.
  target.fp16 = target.fp16 && device.fp16;
  target.fp64 = device.fp64;
  target.int64 = device.int64;
  if (device.is_native) target.masked_access = device.native.f32 >= 8;
  if (device.is_native && device.byte_dots) {
    target.byte_dots = true;
    target.dot4_rate = 1;
  }
  target.images = target.images && device.image.supported;
  if (device.local_memory > 0) {
    target.local_memory = std::min(target.local_memory, static_cast<int64_t>(device.local_memory));
  }
  const auto at_most = [](int preset_limit, size_t limit) {
    return static_cast<int>(std::min<size_t>(static_cast<size_t>(preset_limit), limit));
  };
  target.max_group_size = at_most(target.max_group_size, device.max_work_group_size);
  for (size_t d = 0; d < 3; ++d) {
    target.max_local[d] = at_most(target.max_local[d], device.max_work_item_sizes[d]);
  }
  const auto replace = [](int64_t& field, int64_t reported) {
    if (reported > 0) field = reported;
  };
  replace(target.near_cache_bytes, device.near_cache);
  replace(target.near_cache_ways, device.near_cache_ways);
  replace(target.core_cache_bytes, device.core_cache);
  replace(target.shared_cache_bytes, device.shared_cache);
  if (device.warp_size > 0) target.subgroup_size = static_cast<int>(device.warp_size);
  if (device.compute_units > 0) target.compute_units = static_cast<int>(device.compute_units);
  KeepWarpgroups(device, target);
  return target;
}

absl::StatusOr<passes::Target> ChooseTarget(std::string_view wish, std::string_view module_target,
                                            const DeviceInfo& device) {
  if (wish.empty()) wish = module_target;
  if (wish.empty() || wish == "host") return TargetForDevice(device);
  absl::StatusOr<passes::Target> target = passes::FindTarget(wish);
  // The OpenCL renderer writes dot4 as PTX.
  if (target.ok() && !device.is_native && !device.is_nvidia) target->dot4_rate = 0;
  if (target.ok()) KeepWarpgroups(device, *target);
  if (!target.ok() || !device.is_native) return target;
  passes::Target adapted = llvm_ir::Adapted(*std::move(target));
  adapted.byte_dots = adapted.byte_dots && device.byte_dots;
  adapted.masked_access = adapted.masked_access && device.native.f32 >= 8;
  // Without the instruction for it, dot4 is made of instructions on vectors that the device must
  // have.
  if (adapted.alu_width > static_cast<int>(device.native.f32) * 4) adapted.dot4_rate = 0;
  return adapted;
}

}  // namespace tg::runtime
