#include "tools/fuzz/worker.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace tg::fuzz {
namespace {

// Shared memory that the child writes and the parent reads after the child's death.
struct Shared {
  uint64_t seed;
  char step[128];
};

enum class Record : char { kFailure = 'F', kCoverage = 'C' };

void WriteAll(int fd, const void* data, size_t n) {
  const char* p = static_cast<const char*>(data);
  while (n > 0) {
    const ssize_t written = write(fd, p, n);
    if (written <= 0) _exit(3);
    p += written;
    n -= static_cast<size_t>(written);
  }
}

void WriteRecord(int fd, Record kind, uint64_t seed, const std::string& text) {
  const uint64_t size = text.size();
  WriteAll(fd, &kind, 1);
  WriteAll(fd, &seed, sizeof seed);
  WriteAll(fd, &size, sizeof size);
  WriteAll(fd, text.data(), text.size());
}

class PipeWorker : public Worker {
 public:
  PipeWorker(int fd, Shared* shared) : fd_(fd), shared_(shared) {}

  void Begin(uint64_t seed) {
    shared_->seed = seed;
    Step("generate");
  }
  void Step(std::string_view step) override {
    const size_t n = std::min(step.size(), sizeof shared_->step - 1);
    std::memcpy(shared_->step, step.data(), n);
    shared_->step[n] = 0;
  }
  void Fail(const std::string& pass, const std::string& message) override {
    WriteRecord(fd_, Record::kFailure, shared_->seed, pass + "\n" + message);
    ++failures_;
  }
  Coverage& coverage() override { return coverage_; }
  size_t failures() const { return failures_; }
  void Flush() {
    WriteRecord(fd_, Record::kCoverage, 0, coverage_.Save());
    coverage_ = Coverage();
  }

 private:
  int fd_;
  Shared* shared_;
  size_t failures_ = 0;
  Coverage coverage_;
};

class Parent {
 public:
  Parent(const WorkOptions& options, const std::function<void(uint64_t, Worker&)>& run)
      : options_(options), run_(run) {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TG_CHECK(memory != MAP_FAILED);
    shared_ = static_cast<Shared*>(memory);
  }
  ~Parent() { munmap(shared_, sizeof(Shared)); }

  WorkResult Run() {
    uint64_t next = options_.first;
    const uint64_t end = options_.first + options_.count;
    while (next < end && result_.failures.size() < options_.max_failures && !OutOfTime()) {
      next = RunChild(next, end);
    }
    result_.seeds = next - options_.first;
    result_.seconds = Seconds();
    return std::move(result_);
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool OutOfTime() const { return options_.max_seconds > 0 && Seconds() > options_.max_seconds; }

  // Returns the next seed to run.
  uint64_t RunChild(uint64_t first, uint64_t end) {
    int pipe_ends[2];
    TG_CHECK(pipe(pipe_ends) == 0);
    const int messages = memfd_create("stderr", 0);
    TG_CHECK(messages >= 0);
    shared_->seed = first;
    std::fflush(nullptr);
    const pid_t child = fork();
    TG_CHECK(child >= 0);
    if (child == 0) {
      close(pipe_ends[0]);
      dup2(messages, 2);
      Child(first, end, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    Read(pipe_ends[0]);
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    const uint64_t last = shared_->seed;
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
      const bool endless =
          WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
      std::string what =
          endless ? "does not end within " + std::to_string(options_.seconds_per_seed) + " s"
          : WIFSIGNALED(status) ? std::string("died: ") + strsignal(WTERMSIG(status))
                                : "left with status " + std::to_string(WEXITSTATUS(status));
      const std::string said = LastLine(messages);
      if (!said.empty()) what += ": " + said;
      result_.failures.push_back({last, shared_->step, what});
    }
    close(messages);
    return last + 1;
  }

  // Ends the process when it has used a processor for this time, or, on a machine that is busy with
  // others, a few times as long after now. 0: no limit.
  static void Limit(unsigned seconds) {
    constexpr unsigned kWaiting = 4;
    const itimerval timer = {{0, 0}, {static_cast<time_t>(seconds), 0}};
    TG_CHECK(setitimer(ITIMER_PROF, &timer, nullptr) == 0);
    alarm(kWaiting * seconds);
  }

  // Stops when a limit is reached, with the next seed to run in `shared_`.
  [[noreturn]] void Child(uint64_t first, uint64_t end, int fd) {
    PipeWorker worker(fd, shared_);
    const size_t limit = options_.max_failures - result_.failures.size();
    for (uint64_t seed = first; seed < end && !OutOfTime() && worker.failures() < limit; ++seed) {
      worker.Begin(seed);
      Limit(options_.seconds_per_seed);
      run_(seed, worker);
      Limit(0);
      if (seed % 256 == 255) worker.Flush();
    }
    worker.Flush();
    _exit(0);
  }

  void Read(int fd) {
    std::string data;
    char chunk[65536];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) {
      data.append(chunk, static_cast<size_t>(n));
      size_t at = 0;
      constexpr size_t kHeader = 1 + 2 * sizeof(uint64_t);
      while (data.size() - at >= kHeader) {
        uint64_t seed = 0, size = 0;
        std::memcpy(&seed, data.data() + at + 1, sizeof seed);
        std::memcpy(&size, data.data() + at + 1 + sizeof seed, sizeof size);
        if (data.size() - at < kHeader + size) break;
        Take(static_cast<Record>(data[at]), seed, data.substr(at + kHeader, size));
        at += kHeader + size;
      }
      data.erase(0, at);
    }
  }

  void Take(Record kind, uint64_t seed, const std::string& text) {
    if (kind == Record::kCoverage) {
      result_.coverage.Load(text);
    } else {
      const size_t line = text.find('\n');
      result_.failures.push_back({seed, text.substr(0, line), text.substr(line + 1)});
    }
  }

  static std::string LastLine(int fd) {
    const off_t size = lseek(fd, 0, SEEK_END);
    std::string text(static_cast<size_t>(std::min<off_t>(size, 4096)), ' ');
    const ssize_t n = pread(fd, text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }

  const WorkOptions options_;
  const std::function<void(uint64_t, Worker&)>& run_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Shared* shared_;
  WorkResult result_;
};

}  // namespace

std::string FailureKind(const SeedFailure& f) {
  const std::string& m = f.message;
  if (m.find(" differ") != std::string::npos) return f.pass + ": values differ";
  if (const size_t rule = m.find("[V"); rule != std::string::npos) {
    return f.pass + ": " + m.substr(rule, m.find(']', rule) + 1 - rule);
  }
  // Omits everything specific to the program: names, numbers, types.
  std::string out = f.pass + ":";
  std::string word;
  for (char c : m.substr(0, m.find('\n')) + " ") {
    if (c != ' ') {
      word += c;
      continue;
    }
    const bool plain = word.find_first_of("0123456789%@[(#") == std::string::npos;
    if (plain && !word.empty()) out += " " + word;
    word.clear();
  }
  return out.substr(0, 140);
}

WorkResult RunIsolated(const WorkOptions& options,
                       const std::function<void(uint64_t seed, Worker& worker)>& run) {
  return Parent(options, run).Run();
}

}  // namespace tg::fuzz
