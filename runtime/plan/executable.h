// Executable: a compiled module as data, which is all that a run needs: the order of kernels and
// copies, code with the data to launch it, and the declarations of buffers and variables. It holds
// no node of the IR.
//
// Indices of buffers and variables are those of Declarations, indices of kernels those of
// `kernel_names`.
#ifndef TG_RUNTIME_PLAN_EXECUTABLE_H_
#define TG_RUNTIME_PLAN_EXECUTABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "codegen/launch_data.h"
#include "ir/decls.h"

namespace tg::runtime {

// A part of a buffer, in elements.
struct BufferSlice {
  int buffer = 0;
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

// A step of a graph: a run of a kernel, or a copy between devices.
struct ScheduledKernel {
  static constexpr int kCopy = -1;
  int kernel = kCopy;
  std::vector<BufferSlice> buffers;  // by slot; for a copy: destination, source
  std::vector<VarUse> vars;
  std::vector<std::string> nodes;  // of an imported model: what the kernel computes, the node with
                                   // the most work first; "Conv 'conv1'"
  std::vector<std::string> tensors;  // the names of its results, where they have one
  bool depends_on_input = true;      // input_dependence.h
  std::vector<int> held;  // of the first and the last step of a loop: the buffers that are in use
                          // from one iteration to the next

  bool is_copy() const { return kernel == kCopy; }
};

// Steps of a graph that are run repeatedly.
struct ScheduledLoop {
  size_t first = 0, last = 0;  // the steps [first, last) are an iteration
  codegen::SizeExpr trip;      // how often they run
  std::string step;            // the variable that is the number of the iteration
  // Buffers that change places after each iteration. After the loop the first one of a pair has
  // what the last iteration wrote to the second one.
  std::vector<std::pair<int, int>> pairs;
  // A buffer with one bool: the loop ends before an iteration that finds false there. -1: none.
  int condition = -1;
};

// A variable that gets its value in the run, from a buffer with one integer.
struct ScheduledMeasure {
  size_t before = 0;  // the step before which it is read; it is outside of loops
  int buffer = 0;
  std::string var;
};

// The steps of a graph in order, and what its caller must give.
struct ScheduledGraph {
  std::string name;
  std::vector<ScheduledKernel> steps;
  std::vector<ScheduledLoop> loops;        // by `first`; a loop comes before the loops inside it
  std::vector<ScheduledMeasure> measures;  // by `before`
  std::vector<int> buffers;                // that the graph names
  std::vector<int> vars;                   // without the variables that the graph binds
  absl::Status problem;                    // why it cannot be run, if so
};

// The work of one launch, summed over all work-items. Doubles, since products of trip counts exceed
// 2^63.
struct KernelWork {
  // Elementwise operations per lane that compute values, not addresses, gates or masks (a select of
  // a constant by index arithmetic), and that the result needs: steps of blocks that overlap, which
  // are computed twice, count once. A multiply-add counts 2, a matrix instruction 2 for each of its
  // products. Casts count 0. So does the negation of a comparison, because there is no op for ==.
  double ops = 0;
  double load_bytes = 0, store_bytes = 0;  // global memory only, including repeated accesses
};

// A kernel as it was compiled for one device.
struct CompiledKernel {
  int kernel = 0;
  std::string name;                   // in the module
  std::string colored_name;           // codegen/kernel_names.h
  std::vector<std::string> metadata;  // what the kernel computes, for people
  std::string schedule;               // its axes and directives, for people
  codegen::RenderedKernel code;
  int64_t local_bytes = 0;         // local memory of a work-group
  std::optional<KernelWork> work;  // none: it depends on variables
  std::string object;              // machine code of a native device, if it is known already
};

// Source that is compiled at once, with the kernels in it. A native device has no programs: each of
// its kernels is compiled alone.
struct ProgramSource {
  std::vector<size_t> kernels;  // indices in DeviceCode::kernels
  std::string source;
  std::string binary;  // as the driver returned it, if it is known already
};

// The code for one device.
struct DeviceCode {
  std::vector<std::string> names;  // names of this device in the declarations; "": the default one
  std::string target;              // name of the passes' target
  double flops_per_second = 0, bytes_per_second = 0;  // of that target
  std::vector<CompiledKernel> kernels;
  std::vector<ProgramSource> programs;
};

struct Executable : Declarations {
  std::vector<std::string> kernel_names;
  std::vector<ScheduledGraph> graphs;
  std::vector<DeviceCode> devices;  // the first one is the default device
};

// The graph with this name; null if there is none.
inline const ScheduledGraph* FindGraph(const Executable& executable, std::string_view name) {
  for (const ScheduledGraph& graph : executable.graphs) {
    if (graph.name == name) return &graph;
  }
  return nullptr;
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_EXECUTABLE_H_
