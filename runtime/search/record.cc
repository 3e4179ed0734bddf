#include "runtime/search/record.h"

#include <utility>

#include "base/status.h"

namespace tg::search {

absl::StatusOr<schedule::MeasuredSchedule> ToSchedule(const Measurement& m) {
  TG_ASSIGN_OR_RETURN(std::vector<Directive> directives, schedule::ParseDirectives(m.directives));
  return schedule::MeasuredSchedule{m.key,           m.target,  m.driver,
                                    m.first_seconds, m.seconds, std::move(directives)};
}

absl::Status MemoryRecord::Add(const Measurement& m) {
  all_[{m.kernel, m.target, m.driver, m.key, m.directives}] = m;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Measurement>> MemoryRecord::Of(const std::string& kernel,
                                                          const std::string& target,
                                                          const std::string& driver) {
  std::vector<Measurement> found;
  for (auto it = all_.lower_bound({kernel, target, driver, "", ""}); it != all_.end(); ++it) {
    const Measurement& m = it->second;
    if (m.kernel != kernel || m.target != target || m.driver != driver) break;
    found.push_back(m);
  }
  return found;
}

absl::StatusOr<std::vector<Measurement>> MemoryRecord::All() {
  std::vector<Measurement> all;
  for (const auto& [key, measurement] : all_) all.push_back(measurement);
  return all;
}

absl::Status MemoryRecord::AddKernel(const RecordedKernel& kernel) {
  kernels_[kernel.kernel] = kernel;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordedKernel>> MemoryRecord::Kernels() {
  std::vector<RecordedKernel> kernels;
  for (const auto& [key, kernel] : kernels_) kernels.push_back(kernel);
  return kernels;
}

std::vector<schedule::MeasuredSchedule> BestSchedules(
    const std::vector<Measurement>& measurements) {
  // By kernel rather than by form: a kernel that is fastest in one form must not be given a
  // schedule for another one.
  std::map<std::tuple<std::string, std::string, std::string>, const Measurement*> best;
  for (const Measurement& m : measurements) {
    if (m.outcome != Outcome::kConfirmed || m.first_seconds <= 0 || m.seconds <= 0) continue;
    if (m.share() > kGain) continue;
    const Measurement*& known = best[{m.kernel, m.target, m.driver}];
    if (known == nullptr || m.share() < known->share()) known = &m;
  }
  std::vector<schedule::MeasuredSchedule> schedules;
  for (const auto& [key, m] : best) {
    absl::StatusOr<schedule::MeasuredSchedule> schedule = ToSchedule(*m);
    if (schedule.ok()) schedules.push_back(*std::move(schedule));
  }
  return schedule::MergeSchedules(std::move(schedules));
}

}  // namespace tg::search
