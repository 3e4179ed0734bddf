// Task: a call in another thread, until somebody has waited for it.
#ifndef TG_CAPI_TASK_H_
#define TG_CAPI_TASK_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::capi {

class Task {
 public:
  // ResourceExhausted if there is no thread for it.
  static absl::StatusOr<std::shared_ptr<Task>> Start(std::function<absl::Status()> work);
  // Waits for the end and returns what `work` has.
  absl::Status Wait();

 private:
  Task() = default;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<absl::Status> status_;
};

}  // namespace tg::capi

#endif  // TG_CAPI_TASK_H_
