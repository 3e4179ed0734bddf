#include "tools/driver/device_listing.h"

#include <vector>

#include "base/status.h"
#include "runtime/devices/devices.h"
#include "tools/driver/listing.h"

namespace tg::driver {

absl::StatusOr<std::string> DeviceToolListing(std::string_view tool, const ListingFlags& asked,
                                              const Flags& flags) {
  std::string text;
  if (asked.help) text += flags.Help();
  if (asked.version) text += VersionText(tool);
  if (asked.list_devices) {
    TG_ASSIGN_OR_RETURN(const std::vector<runtime::Device> devices, runtime::ListDevices());
    text += devices.empty() ? "no device\n" : runtime::DescribeDevices(devices);
  }
  return text;
}

}  // namespace tg::driver
