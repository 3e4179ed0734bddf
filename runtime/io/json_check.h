// Checks that a strict reader of small JSON documents needs in addition to llvm::json, whose parser
// recurses without a limit and lets the last of several equal keys win.
#ifndef TG_RUNTIME_IO_JSON_CHECK_H_
#define TG_RUNTIME_IO_JSON_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace tg::runtime {

// InvalidArgument if objects and arrays nest deeper than `max_depth`, or if an object has a key
// twice (after decoding escapes). It detects no other error, so the caller must also parse the
// text.
absl::Status CheckJsonDepthAndKeys(std::string_view text, int max_depth, std::string_view name);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_JSON_CHECK_H_
