// Predicted and measured times of kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/status.h"
#include "runtime/report/format.h"
#include "tools/run/model_run.h"

namespace tg::run {

using runtime::Cell;
using runtime::FormatNumber;
using runtime::FormatSeconds;

std::string ModelRun::PredictionTable() const {
  constexpr size_t kNameColumn = 1, kTermsColumn = 5;
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell>& head = rows.emplace_back();
  for (const char* title : {"", "kernel", "measured", "predicted", "error", "predicted cost"}) {
    head.emplace_back(title);
  }
  double measured_sum = 0, predicted_sum = 0;
  std::vector<double> errors;
  const std::span<const runtime::PlannedKernel> kernels = device_->last_plan()->kernels();
  for (size_t i = 0; i < kernels.size(); ++i) {
    const runtime::PlannedKernel& kernel = kernels[i];
    if (kernel.kernel == nullptr || i >= least_.kernels.size()) continue;
    const cost::Cost* cost = nullptr;
    for (const auto& device : device_->devices()) {
      if (device->context().get() != kernel.context) continue;
      cost = costs_.Find(device->code().target, kernel.kernel->name);
    }
    const double measured = least_.kernels[i].seconds();
    if (cost == nullptr || measured <= 0) continue;
    const double predicted = cost->OnDevice();
    measured_sum += measured;
    predicted_sum += predicted;
    errors.push_back(std::abs(predicted / measured - 1));
    rows.push_back({std::to_string(i + 1), kernel.kernel->name, FormatSeconds(measured),
                    FormatSeconds(predicted),
                    FormatNumber("%+.0f%%", 100 * (predicted / measured - 1)), cost->Text()});
  }
  if (errors.empty()) return "";
  std::sort(errors.begin(), errors.end());
  constexpr std::array kLeft = {kNameColumn, kTermsColumn};
  return Cat(runtime::FormatTable(rows, kLeft), "measured ", FormatSeconds(measured_sum),
             ", predicted ", FormatSeconds(predicted_sum), "; median error ",
             FormatNumber("%.0f%%", 100 * errors[errors.size() / 2]), "\n");
}

}  // namespace tg::run
