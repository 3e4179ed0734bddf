#include "runtime/device/device.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

// What a machine with a supported processor lacks if it has no native device.
constexpr char kNativeNeeds[] =
    "build the code generator of the native device: bazel build //codegen/llvm:libtg_codegen.so";

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
  if (lower == "native") {
    return Matching(devices, [](const Device& device) { return device.info.is_native; });
  }
  if (lower == "pocl") {
    return Matching(devices, [](const Device& device) { return device.info.is_pocl; });
  }
  return Matching(devices, [&](const Device& device) { return Mentions(device, lower); });
}

std::optional<size_t> ParseIndex(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
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

absl::StatusOr<Device> ChooseDevice(std::span<const Device> devices, std::string_view wish) {
  if (devices.empty()) {
    return NotFound(
        "no device on this machine; install the driver of the GPU, or PoCL (pocl-opencl-icd) for "
        "the CPU, and see that /etc/OpenCL/vendors names it; or ",
        kNativeNeeds);
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
  return NotFound(
      "no device matches '", wish, "'", lower.starts_with("native") ? Cat("; ", kNativeNeeds) : "",
      "; name one by cpu, gpu, its number or a part of its name:\n", DescribeDevices(devices));
}

std::string DescribeDevices(std::span<const Device> devices) {
  std::string out;
  for (const Device& device : devices) {
    const DeviceInfo& info = device.info;
    out += Cat("  ", device.index, ": ", DeviceKindName(info.kind), " ", info.name, " (",
               info.platform, ", ", info.device_version,
               info.is_native ? "" : Cat(", driver ", info.driver_version), ")\n");
  }
  return out;
}

std::string DriverText(const DeviceInfo& device) {
  std::string text =
      device.is_native
          ? Cat(device.name, ", native, ", device.compute_units, " cores")
          : Cat(device.name, ", ", device.platform, ", driver ", device.driver_version);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '|') c = ' ';
  }
  return text;
}

}  // namespace tg::runtime
