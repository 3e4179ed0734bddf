#include "runtime/devices/devices.h"

#include <map>
#include <utility>

#include "base/status.h"
#include "runtime/cpu/native_context.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/list_devices.h"

namespace tg::runtime {

absl::StatusOr<std::vector<Device>> ListDevices() {
  std::vector<Device> all = cpu::ListNativeDevices();
  absl::StatusOr<std::vector<Device>> others = ListOpenClDevices();
  if (!others.ok()) {
    if (all.empty()) return others.status();
    return all;
  }
  for (Device& device : *others) {
    device.index = static_cast<int>(all.size());
    all.push_back(std::move(device));
  }
  return all;
}

absl::StatusOr<std::vector<Device>> ListDevicesFor(std::string_view wish) {
  if (wish.starts_with("native") || wish.starts_with("cpu")) {
    std::vector<Device> native = cpu::ListNativeDevices();
    if (ChooseDevice(native, wish).ok()) return native;
  }
  return ListDevices();
}

absl::StatusOr<Device> ChooseDevice(std::string_view wish) {
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, ListDevicesFor(wish));
  return ChooseDevice(devices, wish);
}

absl::StatusOr<std::shared_ptr<Context>> OpenContext(const Device& device, bool profiling) {
  TG_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<Context>> all,
                      OpenContexts(std::span(&device, 1), profiling));
  return all[0];
}

absl::StatusOr<std::vector<std::shared_ptr<Context>>> OpenContexts(std::span<const Device> devices,
                                                                   bool profiling) {
  std::vector<std::shared_ptr<Context>> out(devices.size());
  std::map<int, std::shared_ptr<Context>> native;  // by the device's index
  std::vector<Device> others;
  std::vector<size_t> places;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].info.is_native) {
      others.push_back(devices[i]);
      places.push_back(i);
      continue;
    }
    std::shared_ptr<Context>& context = native[devices[i].index];
    if (context == nullptr) context = cpu::OpenNative(devices[i], profiling);
    out[i] = context;
  }
  if (others.empty()) return out;
  TG_ASSIGN_OR_RETURN(const auto opened, OpenClContext::CreateAll(others, profiling));
  for (size_t i = 0; i < opened.size(); ++i) out[places[i]] = opened[i];
  return out;
}

absl::StatusOr<std::shared_ptr<Context>> AdoptContext(const OpenClHandles& handles,
                                                      std::string_view wish, bool profiling) {
  return OpenClContext::Adopt(static_cast<cl_context>(handles.context),
                              static_cast<cl_command_queue>(handles.queue), wish, profiling);
}

}  // namespace tg::runtime
