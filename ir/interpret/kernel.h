// Interprets one kernel at any stage.
#ifndef TG_IR_INTERPRET_KERNEL_H_
#define TG_IR_INTERPRET_KERNEL_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/module.h"

namespace tg::interpret {

// An argument slot: `size` elements of a buffer from element `offset` (size -1: to its end). Two
// slots may share a buffer; a store through one is then visible through the other.
struct KernelArg {
  HostBuffer* buffer = nullptr;
  int64_t offset = 0;
  int64_t size = -1;
  // The buffer has a symbolic shape: the pointer's type has its greatest size, and an access beyond
  // its size in this run is an error.
  bool is_symbolic = false;
};

// Runs all work-items of `kernel` on its arguments. Buffers that it stores to are changed in place,
// with their `defined` and (where not empty) `written`. Behaviour that is undefined on a device is
// an error that names kernel, op and node.
absl::Status RunKernel(const Kernel& kernel, std::span<const KernelArg> args, const VarValues& vars,
                       const InterpretOptions& options);

// Which slots the kernel stores to.
std::vector<bool> StoredSlots(const Kernel& kernel, size_t num_slots);

// The beginning of an error message: "kernel @k, line 7: load %x: ".
std::string NodeLabel(const Body& body, std::string_view what, const UOp* u);

// The stages' own runners.
absl::Status RunShapedKernel(const Kernel& kernel, std::span<const KernelArg> args,
                             const VarValues& vars, const InterpretOptions& options);
absl::Status RunLoweredKernel(const Kernel& kernel, std::span<const KernelArg> args,
                              const VarValues& vars, const InterpretOptions& options);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_KERNEL_H_
