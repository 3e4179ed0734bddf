// A worker (worker.h), as the search sees it: it may crash, or not answer.
#ifndef TG_RUNTIME_SEARCH_WORKER_PROCESS_H_
#define TG_RUNTIME_SEARCH_WORKER_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/search/protocol.h"

namespace tg::search {

class WorkerProcess {
 public:
  // Runs `program --search-worker`. Unavailable if it cannot be started.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const std::string& program);
  // Kills the process if it has not ended.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Writes the line, and waits for the answer. If there is none by then, or the process ends, the
  // process is killed and the outcome says which.
  Answer Ask(const std::string& line, double deadline_seconds);
  // The two halves of Ask: each line that is sent has an answer to receive. The deadline counts
  // from when it was sent.
  void Send(const std::string& line);
  Answer Receive(double deadline_seconds);

  // Whether another line may be asked.
  bool is_alive() const { return pid_ > 0; }

 private:
  WorkerProcess() = default;
  // Ends the process; returns how it ended: "signal 11", "exit code 1".
  std::string End();

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::chrono::steady_clock::time_point sent_;
  std::string buffered_;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_WORKER_PROCESS_H_
