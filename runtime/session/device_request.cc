#include "runtime/session/device_request.h"

#include "base/status.h"

namespace tg::runtime {

absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::span<const std::string> texts) {
  DeviceRequest request;
  bool has_plain = false;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      if (has_plain) {
        return InvalidArgument("the device is given twice, as '", request.plain, "' and '", text,
                               "'; NAME=DEVICE says it of one that the module names");
      }
      request.plain = text;
      has_plain = true;
      continue;
    }
    const std::string name = text.substr(0, equals);
    if (name.empty() || equals + 1 == text.size()) {
      return InvalidArgument("expected DEVICE or NAME=DEVICE, not '", text, "'");
    }
    if (!request.named.emplace(name, text.substr(equals + 1)).second) {
      return InvalidArgument("device '", name, "' is given twice");
    }
  }
  return request;
}

}  // namespace tg::runtime
