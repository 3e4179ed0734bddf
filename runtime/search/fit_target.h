// Fits a target's fitted fields to measured times.
#ifndef TG_RUNTIME_SEARCH_FIT_TARGET_H_
#define TG_RUNTIME_SEARCH_FIT_TARGET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/target.h"
#include "runtime/search/record.h"

namespace tg::search {

// How far predictions of the times of schedules are off.
struct PredictionErrors {
  size_t kernels = 0, schedules = 0;
  double median = 0;   // of |predicted / measured - 1|
  double ordered = 1;  // share of the pairs of a kernel's schedules whose faster one is named
};

struct FitResult {
  passes::Target target;
  std::vector<std::string> changed;  // "not_hidden: 0.125 -> 0.2"
  // Of the half of the kernels that is fitted, and of the other one, with the fields before and
  // after.
  PredictionErrors fitted_before, fitted_after, other_before, other_after;
};

// `measurements` are those of one target and driver, `target` is that target. The fields are
// changed one after the other by factors, as long as predictions come closer to what was measured.
// NotFound if there are too few kernels to divide.
absl::StatusOr<FitResult> FitTarget(const std::vector<Measurement>& measurements,
                                    const std::vector<RecordedKernel>& kernels,
                                    const passes::Target& target);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_FIT_TARGET_H_
