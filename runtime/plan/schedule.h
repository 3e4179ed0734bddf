// Schedule: the order in which a graph's kernels and copies between devices run, and which memory
// and variables each is given. Needs no device.
//
// A kernel runs after everything that its operands and the assigns of its results ask for, and
// before every node that reads one of those assigns. Among the orders that this allows it is the
// one of a depth-first walk from the sink, sources from the left, so equal graphs give equal
// schedules.
#ifndef TG_RUNTIME_PLAN_SCHEDULE_H_
#define TG_RUNTIME_PLAN_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::runtime {

// A part of a buffer, in elements.
struct BufferSlice {
  int buffer = 0;  // index in Module::buffers
  int64_t offset = 0;
  int64_t size = -1;  // -1: to the buffer's end
  friend bool operator==(const BufferSlice&, const BufferSlice&) = default;
};

// A variable that a kernel takes: its value in this run is the module's variable's, unless the
// graph binds it to a number.
struct VarUse {
  std::string name;
  std::optional<int64_t> bound;
};

struct ScheduledKernel {
  const Kernel* kernel = nullptr;    // null: a copy
  std::vector<BufferSlice> buffers;  // by slot; of a copy: to where, from where
  std::vector<VarUse> vars;
};

// InvalidArgument, naming graph, node and line, where the graph holds something that a plan cannot
// execute: an op that kernelize would have turned into a kernel, or an order that contradicts
// itself. Unimplemented for loops.
absl::StatusOr<std::vector<ScheduledKernel>> MakeSchedule(const Module& module, const Graph& graph);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_SCHEDULE_H_
