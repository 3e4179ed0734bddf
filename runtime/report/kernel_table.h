// The table that shows what a run's kernels were and took.
#ifndef TG_RUNTIME_REPORT_KERNEL_TABLE_H_
#define TG_RUNTIME_REPORT_KERNEL_TABLE_H_

#include <span>
#include <string>
#include <vector>

#include "ir/module.h"
#include "runtime/opencl/launch.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

// A line a kernel, in the order of launch: number, name, global and local size, arguments, memory
// of its buffers, time (where `times` is not empty), GFLOP/s, and two rates in GB/s: of its buffers
// (or of its accesses, if these are fewer bytes), and of its accesses. What the kernel computes
// follows in brackets. The first line has headings.
std::string KernelTable(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                        bool color);

// "12 kernels, 3.50 MOPS, 1.25 ms on the device, 1.80 ms in all (2.80 GFLOP/s)". Without times
// there is nothing about the device.
std::string RunSummary(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       double wall_seconds);

// "1.25 ms", "12.0 us", "3.40 s"; "1.50 MB" in powers of 1000.
std::string FormatSeconds(double seconds);
std::string FormatBytes(double bytes);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_KERNEL_TABLE_H_
