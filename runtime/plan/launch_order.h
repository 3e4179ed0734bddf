// Schedule: the order in which a graph's kernels and copies between devices run, and the memory and
// variables that each of them gets. Needs no device.
//
// A kernel runs after everything on which its operands and its results' assigns depend, and before
// every node that reads one of the assigns. Among the valid orders, the schedule takes the order of
// a depth-first walk from the sink that visits sources from the left, so equal graphs give equal
// schedules.
#ifndef TG_RUNTIME_PLAN_LAUNCH_ORDER_H_
#define TG_RUNTIME_PLAN_LAUNCH_ORDER_H_

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
  int64_t size = -1;  // -1 means up to the buffer's end
  friend bool operator==(const BufferSlice&, const BufferSlice&) = default;
};

// A variable that a kernel takes. Its value is the module variable's value in the run, unless the
// graph binds it to a number.
struct VarUse {
  std::string name;
  std::optional<int64_t> bound;
};

struct ScheduledKernel {
  const Kernel* kernel = nullptr;    // null for a copy
  std::vector<BufferSlice> buffers;  // by slot; for a copy: destination, source
  std::vector<VarUse> vars;
  std::vector<std::string> nodes;  // of an imported model: what the kernel computes, the node with
                                   // the most work first; "Conv 'conv1'"
  std::vector<std::string> tensors;  // the names of its results, where they have one
};

// InvalidArgument, naming graph, node and line, if the graph holds something that a plan cannot
// execute: an op that kernelize would have put into a kernel, or a cyclic order. Unimplemented for
// loops.
absl::StatusOr<std::vector<ScheduledKernel>> MakeSchedule(const Module& module, const Graph& graph);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_LAUNCH_ORDER_H_
