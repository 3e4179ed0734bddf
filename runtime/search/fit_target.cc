#include "runtime/search/fit_target.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/status.h"
#include "ir/kernel_calls.h"
#include "ir/text/parser.h"
#include "passes/target_fields.h"
#include "runtime/report/format.h"
#include "runtime/search/space.h"

namespace tg::search {
namespace {

constexpr size_t kLeastKernels = 4;
// Schedules of a kernel that are fitted, at most: the predictions of all are made for each trial.
constexpr size_t kMostOfKernel = 30;
// A field is changed by these factors, the small ones after no large one has helped.
constexpr double kFactors[] = {2, 1.25, 1.06};
// What a field that is 0 is tried with, as a part of its unit's usual size: fields in seconds.
constexpr double kSecondsTried = 1e-8;
constexpr int kMostRounds = 8;
// A change helps if it lowers the loss by this part.
constexpr double kHelps = 1e-3;
// An error counts up to this: what the model does not describe must not decide the fields.
constexpr double kMostLoss = 1.0;
// A part of a time is at most all of it.
constexpr std::string_view kPartOfTime = "of the time";

struct TimedSchedule {
  size_t form = 0;
  std::vector<Directive> directives;
  double seconds = 0;
};

// A kernel of the record, whose schedules are predicted again and again. `target` is the one whose
// fields change.
class FitKernel {
 public:
  static std::unique_ptr<FitKernel> Make(const std::vector<const Measurement*>& measurements,
                                         const RecordedKernel& recorded,
                                         const passes::Target& target) {
    std::unique_ptr<FitKernel> kernel(new FitKernel());
    Diagnostics diagnostics;
    kernel->module_ = ParseModule(recorded.module, recorded.name, diagnostics);
    if (kernel->module_ == nullptr || kernel->module_->kernels.size() != 1) return nullptr;
    kernel->calls_ = std::make_unique<KernelCalls>(*kernel->module_);
    kernel->space_ = std::make_unique<Space>(*kernel->module_, *kernel->calls_,
                                             *kernel->module_->kernels[0], target);
    double first = HUGE_VAL;
    for (const Measurement* m : measurements) first = std::min(first, m->first_seconds);
    for (const Measurement* m : measurements) {
      if (kernel->schedules_.size() == kMostOfKernel) break;
      const std::optional<size_t> form = kernel->space_->FindForm(m->key);
      absl::StatusOr<std::vector<Directive>> directives = schedule::ParseDirectives(m->directives);
      if (!form || !directives.ok()) continue;
      TimedSchedule timed = {*form, *std::move(directives), m->share() * first};
      if (kernel->space_->Predict(timed.form, timed.directives) <= 0) continue;
      kernel->schedules_.push_back(std::move(timed));
    }
    return kernel->schedules_.empty() ? nullptr : std::move(kernel);
  }

  const std::vector<TimedSchedule>& schedules() const { return schedules_; }
  // With the target's present fields; 0 if it is not legal.
  double Predict(const TimedSchedule& schedule) const {
    return space_->Predict(schedule.form, schedule.directives);
  }
  double Loss() const {
    double sum = 0;
    for (const TimedSchedule& schedule : schedules_) {
      sum += std::min(kMostLoss, std::fabs(Predict(schedule) / schedule.seconds - 1));
    }
    return sum / static_cast<double>(schedules_.size());
  }

 private:
  std::unique_ptr<Module> module_;
  std::unique_ptr<KernelCalls> calls_;
  std::unique_ptr<Space> space_;
  std::vector<TimedSchedule> schedules_;
};

using FitKernels = std::vector<std::unique_ptr<FitKernel>>;

// Each kernel counts alike, whatever number of its schedules was measured.
double LossOf(const FitKernels& kernels) {
  double sum = 0;
  for (const auto& kernel : kernels) sum += kernel->Loss();
  return sum;
}

PredictionErrors ErrorsOf(const FitKernels& kernels) {
  PredictionErrors result;
  std::vector<double> errors;
  size_t pairs = 0, ordered = 0;
  for (const auto& kernel : kernels) {
    std::vector<double> predicted;
    for (const TimedSchedule& schedule : kernel->schedules()) {
      predicted.push_back(kernel->Predict(schedule));
      errors.push_back(std::fabs(predicted.back() / schedule.seconds - 1));
    }
    for (size_t i = 0; i < predicted.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double a = kernel->schedules()[i].seconds, b = kernel->schedules()[j].seconds;
        if (a == b || predicted[i] == predicted[j]) continue;
        ++pairs;
        ordered += (a < b) == (predicted[i] < predicted[j]);
      }
    }
  }
  std::sort(errors.begin(), errors.end());
  result.kernels = kernels.size();
  result.schedules = errors.size();
  if (!errors.empty()) result.median = errors[errors.size() / 2];
  if (pairs > 0) result.ordered = static_cast<double>(ordered) / static_cast<double>(pairs);
  return result;
}

struct FittedField {
  const passes::TargetField* field = nullptr;
  double passes::Target::*member = nullptr;
};

// Numbers by which the cost model predicts. Other fitted fields are limits of rules.
std::vector<FittedField> FittedFields() {
  std::vector<FittedField> fields;
  for (const passes::TargetField& field : passes::TargetFields()) {
    const auto* member = std::get_if<double passes::Target::*>(&field.member);
    if (field.source == passes::FieldSource::kFitted && member != nullptr) {
      fields.push_back({&field, *member});
    }
  }
  return fields;
}

// Three digits, as more are noise.
double Rounded(double x) { return std::strtod(runtime::FormatNumber("%.3g", x).c_str(), nullptr); }

// Tries other values of one field. Returns whether one helped.
bool Improve(const FittedField& field, double factor, const FitKernels& kernels,
             passes::Target& target, double& loss) {
  const double before = target.*field.member;
  const bool is_seconds = field.field->unit == "s";
  if (before == 0 && !is_seconds) return false;
  for (const double f : {factor, 1 / factor}) {
    const double tried = before == 0 ? kSecondsTried : Rounded(before * f);
    if (tried < field.field->least || (field.field->unit == kPartOfTime && tried > 1)) continue;
    target.*field.member = tried;
    const double with = LossOf(kernels);
    if (with < loss * (1 - kHelps)) {
      loss = with;
      return true;
    }
  }
  target.*field.member = before;
  return false;
}

}  // namespace

absl::StatusOr<FitResult> FitTarget(const std::vector<Measurement>& measurements,
                                    const std::vector<RecordedKernel>& recorded,
                                    const passes::Target& target) {
  std::map<std::string, std::vector<const Measurement*>> by_kernel;
  for (const Measurement& m : measurements) {
    if (IsTimed(m.outcome) && m.seconds > 0 && m.first_seconds > 0) {
      by_kernel[m.kernel].push_back(&m);
    }
  }
  FitResult result;
  result.target = target;
  FitKernels halves[2];
  size_t number = 0;
  for (const RecordedKernel& kernel : recorded) {
    const auto found = by_kernel.find(kernel.kernel);
    if (found == by_kernel.end()) continue;
    std::unique_ptr<FitKernel> made = FitKernel::Make(found->second, kernel, result.target);
    // The keys are hashes, so that their order divides kernels of all sizes.
    if (made != nullptr) halves[number++ % 2].push_back(std::move(made));
  }
  if (number < kLeastKernels) {
    return NotFound("the record has ", number, " kernels of target ", target.name,
                    " with measured times; a fit needs ", kLeastKernels);
  }
  result.fitted_before = ErrorsOf(halves[0]);
  result.other_before = ErrorsOf(halves[1]);
  const std::vector<FittedField> fields = FittedFields();
  double loss = LossOf(halves[0]);
  for (const double factor : kFactors) {
    bool has_helped = true;
    for (int round = 0; round < kMostRounds && has_helped; ++round) {
      has_helped = false;
      for (const FittedField& field : fields) {
        has_helped |= Improve(field, factor, halves[0], result.target, loss);
      }
    }
  }
  for (const FittedField& field : fields) {
    if (result.target.*field.member == target.*field.member) continue;
    result.changed.push_back(Cat(field.field->name, ": ", field.field->Text(target), " -> ",
                                 field.field->Text(result.target)));
  }
  result.fitted_after = ErrorsOf(halves[0]);
  result.other_after = ErrorsOf(halves[1]);
  return result;
}

}  // namespace tg::search
