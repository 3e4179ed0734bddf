// Compares the memory that a run needs with what its devices have, before anything is allocated.
#ifndef TG_RUNTIME_SESSION_DEVICE_MEMORY_H_
#define TG_RUNTIME_SESSION_DEVICE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/device/context.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

// A device of a run. Devices that share a Context are one element.
struct DeviceMemory {
  const Context* context = nullptr;
  std::vector<std::string> names;  // in the module's buffers
  BufferPoolStats held;            // what the device has already allocated for the module
};

// The bytes that a run lacks on one device.
struct MemoryShortage {
  std::string graph, device;
  uint64_t needed_bytes = 0;     // of the buffers that are not allocated yet
  uint64_t temporary_bytes = 0;  // of these, of temporaries
  uint64_t available_bytes = 0;
  uint64_t device_bytes = 0;  // all memory of the device
  // The variables on which the needed bytes depend, with the values that were counted.
  std::vector<std::pair<const VarDecl*, int64_t>> sizes;

  // In one line, without what the caller can do about it.
  std::string ToString() const;
};

// Returns the device that lacks memory for the graphs' buffers, if one does. `allocated` has the
// buffers that exist. A variable without a value in `vars` counts with its greatest value.
absl::StatusOr<std::optional<MemoryShortage>> FindMemoryShortage(
    const Declarations& decls, std::span<const ScheduledGraph* const> graphs, const VarMap& vars,
    std::span<const DeviceMemory> devices, const NamedBuffers& allocated = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_DEVICE_MEMORY_H_
