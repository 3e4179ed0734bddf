// What a record of measurements says about predictions.
#ifndef TG_TOOLS_TUNE_TUNE_REPORT_H_
#define TG_TOOLS_TUNE_TUNE_REPORT_H_

#include <string>
#include <vector>

#include "runtime/search/record.h"

namespace tg::tune {

// For each target and driver: a line for each kernel with the time of the schedule that is chosen
// without a search, its prediction, and the best time; both schedules where the chosen one is slow;
// the median error of all predictions, and how well they order the schedules of a kernel.
std::string PredictionReport(const std::vector<search::Measurement>& measurements,
                             const std::vector<search::RecordedKernel>& kernels);

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_TUNE_REPORT_H_
