// Renders the kernels of a linear module and makes an executable of it.
#ifndef TG_RUNTIME_SESSION_MAKE_EXECUTABLE_H_
#define TG_RUNTIME_SESSION_MAKE_EXECUTABLE_H_

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/executable.h"
#include "runtime/session/device_session_options.h"

namespace tg::runtime {

// NotFound if a device of the module is not in the options. A graph that cannot be scheduled is no
// error: ScheduledGraph::problem says why.
absl::StatusOr<Executable> MakeExecutable(const Module& module,
                                          const DeviceSessionOptions& options);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_MAKE_EXECUTABLE_H_
