#include "runtime/search/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/status.h"
#include "runtime/search/worker.h"

extern char** environ;

namespace tg::search {
namespace {

using Clock = std::chrono::steady_clock;

int MillisecondsUntil(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const std::string& program) {
  ::signal(SIGPIPE, SIG_IGN);  // a worker that has ended is an outcome of Ask
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return absl::UnavailableError(std::strerror(errno));
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess());
  worker->to_ = down[1];
  if (::pipe2(up, O_CLOEXEC) != 0) {
    ::close(down[0]);
    return absl::UnavailableError(std::strerror(errno));
  }
  worker->from_ = up[0];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  // Drivers' compilers write about kernels that do not fit.
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program, flag = kWorkerFlag;
  char* arguments[] = {name.data(), flag.data(), nullptr};
  const int error =
      ::posix_spawn(&worker->pid_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(down[0]);
  ::close(up[1]);
  if (error == 0) return worker;
  worker->pid_ = -1;
  return absl::UnavailableError(Cat("cannot start ", program, ": ", std::strerror(error)));
}

WorkerProcess::~WorkerProcess() {
  End();
  ::close(to_);
  ::close(from_);
}

std::string WorkerProcess::End() {
  if (pid_ <= 0) return "";
  int state = 0;
  // It may have ended already, for another reason.
  pid_t ended = ::waitpid(pid_, &state, WNOHANG);
  if (ended == 0) {
    ::kill(pid_, SIGKILL);
    do {
      ended = ::waitpid(pid_, &state, 0);
    } while (ended < 0 && errno == EINTR);
  }
  pid_ = -1;
  return WIFSIGNALED(state) ? Cat("signal ", WTERMSIG(state))
                            : Cat("exit code ", WEXITSTATUS(state));
}

void WorkerProcess::Send(const std::string& line) {
  sent_ = Clock::now();
  for (size_t done = 0; is_alive() && done < line.size();) {
    const ssize_t count = ::write(to_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // it has ended, which Receive sees
    done += static_cast<size_t>(count);
  }
}

Answer WorkerProcess::Ask(const std::string& line, double deadline_seconds) {
  Send(line);
  return Receive(deadline_seconds);
}

Answer WorkerProcess::Receive(double deadline_seconds) {
  const auto end = sent_ + std::chrono::milliseconds(static_cast<int64_t>(deadline_seconds * 1000));
  const auto crashed = [&] {
    // The end of its output comes before the end of the process.
    for (int i = 0; i < 100 && pid_ > 0 && ::kill(pid_, 0) == 0; ++i) {
      siginfo_t info = {};
      if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid != 0) {
        break;
      }
      ::usleep(10000);
    }
    return Answer{Outcome::kCrashed, 0, 0, Cat("the process ended: ", End())};
  };
  if (!is_alive()) return {Outcome::kCrashed, 0, 0, "the process has ended"};
  while (buffered_.find('\n') == std::string::npos) {
    pollfd wait = {from_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, MillisecondsUntil(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      End();
      return {Outcome::kHung, 0, 0,
              Cat("no answer in ", static_cast<int64_t>(deadline_seconds), " s")};
    }
    char bytes[4096];
    const ssize_t count = ::read(from_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return crashed();
    buffered_.append(bytes, static_cast<size_t>(count));
  }
  const size_t length = buffered_.find('\n');
  const absl::StatusOr<Answer> answer = ParseAnswer(std::string_view(buffered_).substr(0, length));
  buffered_.erase(0, length + 1);
  if (answer.ok()) return *answer;
  End();
  return {Outcome::kCrashed, 0, 0, std::string(answer.status().message())};
}

}  // namespace tg::search
