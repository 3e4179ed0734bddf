// Information that tools print about themselves: version, passes, targets.
#ifndef TG_TOOLS_DRIVER_LISTING_H_
#define TG_TOOLS_DRIVER_LISTING_H_

#include <string>
#include <string_view>

#include "passes/pass_registry.h"

namespace tg::driver {

inline constexpr std::string_view kVersion = "0.1.0";

// A line with the tool, its version, and the version of the text format.
std::string VersionText(std::string_view tool);
// A line for each pass, then one for each of its options with the default.
std::string ListPasses(const passes::PassRegistry& registry);
std::string ListTargets();

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_LISTING_H_
