#include "runtime/opencl/list_devices.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "runtime/opencl/cl_check.h"
#include "runtime/opencl/device_info.h"
#include "runtime/opencl/pocl_cache.h"

namespace tg::runtime {
namespace {

constexpr cl_int kPlatformNotFound = -1001;  // CL_PLATFORM_NOT_FOUND_KHR

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

absl::StatusOr<std::vector<Device>> ListOpenClDevices() {
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
  // PoCL may be missing for want of a cache.
  if (devices.empty()) WarnAboutPoclCache();
  return devices;
}

}  // namespace tg::runtime
