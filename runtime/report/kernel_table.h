// The table of a run's kernels and their times.
#ifndef TG_RUNTIME_REPORT_KERNEL_TABLE_H_
#define TG_RUNTIME_REPORT_KERNEL_TABLE_H_

#include <span>
#include <string>
#include <vector>

#include "ir/module.h"
#include "runtime/device/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/report/format.h"

namespace tg::runtime {

// Returns a table with one line per kernel, in launch order: number, name, global and local size,
// arguments, memory of its buffers, time (unless `times` is empty), GFLOP/s, and two rates in GB/s.
// The first rate counts the kernel's buffers (or its accesses, if these are fewer bytes), the
// second its accesses. A description of the computation follows in brackets, after `no input` if
// the kernel does not depend on an input; then, of an imported model, the nodes that the kernel
// computes, and the tensors that it stores. The first line has headings. `slowest_first` orders the
// lines by time; kernels keep their numbers.
std::string KernelTable(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                        bool color, bool slowest_first = false);

// Returns a text like `Conv 'conv1', Relu 'relu1' -> y`: the nodes of the model and the tensors, at
// most `limit` nodes (0: all). Empty if the kernel has no node.
std::string DescribeNodes(const PlannedKernel& kernel, size_t limit = 0);

// Returns a table of operators with their kernels and time, and one of the slowest nodes, both
// slowest first. A kernel counts for the node with the most work; the operators that are fused with
// it are listed. Empty without nodes or times. `limit`: the number of nodes at most.
std::string NodeTables(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       size_t limit);

// Returns the kernel's axes and directives: "i0:4 global, r0:8 reduce; local(i0, 4)".
std::string DescribeSchedule(const Kernel& kernel);

// Returns the bytes of a kernel's buffers, or of its accesses if these are fewer.
double TouchedBytes(const PlannedKernel& kernel);

// Returns a text like `12 kernels, 3.50 MOPS, 1.25 ms on the device, 1.80 ms in all, of which 550
// us are beyond kernels (2.80 GFLOP/s)`. Without times, the part about the device is omitted.
std::string RunSummary(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       double wall_seconds);

// Returns a text like `14 kernels, 12 depend on the input; 2 run once`: of the kernels of each run
// and of those of @init (`once`).
std::string DependenceSummary(std::span<const PlannedKernel> kernels,
                              std::span<const PlannedKernel> once);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_KERNEL_TABLE_H_
