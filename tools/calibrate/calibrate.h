// Measures a device, and describes it as a Target.
#ifndef TG_TOOLS_CALIBRATE_CALIBRATE_H_
#define TG_TOOLS_CALIBRATE_CALIBRATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/target.h"
#include "runtime/device/device.h"
#include "tools/calibrate/cache_steps.h"

namespace tg::calibrate {

struct Calibration {
  passes::Target target;
  std::vector<SweepPoint> sweep;   // of one work-group's reads
  std::vector<std::string> notes;  // what was measured and is no field, or could not be measured
};

// The preset that fits the device, with what the device reports, and with the rates, caches and
// overheads that probes measure.
absl::StatusOr<Calibration> Calibrate(const runtime::Device& device);

// A target file: the notes and the sweep as comments, then all fields.
std::string CalibrationText(const Calibration& calibration, const std::string& device);

}  // namespace tg::calibrate

#endif  // TG_TOOLS_CALIBRATE_CALIBRATE_H_
