// Whether a run fits into memory, before anything large is allocated.
#ifndef TG_TOOLS_RUN_MEMORY_H_
#define TG_TOOLS_RUN_MEMORY_H_

#include <map>
#include <set>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "ir/module.h"
#include "runtime/session/device_memory.h"

namespace tg::run {

// How the command line decides the sizes of a run, for advice in errors.
struct SizeOptions {
  std::set<std::string> fixed;                    // variables that a given file decides
  std::map<std::string, std::string> dimensions;  // by variable: the name that --var takes
};

// Whether these buffers fit into the machine's memory, filled with random numbers.
// ResourceExhausted names the variables without a value, and the options that give them one.
absl::Status CheckRandomInputs(const Module& module, std::span<const BufferDecl* const> buffers,
                               const runtime::VarMap& vars, const SizeOptions& options);

// Whether the buffers of a compiled graph and of @init fit into the memory of the devices, with
// errors as above.
absl::Status CheckDeviceMemory(const Module& compiled, const Graph& graph,
                               const runtime::VarMap& vars,
                               std::span<const runtime::DeviceMemory> devices,
                               const SizeOptions& options);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_MEMORY_H_
