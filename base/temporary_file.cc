#include "base/temporary_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace tg {

// An element of a list that only grows, so that a signal handler can walk it at any time. Whoever
// takes `path` out of it by an atomic exchange owns the string.
struct TemporaryFile::Pending {
  std::atomic<char*> path{nullptr};
  pid_t process = 0;  // that created the file; a forked child does not remove its parent's files
  Pending* next = nullptr;

  static std::atomic<Pending*> first;
};
std::atomic<TemporaryFile::Pending*> TemporaryFile::Pending::first{nullptr};

// Calls only what a signal handler may call. The default action, which SA_RESETHAND has restored,
// ends the process when the handler returns.
void TemporaryFile::RemoveAllAndRaise(int signal) {
  const pid_t process = ::getpid();
  for (Pending* p = Pending::first.load(); p != nullptr; p = p->next) {
    char* path = p->path.exchange(nullptr);
    if (path != nullptr && p->process == process) ::unlink(path);
  }
  ::raise(signal);
}

void TemporaryFile::RemoveOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        action.sa_handler != SIG_DFL) {
      continue;
    }
    action = {};
    action.sa_handler = &RemoveAllAndRaise;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

TemporaryFile::Pending* TemporaryFile::Register(const std::string& path) {
  static std::mutex mutex;  // serializes Register; the signal handler must not lock
  const std::lock_guard<std::mutex> lock(mutex);
  Pending* free = Pending::first.load();
  while (free != nullptr && free->path.load() != nullptr) free = free->next;
  if (free == nullptr) {
    free = new Pending();
    free->next = Pending::first.load();
    Pending::first.store(free);
  }
  free->process = ::getpid();
  free->path.store(::strdup(path.c_str()));
  return free;
}

void TemporaryFile::Forget(Pending* pending) { std::free(pending->path.exchange(nullptr)); }

TemporaryFile::TemporaryFile(std::string target, std::optional<mode_t> mode)
    : target_(std::move(target)), mode_(mode) {
  static std::atomic<uint64_t> counter{0};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  do {  // A file of that name can be left from an older process with the same number.
    if (pending_ != nullptr) Forget(pending_);
    // The process id is queried each time, since a forked child has another one.
    path_ =
        target_ + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
    // Registered before the file exists, so that a signal cannot leave it behind.
    pending_ = Register(path_);
    fd_ = ::open(path_.c_str(), kFlags, mode_ ? 0600 : 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ >= 0) return;
  const int error = errno;
  Forget(std::exchange(pending_, nullptr));
  errno = error;
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) ::close(fd_);
  if (pending_ == nullptr) return;
  ::unlink(path_.c_str());
  Forget(pending_);
}

bool TemporaryFile::Commit() {
  if (mode_ && ::fchmod(fd_, *mode_) != 0) return false;
  if (::close(std::exchange(fd_, -1)) != 0) return false;
  if (::rename(path_.c_str(), target_.c_str()) != 0) return false;
  Forget(std::exchange(pending_, nullptr));
  return true;
}

}  // namespace tg
