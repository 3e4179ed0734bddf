#include "tools/driver/tune_child.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "base/write_file.h"
#include "ir/text/printer.h"

extern char** environ;

namespace tg::driver {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> FindTune() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path tune = self.parent_path() / "tg-tune";
  if (!error && ::access(tune.c_str(), X_OK) == 0) return tune.string();
  return NotFound("--search is done by tg-tune, and there is no ", tune.string(),
                  ": bazel build //tools:tg-tune");
}

// The module's text. Its files are named in full, since it is read in another folder.
std::string TextFor(const Module& module) {
  const std::unique_ptr<Module> copy = Clone(module);
  std::error_code error;
  for (BufferDecl& buffer : copy->buffers) {
    if (buffer.file.empty()) continue;
    const fs::path path = fs::absolute(fs::path(module.path).parent_path() / buffer.file, error);
    if (!error) buffer.file = path.string();
  }
  return PrintModule(*copy);
}

absl::Status RunChild(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(Cat("cannot start ", arguments[0], ": ", std::strerror(error)));
  }
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return absl::OkStatus();
  return absl::UnavailableError("--search: tg-tune has failed");
}

}  // namespace

FoundSchedules::~FoundSchedules() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

absl::StatusOr<std::unique_ptr<FoundSchedules>> SearchWithTune(const Module& module,
                                                               const TuneRequest& request) {
  TG_ASSIGN_OR_RETURN(const std::string tune, FindTune());
  auto found = std::make_unique<FoundSchedules>();
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "tg-found-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(Cat("cannot make ", folder, ": ", std::strerror(errno)));
  }
  found->folder_ = folder;
  found->file_ = folder + "/schedules";
  const std::string model = folder + "/model.uop";
  TG_RETURN_IF_ERROR(WriteFile(model, TextFor(module)));
  const int64_t share = request.seconds / static_cast<int64_t>(request.graphs.size());
  for (const TuneRequest::GraphRun& run : request.graphs) {
    std::vector<std::string> arguments = {tune,
                                          model,
                                          Cat("--budget=", std::max<int64_t>(share, 1)),
                                          Cat("--graph=", run.graph),
                                          Cat("--pass=", request.pipeline),
                                          Cat("--export=", found->file_)};
    if (!request.device.empty()) arguments.push_back("--devices=" + request.device);
    if (!request.target.empty()) arguments.push_back("--target=" + request.target);
    for (const auto& [name, value] : run.vars) {
      arguments.push_back(Cat("--set=", name, "=", value));
    }
    TG_RETURN_IF_ERROR(RunChild(std::move(arguments)));
  }
  return found;
}

}  // namespace tg::driver
