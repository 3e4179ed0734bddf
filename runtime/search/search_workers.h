// The worker processes of a search: they compile schedules in parallel, and run one at a time.
#ifndef TG_RUNTIME_SEARCH_SEARCH_WORKERS_H_
#define TG_RUNTIME_SEARCH_SEARCH_WORKERS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/search/protocol.h"
#include "runtime/search/worker_process.h"

namespace tg::search {

class SearchWorkers {
 public:
  // Processes of `program` (worker.h), which are started when they are needed. A schedule may take
  // `deadline` seconds, besides several times what the first one took.
  SearchWorkers(std::string program, size_t count, double deadline);

  size_t count() const { return workers_.size(); }

  // What the next requests are about. A process stays for the next job, with its device open.
  void Begin(const Job& job);
  // Opens the job in the first `wanted` workers, where it is not open. Returns how many can be
  // asked, which are fewer if the device lacks the memory for all; 0: the job itself is wrong, as
  // problem() says.
  absl::StatusOr<size_t> Open(size_t wanted);
  const Answer& problem() const { return problem_; }
  // The worker of each number compiles the request of that number; all of them at once.
  std::vector<Answer> Compile(const std::vector<Request>& requests);
  // Runs what the worker has compiled last, by turns with the first schedule.
  Answer Measure(size_t worker, const Request& request);

 private:
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    bool is_open = false;  // the job
  };
  // Opens the job in the first workers, all of them at once. Ends processes that cannot; returns
  // whether one of these had another job before.
  absl::StatusOr<bool> OpenAtOnce(size_t wanted);
  double Deadline() const;

  const std::string program_;
  const double deadline_;
  Job job_;
  double opening_seconds_ = 0;
  size_t limit_ = 0;  // how many workers the job is opened in
  Answer problem_;
  std::vector<Worker> workers_;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_SEARCH_WORKERS_H_
