// What tools that run on devices print instead of running.
#ifndef TG_TOOLS_DRIVER_DEVICE_LISTING_H_
#define TG_TOOLS_DRIVER_DEVICE_LISTING_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/driver/flags.h"

namespace tg::driver {

// Values of the options --help, --version and --list-devices.
struct ListingFlags {
  bool help = false, version = false, list_devices = false;
};
// The texts that are asked for, one after the other. An error if devices cannot be listed.
absl::StatusOr<std::string> DeviceToolListing(std::string_view tool, const ListingFlags& asked,
                                              const Flags& flags);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_DEVICE_LISTING_H_
