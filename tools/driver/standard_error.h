// Errors of tools, as a user sees them.
#ifndef TG_TOOLS_DRIVER_STANDARD_ERROR_H_
#define TG_TOOLS_DRIVER_STANDARD_ERROR_H_

#include "absl/status/status.h"

namespace tg {

// What was written to standard output so far, then "tool: message" on standard error; no line where
// the message is empty. Bytes of the message that a terminal would take for commands are escaped.
void PrintError(const char* tool, const absl::Status& status);

// From here on, a standard error that cannot be written to (a full disk) loses messages and does
// not abort the process at its end. To be called once, at the start of a tool.
void TolerateFullStandardError();

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_STANDARD_ERROR_H_
