// Results of a run: shows, writes and checks them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/status.h"
#include "ir/interpret/allowed.h"
#include "ir/interpret/tensor_ops.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "runtime/media/tensors.h"
#include "runtime/report/format.h"
#include "runtime/report/tensor_difference.h"
#include "runtime/session/tensors.h"
#include "tools/driver/evaluation.h"
#include "tools/run/model_run.h"
#include "tools/run/onnx_inputs.h"
#include "tools/run/show.h"

namespace tg::run {

using runtime::Difference;
using runtime::HostTensor;

namespace {

// "largest difference 1.2e-06 (at [3, 7]: 1.5 and 1.5000012)"
std::string DescribeDifference(const Difference& d, const HostTensor& tensor) {
  if (d.element < 0) return "no difference";
  return Cat("largest difference ", runtime::FormatNumber("%.3g", d.absolute), " (at ",
             runtime::Coordinates(tensor.shape, d.element), ": ",
             runtime::FormatNumber("%.9g", d.a), " and ", runtime::FormatNumber("%.9g", d.b), ")");
}

absl::Status CheckFailed(std::string message) {
  return absl::FailedPreconditionError(std::move(message));
}

// The tolerances if the interpreter gives no bounds: 1e-5, absolute or relative, or four units in
// the last place of the type; unlimited if the module's flags permit that.
std::vector<double> Tolerances(const HostTensor& expected, ModuleFlags flags) {
  const Scalar scalar = runtime::ScalarOf(expected.type);
  std::vector<double> out = runtime::Doubles(expected);
  if (!IsFloat(scalar)) return std::vector<double>(out.size(), 0.0);
  const double relative = std::max(1e-5, 8 * interpret::UnitRoundoff(scalar));
  for (double& v : out) {
    if (interpret::AllowAnyValueFor(flags, v)) {
      v = HUGE_VAL;
    } else {
      v = std::isfinite(v) ? 1e-5 + relative * std::abs(v) : 0;
    }
  }
  return out;
}

// Keeps the first error.
void Collect(absl::Status& first, const absl::Status& next) {
  if (first.ok()) {
    first = next;
  } else if (!next.ok()) {
    first = absl::Status(
        first.code(), Cat(std::string(first.message()), "\ntg-run: ", std::string(next.message())));
  }
}

}  // namespace

absl::Status ModelRun::ShowResults() {
  for (const std::string& name : flags_.print) {
    TG_ASSIGN_OR_RETURN(const HostTensor tensor, session_->Get(SymbolOf(name)));
    llvm::outs() << PrintTensor(name, tensor, flags_.limit);
  }
  for (const std::string& name : flags_.show) {
    TG_ASSIGN_OR_RETURN(const HostTensor tensor, session_->Get(SymbolOf(name)));
    llvm::outs() << ShowTensor(name, tensor, flags_.limit);
  }
  return absl::OkStatus();
}

absl::Status ModelRun::WriteOutputs() {
  for (const NamedFile& output : flags_.outputs) {
    TG_ASSIGN_OR_RETURN(const HostTensor tensor, session_->Get(SymbolOf(output.name)));
    if (output.media.kind == runtime::MediaKind::kPicture) {
      TG_RETURN_IF_ERROR(runtime::WritePng(output.media, tensor));
    } else if (llvm::StringRef(output.file).endswith(".pb")) {
      TG_RETURN_IF_ERROR(WriteOnnxTensor(output.file, output.name, tensor));
      // safetensors supports the types that npy lacks.
    } else if (llvm::StringRef(output.file).endswith(".safetensors")) {
      TG_RETURN_IF_ERROR(runtime::WriteSafetensors(
          output.file, {{output.name, tensor.type, tensor.shape, tensor.data}}));
    } else {
      TG_RETURN_IF_ERROR(runtime::WriteNpy(output.file, tensor));
    }
  }
  return absl::OkStatus();
}

absl::Status ModelRun::CheckResults() {
  absl::Status status;
  for (const std::string& name : flags_.classify) {
    Collect(status, ClassifyResult(name, labels_ ? &*labels_ : nullptr));
  }
  for (const Expectation& expectation : flags_.expectations) Collect(status, Expect(expectation));
  if (!flags_.test_data.empty()) Collect(status, CompareWithTestData());
  if (flags_.check) Collect(status, CompareWithReference());
  return status;
}

absl::Status ModelRun::ClassifyResult(const std::string& name, const HostTensor* labels) {
  TG_ASSIGN_OR_RETURN(const HostTensor scores, session_->Get(SymbolOf(name)));
  TG_ASSIGN_OR_RETURN(const Classification found, Classify(name, scores, labels));
  llvm::outs() << DescribeClasses(name, scores, found, labels, class_names_, flags_.limit);
  if (labels == nullptr || found.classes.empty()) return absl::OkStatus();
  const auto rows = static_cast<double>(found.classes.size());
  const double accuracy = static_cast<double>(found.right) / rows;
  llvm::outs() << "accuracy " << found.right << " of " << found.classes.size() << " = "
               << runtime::FormatNumber("%.2f", accuracy * 100) << " %\n";
  if (flags_.min_accuracy && accuracy < *flags_.min_accuracy) {
    return CheckFailed(Cat("@", name, ": the accuracy of ", runtime::FormatNumber("%.4f", accuracy),
                           " is below ", runtime::FormatNumber("%g", *flags_.min_accuracy)));
  }
  return absl::OkStatus();
}

absl::Status ModelRun::Expect(const Expectation& expectation) {
  TG_ASSIGN_OR_RETURN(const runtime::NpyFile file, runtime::NpyFile::Open(expectation.file));
  TG_ASSIGN_OR_RETURN(const HostTensor actual, session_->Get(SymbolOf(expectation.name)));
  const absl::Status comparable =
      runtime::CheckComparable(actual.type, actual.shape, file.type(), file.shape());
  if (!comparable.ok()) {
    return absl::Status(comparable.code(), Cat("@", expectation.name, " and ", expectation.file,
                                               ": ", std::string(comparable.message())));
  }
  TG_ASSIGN_OR_RETURN(const HostTensor expected, file.Read());
  TG_ASSIGN_OR_RETURN(const Difference difference, runtime::Compare(actual, expected));
  constexpr double kFloatTolerance = 1e-5;
  const bool exact = !expectation.tolerance && !IsFloat(runtime::ScalarOf(expected.type));
  const double tolerance = exact ? 0 : expectation.tolerance.value_or(kFloatTolerance);
  const std::string text = Cat("@", expectation.name, " against ", expectation.file, ": ",
                               DescribeDifference(difference, actual));
  if (!(difference.absolute <= tolerance)) {
    return CheckFailed(Cat(text, ", more than ", runtime::FormatNumber("%g", tolerance)));
  }
  llvm::outs() << text << ", within " << runtime::FormatNumber("%g", tolerance) << "\n";
  return absl::OkStatus();
}

absl::Status ModelRun::CompareWithTestData() {
  // The tolerances of ONNX's own backend tests.
  constexpr double kAbsolute = 1e-7;
  absl::Status status;
  size_t i = 0;
  for (const BufferDecl& buffer : module_->buffers) {
    if (buffer.role != Role::kOutput || i == expected_.size()) continue;
    const HostTensor& expected = expected_[i++];
    TG_ASSIGN_OR_RETURN(const HostTensor actual, session_->Get(buffer.name));
    std::vector<double> bounds = runtime::Doubles(expected);
    const double relative = expected.type == runtime::ElementType::kBF16 ? 1.0 / 64 : 1e-3;
    for (double& b : bounds) b = std::isfinite(b) ? kAbsolute + relative * std::abs(b) : 0;
    const absl::StatusOr<Difference> difference = runtime::Compare(actual, expected, bounds);
    if (!difference.ok()) {
      Collect(status, absl::Status(
                          difference.status().code(),
                          Cat("@", buffer.name, ": ", std::string(difference.status().message()))));
      continue;
    }
    const std::string text =
        Cat("@", buffer.name, " against the test data: ", DescribeDifference(*difference, actual));
    if (!(difference->of_bound <= 1)) {
      Collect(status, CheckFailed(text));
    } else {
      llvm::outs() << text << "\n";
    }
  }
  if (i < expected_.size()) {
    Collect(status,
            CheckFailed(Cat(expected_.size(), " outputs in the test data, ", i, " of the model")));
  }
  return status;
}

absl::Status ModelRun::CompareWithReference() {
  // Kernels past the stage kernel have no error bounds.
  const bool tracked = driver::GivesBounds(*module_);
  const char* what = tracked ? "what rounding may do" : "the tolerance of 1e-05";
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::ReferenceSession> reference,
                      RunReference(tracked));
  absl::Status status;
  for (const BufferDecl* buffer : graph_->needs.buffers) {
    if (buffer->role != Role::kOutput && buffer->role != Role::kState) continue;
    TG_ASSIGN_OR_RETURN(const HostTensor actual, session_->Get(buffer->name));
    TG_ASSIGN_OR_RETURN(const HostTensor expected, reference->Get(buffer->name));
    std::vector<double> bounds =
        tracked ? reference->ErrorOf(buffer->name) : Tolerances(expected, module_->flags);
    // Bounds of 0: every correct evaluation gives the same values.
    bounds.resize(runtime::Doubles(expected).size(), 0);
    TG_ASSIGN_OR_RETURN(const Difference difference, runtime::Compare(actual, expected, bounds));
    const std::string text = Cat(
        "@", buffer->name, " against the interpreter: ", DescribeDifference(difference, actual));
    // Bounds are first-order in the rounding errors.
    constexpr double kSlack = 1.01;
    if (!(difference.of_bound <= kSlack)) {
      Collect(status,
              CheckFailed(Cat(text, ", ", runtime::FormatNumber("%.3g", difference.of_bound),
                              " times ", what)));
      continue;
    }
    llvm::outs() << text << ", " << runtime::FormatNumber("%.3g", difference.of_bound) << " of "
                 << what << "\n";
  }
  return status;
}

}  // namespace tg::run
