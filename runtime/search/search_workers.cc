#include "runtime/search/search_workers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"

namespace tg::search {
namespace {

// The deadline of a schedule, in times of what compiling and running the first one took.
constexpr double kTimesOpening = 10;
// Opening the device, compiling and running the first schedule.
constexpr double kOpenDeadline = 300;

double SecondsAfter(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

SearchWorkers::SearchWorkers(std::string program, size_t count, double deadline)
    : program_(std::move(program)), deadline_(deadline), workers_(std::max<size_t>(count, 1)) {}

double SearchWorkers::Deadline() const { return deadline_ + kTimesOpening * opening_seconds_; }

void SearchWorkers::Begin(const Job& job) {
  job_ = job;
  opening_seconds_ = 0;
  limit_ = workers_.size();
  for (Worker& worker : workers_) worker.is_open = false;
}

absl::StatusOr<bool> SearchWorkers::OpenAtOnce(size_t wanted) {
  std::vector<size_t> opened;
  std::vector<bool> was_used;
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < wanted; ++i) {
    Worker& worker = workers_[i];
    if (worker.process != nullptr && !worker.process->is_alive()) worker = {};
    if (worker.is_open) continue;
    was_used.push_back(worker.process != nullptr);
    if (worker.process == nullptr) {
      TG_ASSIGN_OR_RETURN(worker.process, WorkerProcess::Start(program_));
    }
    Job job = job_;
    job.scratch += std::to_string(i);
    worker.process->Send(ToLine(job));
    opened.push_back(i);
  }
  bool any_was_used = false;
  for (size_t k = 0; k < opened.size(); ++k) {
    Worker& worker = workers_[opened[k]];
    const Answer answer = worker.process->Receive(kOpenDeadline);
    worker.is_open = answer.outcome == Outcome::kMeasured;
    if (worker.is_open) continue;
    if (opened[k] == 0) problem_ = answer;
    worker = {};
    any_was_used |= was_used[k];
  }
  if (!opened.empty()) opening_seconds_ = std::max(opening_seconds_, SecondsAfter(start));
  return any_was_used;
}

absl::StatusOr<size_t> SearchWorkers::Open(size_t wanted) {
  wanted = std::min(wanted, limit_);
  TG_ASSIGN_OR_RETURN(const bool any_was_used, OpenAtOnce(wanted));
  // What an earlier job left in a process may be why it fails.
  if (any_was_used) TG_RETURN_IF_ERROR(OpenAtOnce(wanted).status());
  const auto first_failed =
      std::find_if(workers_.begin(), workers_.begin() + static_cast<ptrdiff_t>(wanted),
                   [](const Worker& worker) { return !worker.is_open; });
  const auto count = static_cast<size_t>(first_failed - workers_.begin());
  if (count < wanted) limit_ = count;
  return count;
}

std::vector<Answer> SearchWorkers::Compile(const std::vector<Request>& requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    Request request = requests[i];
    request.only_compile = true;
    workers_[i].process->Send(ToLine(request));
  }
  std::vector<Answer> answers;
  for (size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(workers_[i].process->Receive(Deadline()));
  }
  return answers;
}

Answer SearchWorkers::Measure(size_t worker, const Request& request) {
  return workers_[worker].process->Ask(ToLine(request), Deadline());
}

}  // namespace tg::search
