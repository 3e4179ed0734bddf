#include "runtime/opencl/compile_ahead.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "runtime/io/file.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/opencl/pocl_cache.h"

extern char** environ;

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kFolderPrefix[] = "tg-compile-";
constexpr auto kStaleFolder = std::chrono::hours(1);

// ---- Records: a line `checksum path` for each file, where paths are relative to PoCL's folder.

// The files of a program that PoCL loads: compiled kernels, and the program as LLVM bitcode.
bool IsLoaded(const fs::path& file) {
  return file.extension() == ".so" || file.extension() == ".bc";
}

std::string RecordOf(const fs::path& cache, const std::vector<fs::path>& programs) {
  std::string record;
  for (const fs::path& program : programs) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(cache / program, error)) {
      if (!entry.is_regular_file(error) || !IsLoaded(entry.path())) continue;
      const absl::StatusOr<std::string> bytes = ReadFile(entry.path());
      if (!bytes.ok()) return "";
      record += Cat(Checksum(*bytes), " ", entry.path().lexically_relative(cache).string(), "\n");
    }
  }
  return record;
}

// Returns whether every file of the record is intact. Removes the programs of damaged files.
bool IsIntact(const fs::path& cache, std::string_view record) {
  bool intact = !record.empty();
  while (!record.empty()) {
    const size_t space = record.find(' '), end = record.find('\n');
    if (space > end || end == std::string_view::npos) return false;
    uint64_t checksum = 0;
    std::from_chars(record.data(), record.data() + space, checksum);
    const fs::path path(record.substr(space + 1, end - space - 1));
    record.remove_prefix(end + 1);
    const absl::StatusOr<std::string> bytes = ReadFile(cache / path);
    if (bytes.ok() && Checksum(*bytes) == checksum) continue;
    intact = false;
    // PoCL keeps a program in a folder of two levels.
    auto part = path.begin();
    if (path.is_relative() && std::distance(path.begin(), path.end()) > 2) {
      const fs::path program = *part / *std::next(part);
      std::error_code ignored;
      if (path.string().find("..") == std::string::npos) fs::remove_all(cache / program, ignored);
    }
  }
  return intact;
}

// ---- Folders

void RemoveStaleFolders(const fs::path& cache) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    if (!entry.path().filename().string().starts_with(kFolderPrefix)) continue;
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
    if (!error && age > kStaleFolder) stale.push_back(entry.path());
  }
  for (const fs::path& folder : stale) fs::remove_all(folder, error);
}

// Moves the programs that a worker compiled into PoCL's folder, and returns their relative paths. A
// program that is there already stays.
std::vector<fs::path> Install(const fs::path& from, const fs::path& cache) {
  std::vector<fs::path> programs;
  std::error_code error;
  for (const auto& first : fs::directory_iterator(from, error)) {
    if (!first.is_directory(error)) continue;
    for (const auto& second : fs::directory_iterator(first.path(), error)) {
      if (!second.is_directory(error)) continue;
      const fs::path program = second.path().lexically_relative(from);
      fs::create_directories((cache / program).parent_path(), error);
      fs::rename(second.path(), cache / program, error);
      if (error && !fs::exists(cache / program)) continue;
      programs.push_back(program);
    }
  }
  return programs;
}

// ---- Processes

struct Worker {
  const KeyedJob* job = nullptr;
  fs::path folder;
  pid_t pid = -1;
  int lines = -1;  // the read end of a pipe; an empty line after parsing, then one for each kernel
  size_t done = 0;
  std::string line;   // the part of a line that has been read
  int64_t since = 0;  // the end of the previous step, in HostNanos
};

// The environment of this process with another folder of PoCL's cache. The linkers that a worker
// starts load no layer that observes OpenCL. A worker may find one as the OpenCL library: Intel's
// intercept layer then writes its files into a folder with the worker's process number.
std::vector<std::string> EnvironmentFor(const fs::path& folder) {
  std::vector<std::string> all = {"POCL_CACHE_DIR=" + folder.string(), "CLI_AppendPid=1"};
  constexpr std::string_view kPreload = "LD_PRELOAD=";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (variable.starts_with("POCL_CACHE_DIR=") || variable.starts_with("CLI_AppendPid=")) continue;
    if (!variable.starts_with(kPreload)) {
      all.emplace_back(variable);
      continue;
    }
    const std::string preload = WithoutOpenClLayers(variable.substr(kPreload.size()));
    if (!preload.empty()) all.push_back(std::string(kPreload) + preload);
  }
  return all;
}

bool Start(Worker& worker, const std::string& executable, const fs::path& cache) {
  std::string folder = (cache / (std::string(kFolderPrefix) + "XXXXXX")).string();
  if (::mkdtemp(folder.data()) == nullptr) return false;
  worker.folder = folder;
  const fs::path input = worker.folder / "job";
  if (!WriteFile(input.string(), JobText(worker.job->job)).ok()) return false;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> environment = EnvironmentFor(worker.folder);
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  std::string name = executable, flag = kCompileWorkerFlag;
  worker.since = HostNanos();
  char* const arguments[] = {name.data(), flag.data(), nullptr};
  const int error = ::posix_spawn(&worker.pid, executable.c_str(), &actions, nullptr, arguments,
                                  variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  worker.lines = ends[0];
  if (error != 0) worker.pid = -1;
  return error == 0;
}

// Counts the kernels that the lines name, and records what each line ends.
void ReadLines(Worker& worker, std::string_view text, const std::string& row, SpanLog* spans) {
  const int64_t now = HostNanos();
  for (const char c : text) {
    if (c != '\n') {
      worker.line += c;
      continue;
    }
    const bool is_kernel = !worker.line.empty();
    if (is_kernel) ++worker.done;
    if (spans != nullptr) {
      spans->push_back({.name = is_kernel ? worker.line : "parse",
                        .start = worker.since,
                        .end = now,
                        .is_detail = true,
                        .row = row});
    }
    worker.since = now;
    worker.line.clear();
  }
}

// Reads the workers' lines until every worker has closed its pipe.
void Follow(std::vector<Worker>& workers, size_t total, const CompileAheadOptions& options) {
  for (;;) {
    std::vector<pollfd> open;
    std::vector<Worker*> of;
    size_t done = 0;
    for (Worker& w : workers) {
      done += w.done;
      if (w.lines < 0) continue;
      open.push_back({w.lines, POLLIN, 0});
      of.push_back(&w);
    }
    if (options.progress) options.progress(done, total);
    if (open.empty()) return;
    constexpr int kRefreshMilliseconds = 200;
    if (::poll(open.data(), open.size(), kRefreshMilliseconds) <= 0) continue;
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = ::read(open[i].fd, buffer, sizeof buffer);
      if (n > 0) {
        const size_t number = static_cast<size_t>(of[i] - workers.data()) + 1;
        ReadLines(*of[i], {buffer, static_cast<size_t>(n)}, Cat("compiler ", number),
                  options.spans);
      } else if (n == 0 || errno != EINTR) {
        ::close(std::exchange(of[i]->lines, -1));
      }
    }
  }
}

}  // namespace

bool CompileAhead(std::span<const KeyedJob> jobs, const CompileAheadOptions& options,
                  DiskCache& records) {
  const fs::path cache = PoclCacheDirectory();
  if (options.worker.empty()) return false;
  const bool keeps_records = !PoclCacheIsTemporary();
  std::vector<Worker> workers;
  size_t total = 0;
  for (const KeyedJob& job : jobs) {
    std::optional<std::string> record;
    if (keeps_records) record = records.Load(job.key);
    if (record.has_value() && IsIntact(cache, *record)) continue;
    workers.push_back({&job, {}, -1, -1, 0});
    total += job.job.kernels.size();
  }
  if (workers.empty()) return true;
  std::error_code error;
  fs::create_directories(cache, error);
  RemoveStaleFolders(cache);
  for (Worker& worker : workers) Start(worker, options.worker, cache);
  Follow(workers, total, options);
  for (Worker& worker : workers) {
    int status = 0;
    if (worker.pid > 0) {
      while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
      }
      // A worker that failed has compiled a part of its kernels, which is useful too.
      const std::vector<fs::path> programs = Install(worker.folder, cache);
      const std::string record = RecordOf(cache, programs);
      const bool succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (keeps_records && succeeded && !record.empty()) {
        records.Store(worker.job->key, record);
      }
    }
    if (!worker.folder.empty()) fs::remove_all(worker.folder, error);
  }
  return false;
}

}  // namespace tg::runtime
