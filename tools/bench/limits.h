// What a device reaches with kernels that do one thing: the limits that rows are compared with.
#ifndef TG_TOOLS_BENCH_LIMITS_H_
#define TG_TOOLS_BENCH_LIMITS_H_

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "tools/bench/row.h"

namespace tg::bench {

struct DeviceLimits {
  double copy_bytes_per_second = 0;  // read and written, of a copy larger than the caches
  double read_bytes_per_second = 0;  // of a sum over memory larger than the caches
  double flops_per_second = 0;       // f32, two for a fused multiply-add, operands in registers
};

// Runs the kernels. Each figure is the best of several runs and forms.
absl::StatusOr<DeviceLimits> MeasureLimits(const runtime::Device& device);

// The least time in which the device could do the row's work: the maximum of the time for its
// operations, and of the time for reading each operand and writing the result once. Operations of
// all types are compared with the limit for f32. If the result has fewer bytes than the operands,
// that many bytes count at the rate of a copy and the rest at the rate of reading.
double LimitSeconds(const Row& row, const DeviceLimits& limits);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_LIMITS_H_
