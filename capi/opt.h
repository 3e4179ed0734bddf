// Passes over the text of a module.
#ifndef TG_CAPI_OPT_H_
#define TG_CAPI_OPT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tg::capi {

struct OptOptions {
  std::string passes, emit = "uop", format = "auto", target, path = "<text>";
};

// Returns the module after the passes as text, or the source of its kernels.
absl::StatusOr<std::string> Optimize(std::string_view text, const OptOptions& options);

}  // namespace tg::capi

#endif  // TG_CAPI_OPT_H_
