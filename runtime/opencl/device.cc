#include "runtime/opencl/device.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/device_info.h"
#include "runtime/opencl/pocl_cache.h"

namespace tg::runtime {
namespace {

constexpr cl_int kPlatformNotFound = -1001;  // CL_PLATFORM_NOT_FOUND_KHR

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool Mentions(const Device& device, const std::string& lower_wish) {
  for (const std::string* text : {&device.info.name, &device.info.vendor, &device.info.platform}) {
    if (Lower(*text).find(lower_wish) != std::string::npos) return true;
  }
  return false;
}

// Returns the devices for which `accept` holds, sorted by preference of kind.
template <typename Accept>
std::vector<const Device*> Matching(std::span<const Device> devices, Accept accept) {
  std::vector<const Device*> out;
  for (const Device& device : devices) {
    if (accept(device)) out.push_back(&device);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Device* a, const Device* b) { return a->info.kind < b->info.kind; });
  return out;
}

std::vector<const Device*> Matching(std::span<const Device> devices, const std::string& lower) {
  if (lower.empty() || lower == "cl") {
    return Matching(devices, [](const Device&) { return true; });
  }
  if (lower == "gpu" || lower == "cpu") {
    const DeviceKind kind = lower == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
    return Matching(devices, [&](const Device& device) { return device.info.kind == kind; });
  }
  return Matching(devices, [&](const Device& device) { return Mentions(device, lower); });
}

std::optional<size_t> ParseIndex(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void PreparePocl() {
  static const bool done = [] {
    PreparePoclCache();
    ::setenv("POCL_AFFINITY", "1", /*overwrite=*/0);
    // PoCL reads the processors' topology from /sys and aborts if it is missing, as in a chroot. In
    // that case it gets a minimal topology description instead.
    if (::access("/sys/devices/system/cpu", F_OK) != 0) {
      const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
      const std::string machine = "NUMANode:1 core:" + std::to_string(cores) + " pu:1";
      ::setenv("HWLOC_SYNTHETIC", machine.c_str(), /*overwrite=*/0);
    }
    return true;
  }();
  static_cast<void>(done);
}

// Writes the warning about PoCL's cache to standard error, once.
void WarnAboutPoclCache() {
  static const bool done = [] {
    const std::string warning = PoclCacheWarning();
    if (!warning.empty()) std::fprintf(stderr, "tg: %s\n", warning.c_str());
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
      return "GPU";
    case DeviceKind::kAccelerator:
      return "accelerator";
    case DeviceKind::kCpu:
      return "CPU";
    case DeviceKind::kOther:
      break;
  }
  return "other";
}

bool DeviceInfo::HasExtension(std::string_view extension) const {
  return std::binary_search(extensions.begin(), extensions.end(), extension);
}

absl::StatusOr<std::vector<Device>> ListDevices() {
  PreparePocl();
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code == kPlatformNotFound || (code == CL_SUCCESS && count == 0)) return std::vector<Device>();
  TG_RETURN_IF_ERROR(ClStatus(code, "clGetPlatformIDs", "this machine"));
  std::vector<cl_platform_id> platforms(count);
  TG_CL_CALL("this machine", clGetPlatformIDs, count, platforms.data(), nullptr);

  std::vector<Device> devices;
  for (cl_platform_id platform : platforms) {
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS || n == 0)
      continue;
    std::vector<cl_device_id> ids(n);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids.data(), nullptr) != CL_SUCCESS)
      continue;
    for (cl_device_id id : ids) {
      cl_bool available = CL_FALSE;
      clGetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
      absl::StatusOr<DeviceInfo> info = QueryDevice(platform, id);
      if (available == CL_FALSE || !info.ok()) continue;
      if (info->is_pocl) WarnAboutPoclCache();
      devices.push_back({platform, id, static_cast<int>(devices.size()), std::move(*info)});
    }
  }
  return devices;
}

absl::StatusOr<Device> ChooseDevice(std::span<const Device> devices, std::string_view wish) {
  if (devices.empty()) {
    const std::string warning = PoclCacheWarning();
    return NotFound(
        "no OpenCL device on this machine; install the driver of the GPU, or PoCL "
        "(pocl-opencl-icd) for the CPU, and see that /etc/OpenCL/vendors names it",
        warning.empty() ? "" : "; ", warning);
  }
  const std::string lower = Lower(wish);
  const Device* found = nullptr;
  if (const std::optional<size_t> index = ParseIndex(wish); index.has_value()) {
    found = *index < devices.size() ? &devices[*index] : nullptr;
  } else if (const auto all = Matching(devices, lower); !all.empty()) {
    found = all[0];
  } else if (const size_t colon = lower.rfind(':'); colon != std::string::npos) {
    const std::optional<size_t> number = ParseIndex(std::string_view(lower).substr(colon + 1));
    const auto some = Matching(devices, lower.substr(0, colon));
    if (number.has_value() && *number < some.size()) found = some[*number];
  }
  if (found != nullptr) return *found;
  return NotFound("no OpenCL device matches '", wish,
                  "'; name one by cpu, gpu, its number or a part of its name:\n",
                  DescribeDevices(devices));
}

absl::StatusOr<Device> ChooseDevice(std::string_view wish) {
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, ListDevices());
  return ChooseDevice(devices, wish);
}

std::string DescribeDevices(std::span<const Device> devices) {
  std::string out;
  for (const Device& device : devices) {
    const DeviceInfo& info = device.info;
    out += Cat("  ", device.index, ": ", DeviceKindName(info.kind), " ", info.name, " (",
               info.platform, ", ", info.device_version, ", driver ", info.driver_version, ")\n");
  }
  return out;
}

}  // namespace tg::runtime
