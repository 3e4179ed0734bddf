// What a strict reader of small JSON documents needs beside llvm::json, whose parser recurses
// without a limit and lets the last of several equal keys win.
#ifndef TG_RUNTIME_IO_JSON_CHECK_H_
#define TG_RUNTIME_IO_JSON_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace tg::runtime {

// InvalidArgument where objects and arrays nest deeper than `max_depth`, or where an object has a
// key twice (after decoding escapes). Says nothing about any other error in the text: parse it as
// well.
absl::Status CheckJsonDepthAndKeys(std::string_view text, int max_depth, std::string_view name);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_JSON_CHECK_H_
