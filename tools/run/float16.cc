// --float16: the run with weights and activations stored as halves, against the run without.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/report/tensor_difference.h"
#include "runtime/session/given.h"
#include "runtime/session/tensors.h"
#include "tools/run/model_run.h"

namespace tg::run {

using runtime::HostTensor;

namespace {

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

// "largest difference 0.0012 of the largest value, 3.5", or how many elements differ.
std::string DescribeError(const HostTensor& half, const HostTensor& full) {
  const std::vector<double> a = runtime::Doubles(half), b = runtime::Doubles(full);
  size_t differ = 0, lost = 0;
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differ += a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]));
    if (!std::isfinite(b[i])) continue;
    largest = std::max(largest, std::abs(b[i]));
    if (std::isfinite(a[i])) {
      most = std::max(most, std::abs(a[i] - b[i]));
    } else {
      ++lost;
    }
  }
  if (!IsFloat(runtime::ScalarOf(full.type))) {
    return Cat(differ, " of ", a.size(), " elements differ");
  }
  std::string text = largest > 0 ? Cat("largest difference ", Number(most / largest),
                                       " of the largest value, ", Number(largest))
                                 : Cat("largest difference ", Number(most), ", of zeros");
  if (lost > 0) text += Cat("; ", lost, " elements are not finite");
  return text;
}

}  // namespace

absl::Status ModelRun::CompareWithFloat32() {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::DeviceSession> full, Compile(pipeline_));
  TG_RETURN_IF_ERROR(Feed(*full));
  for (int64_t i = 0; i < flags_.repeat; ++i) TG_RETURN_IF_ERROR(full->Run(graph_->name));
  for (const BufferDecl* buffer : graph_->needs.buffers) {
    if (buffer->role != Role::kOutput) continue;
    TG_ASSIGN_OR_RETURN(const HostTensor half, session_->Get(buffer->name));
    TG_ASSIGN_OR_RETURN(const HostTensor expected, full->Get(buffer->name));
    llvm::outs() << "@" << buffer->name
                 << " with float16 against float32: " << DescribeError(half, expected) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace tg::run
