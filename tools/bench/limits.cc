#include "tools/bench/limits.h"

#include <algorithm>

#include "base/status.h"
#include "tools/calibrate/probes.h"

namespace tg::bench {

absl::StatusOr<DeviceLimits> MeasureLimits(const runtime::Device& device) {
  TG_ASSIGN_OR_RETURN(calibrate::Probes probes, calibrate::Probes::Create(device));
  DeviceLimits limits;
  const auto raise = [](double& limit, double measured) { limit = std::max(limit, measured); };
  for (const int width : {4, 16}) {
    TG_ASSIGN_OR_RETURN(const double copied, probes.CopyBytes(width));
    TG_ASSIGN_OR_RETURN(const double read, probes.ReadBytes(width));
    raise(limits.copy_bytes_per_second, copied);
    raise(limits.read_bytes_per_second, read);
  }
  for (const int width : {1, 4, 8, 16}) {
    TG_ASSIGN_OR_RETURN(const double flops, probes.MultiplyAdds(Scalar::kF32, width));
    raise(limits.flops_per_second, flops);
  }
  return limits;
}

double LimitSeconds(const Row& row, const DeviceLimits& limits) {
  const auto read = static_cast<double>(BytesRead(row)),
             written = static_cast<double>(BytesWritten(row));
  const double copied = std::min(read, written);
  const double memory = 2 * copied / limits.copy_bytes_per_second +
                        (read - copied) / limits.read_bytes_per_second +
                        (written - copied) / limits.copy_bytes_per_second;
  return std::max(memory, static_cast<double>(OperationsOf(row)) / limits.flops_per_second);
}

}  // namespace tg::bench
