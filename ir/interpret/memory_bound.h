// How much memory interpreting a graph takes, before it is interpreted.
#ifndef TG_IR_INTERPRET_MEMORY_BOUND_H_
#define TG_IR_INTERPRET_MEMORY_BOUND_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/module.h"

namespace tg::interpret {

// Three quarters of the machine's memory, or of what the process may have of it (ulimit -v).
int64_t UsableMemory();

// The peak number of bytes that values and buffers take, computed from their shapes and last uses.
// `vars`: the values of all variables.
int64_t PeakBytes(const Module& module, const Graph& graph, const VarValues& vars,
                  const InterpretOptions& options);

// ResourceExhausted if the peak exceeds InterpretOptions::max_bytes. The message names the value at
// which the peak is reached.
absl::Status CheckMemory(const Module& module, const Graph& graph, const VarValues& vars,
                         const InterpretOptions& options);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_MEMORY_BOUND_H_
