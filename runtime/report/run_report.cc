#include "runtime/report/run_report.h"

#include <algorithm>

namespace tg::runtime {
namespace {

// The least time that the device's rates allow: compute and memory overlap.
void SetLimit(KernelReport& kernel, const DeviceReport& device) {
  const double compute = kernel.ops / device.flops_per_second;
  const double memory = kernel.touched_bytes / device.bytes_per_second;
  kernel.limit_seconds = std::max(compute, memory);
  kernel.limited_by = compute > memory ? "compute" : "memory";
}

void SetRates(KernelReport& kernel, double all_seconds) {
  kernel.share = kernel.flops = kernel.bandwidth = kernel.limit_share = std::nullopt;
  if (!kernel.seconds || *kernel.seconds <= 0) return;
  kernel.share = *kernel.seconds / all_seconds;
  kernel.flops = kernel.ops / *kernel.seconds;
  kernel.bandwidth = kernel.touched_bytes / *kernel.seconds;
  kernel.limit_share = kernel.limit_seconds / *kernel.seconds;
}

}  // namespace

void Summarize(RunReport& report) {
  TotalsReport& totals = report.totals;
  const double run_seconds = totals.run_seconds;
  totals = {};
  totals.run_seconds = run_seconds;
  totals.sources = static_cast<int64_t>(report.sources.size());
  for (const std::string& source : report.sources) {
    totals.source_lines += std::count(source.begin(), source.end(), '\n');
  }
  for (KernelReport& kernel : report.kernels) {
    SetLimit(kernel, report.devices[static_cast<size_t>(kernel.device)]);
    (kernel.is_copy ? totals.copies : totals.kernels) += 1;
    totals.ops += kernel.ops;
    totals.touched_bytes += kernel.touched_bytes;
    totals.device_seconds += kernel.seconds.value_or(0);
    totals.limit_seconds += kernel.limit_seconds;
  }
  totals.other_seconds = std::max(0.0, totals.run_seconds - totals.device_seconds);
  for (KernelReport& kernel : report.kernels) SetRates(kernel, totals.device_seconds);
  std::vector<int64_t>& live = report.memory.live_by_kernel;
  live.assign(report.kernels.size(), 0);
  for (const BufferReport& buffer : report.buffers) {
    if (buffer.role != "temp") continue;
    for (int64_t i = buffer.first; i <= buffer.last; ++i)
      live[static_cast<size_t>(i)] += buffer.bytes;
  }
}

}  // namespace tg::runtime
