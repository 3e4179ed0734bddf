// Prints errors of tools for the user.
#ifndef TG_TOOLS_DRIVER_STANDARD_ERROR_H_
#define TG_TOOLS_DRIVER_STANDARD_ERROR_H_

#include "absl/status/status.h"

namespace tg::driver {

// Flushes standard output, then prints "tool: message" to standard error; prints nothing if the
// message is empty. Escapes bytes of the message that a terminal would interpret as control
// sequences.
void PrintError(const char* tool, const absl::Status& status);

// Exit codes of tools: of success, of work that failed, and of a wrong command line.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2;

// Prints an error and returns `code`.
int Fail(const char* tool, int code, const absl::Status& status);

// From now on, a standard error that cannot be written (a full disk) loses messages but does not
// abort the process at its end. Call it once, at the start of a tool.
void TolerateFullStandardError();

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_STANDARD_ERROR_H_
