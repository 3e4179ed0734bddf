#include "capi/task.h"

#include <pthread.h>

#include <utility>

#include "base/status.h"

namespace tg::capi {
namespace {

struct ThreadStart {
  std::function<void()> run;
};

void* RunThread(void* argument) {
  const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(argument));
  start->run();
  return nullptr;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Task>> Task::Start(std::function<absl::Status()> work) {
  std::shared_ptr<Task> task(new Task);
  auto start = std::make_unique<ThreadStart>();
  start->run = [task, work = std::move(work)] {
    absl::Status status = work();
    const std::lock_guard lock(task->mutex_);
    task->status_ = std::move(status);
    task->ended_.notify_all();
  };
  // std::thread ends a program without exceptions where there is no thread.
  pthread_t thread;
  if (pthread_create(&thread, nullptr, RunThread, start.get()) != 0) {
    return absl::ResourceExhaustedError("there is no thread for a call");
  }
  start.release();  // RunThread owns it
  pthread_detach(thread);
  return task;
}

absl::Status Task::Wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return status_.has_value(); });
  return *status_;
}

}  // namespace tg::capi
