#include "runtime/search/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/io/npy.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/search/compare.h"
#include "runtime/search/protocol.h"
#include "runtime/search/reuse.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/open.h"
#include "runtime/session/open_devices.h"

namespace tg::search {
namespace {

using runtime::DeviceSession;

// A schedule is run at least kLeastRuns times by turns with the first one, then until both have run
// for kSeconds or kMostRuns times. One that after some runs takes more than a number of times what
// the first one takes is not measured further.
constexpr int kLeastRuns = 3, kMostRuns = 50;
constexpr double kSeconds = 0.1;
// How long runs may take with all that is around the kernels: on a busy machine that is much more.
constexpr double kMostSeconds = 0.5;
struct SlowLimit {
  int runs;
  double times;
};
constexpr SlowLimit kSlowLimits[] = {{2, 1.3}, {8, 1.1}};

// Sees what the pass schedule gives the kernel.
class ScheduleObserver final : public passes::PassObserver {
 public:
  absl::Status AfterPass(const passes::PassRun& run, const Module& module) override {
    if (run.step().pass != &schedule::kSchedulePass) return absl::OkStatus();
    key = schedule::KernelKey(module.kernels[0]->body);
    directives = schedule::DirectivesText(module.kernels[0]->directives);
    return absl::OkStatus();
  }
  std::string key, directives;
};

class KernelBench {
 public:
  // `device`: null, or that of an earlier job; it becomes the one that is opened.
  absl::Status Open(const Job& job, std::span<const passes::Pass* const> embedder,
                    std::shared_ptr<runtime::Context>& device) {
    job_ = job;
    TG_ASSIGN_OR_RETURN(module_, runtime::LoadModule(job.module));
    if (module_->kernels.size() != 1) return InvalidArgument(job.module, ": not one kernel");
    for (const BufferDecl& buffer : module_->buffers) {
      if (buffer.role == Role::kState) stored_.push_back(buffer.name);
    }
    for (const auto& [name, copies] : RotateBuffers(*module_, job.copies)) {
      const auto input = job_.inputs.find(name);
      if (input == job_.inputs.end()) continue;
      for (const std::string& copy : copies) job_.inputs[copy] = input->second;
    }
    const passes::PassRegistry registry = passes::MakeRegistry(embedder);
    TG_ASSIGN_OR_RETURN(pipeline_,
                        passes::ParsePipeline(job.pipeline, registry, passes::kPipeline));
    TG_ASSIGN_OR_RETURN(
        const std::vector<runtime::ChosenDevice> chosen,
        runtime::ChooseDevices(*module_, runtime::DeviceRequest{job.device, {}, true, device}));
    TG_RETURN_IF_ERROR(
        runtime::OpenDevices(*module_, chosen, job.target, /*profiling=*/true, options_));
    options_.time_kernels = true;
    device = options_.context;
    ScheduleObserver observer;
    TG_ASSIGN_OR_RETURN(first_, Compile(pipeline_, observer));
    TG_RETURN_IF_ERROR(Run(*first_).status());
    TG_ASSIGN_OR_RETURN(expected_, Results(*first_));
    return absl::OkStatus();
  }

  absl::Status CompileSchedule(const Request& request) {
    compiled_.reset();
    TG_ASSIGN_OR_RETURN(std::vector<Directive> directives,
                        schedule::ParseDirectives(request.directives));
    const schedule::MeasuredSchedule line = {
        request.key, options_.target.name, std::string(schedule::kAnyDriver), 1,
        1,           std::move(directives)};
    TG_RETURN_IF_ERROR(WriteFile(job_.scratch, schedule::PrintScheduleFile({line})));
    passes::Pipeline pipeline = pipeline_;
    for (passes::PipelineStep& step : pipeline) {
      if (step.pass == &schedule::kSchedulePass) step.options["file"] = job_.scratch;
    }
    ScheduleObserver observer;
    TG_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, Compile(pipeline, observer));
    if (observer.key != request.key || observer.directives != request.directives) {
      return InvalidArgument("the kernel does not get these directives");
    }
    compiled_ = std::move(session);
    compiled_key_ = request.key;
    compiled_directives_ = request.directives;
    is_compared_ = false;
    return absl::OkStatus();
  }

  absl::StatusOr<Answer> Measure(const Request& request) {
    const bool is_compiled = compiled_ != nullptr && compiled_key_ == request.key &&
                             compiled_directives_ == request.directives;
    if (!is_compiled) TG_RETURN_IF_ERROR(CompileSchedule(request));
    Answer answer;
    // A kernel may write what it reads, so that only the first run stores the same.
    if (!is_compared_) {
      TG_RETURN_IF_ERROR(Run(*compiled_).status());
      TG_ASSIGN_OR_RETURN(const std::vector<runtime::HostTensor> results, Results(*compiled_));
      for (size_t i = 0; i < results.size(); ++i) {
        const std::string what = Difference(expected_[i], results[i]);
        if (what.empty()) continue;
        answer.outcome = Outcome::kDiffers;
        answer.what = Cat("@", stored_[i], ": ", what);
        return answer;
      }
      is_compared_ = true;
    }
    TG_RETURN_IF_ERROR(TakeTurns(*compiled_, answer));
    return answer;
  }

 private:
  absl::StatusOr<std::unique_ptr<DeviceSession>> Compile(const passes::Pipeline& pipeline,
                                                         ScheduleObserver& observer) {
    runtime::DeviceSessionOptions options = options_;
    std::unique_ptr<Module> module = Clone(*module_);
    passes::PassManagerOptions passes;
    passes.observer = &observer;
    passes.jobs = 1;
    TG_RETURN_IF_ERROR(runtime::CompileForDevices(*module, pipeline, passes, options));
    TG_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session,
                        DeviceSession::Create(std::move(module), std::move(options)));
    for (const auto& [name, value] : job_.vars) TG_RETURN_IF_ERROR(session->SetVar(name, value));
    for (const auto& [name, file] : job_.inputs) {
      TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, runtime::ReadNpy(file));
      TG_RETURN_IF_ERROR(session->Set(name, tensor));
    }
    return session;
  }

  // Runs the kernel, with each copy of its buffers once. Returns the seconds of a call.
  static absl::StatusOr<double> Run(DeviceSession& session) {
    TG_RETURN_IF_ERROR(session.Run());
    const runtime::RunTimes& times = session.last_times();
    double seconds = 0;
    for (const runtime::LaunchTimes& kernel : times.kernels) seconds += kernel.seconds();
    return times.kernels.empty() ? 0 : seconds / static_cast<double>(times.kernels.size());
  }

  // What the kernel stores: its module has these as states (kernel_check::MakeReproduction).
  absl::StatusOr<std::vector<runtime::HostTensor>> Results(DeviceSession& session) {
    std::vector<runtime::HostTensor> results;
    for (const std::string& name : stored_) {
      TG_ASSIGN_OR_RETURN(runtime::HostTensor tensor, session.Get(name));
      results.push_back(std::move(tensor));
    }
    return results;
  }

  absl::Status TakeTurns(DeviceSession& session, Answer& answer) {
    // The first run of a program also loads it.
    TG_ASSIGN_OR_RETURN(answer.seconds, Run(session));
    TG_ASSIGN_OR_RETURN(answer.first_seconds, Run(*first_));
    const auto calls = static_cast<double>(session.last_times().kernels.size());
    double sum = calls * (answer.seconds + answer.first_seconds);
    const auto start = std::chrono::steady_clock::now();
    const auto is_late = [&] {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      return passed.count() > kMostSeconds;
    };
    for (int i = 1; i < kMostRuns && (i < kLeastRuns || (sum < kSeconds && !is_late())); ++i) {
      const auto is_slow = [&](const SlowLimit& limit) {
        return i >= limit.runs && answer.seconds > limit.times * answer.first_seconds;
      };
      if (std::any_of(std::begin(kSlowLimits), std::end(kSlowLimits), is_slow)) break;
      TG_ASSIGN_OR_RETURN(const double seconds, Run(session));
      TG_ASSIGN_OR_RETURN(const double first_seconds, Run(*first_));
      answer.seconds = std::min(answer.seconds, seconds);
      answer.first_seconds = std::min(answer.first_seconds, first_seconds);
      sum += calls * (seconds + first_seconds);
    }
    return absl::OkStatus();
  }

  Job job_;
  std::unique_ptr<Module> module_;
  passes::Pipeline pipeline_;
  runtime::DeviceSessionOptions options_;
  std::unique_ptr<DeviceSession> first_, compiled_;
  std::string compiled_key_, compiled_directives_;  // of compiled_
  bool is_compared_ = false;                        // compiled_ stores what the first one does
  std::vector<std::string> stored_;
  std::vector<runtime::HostTensor> expected_;
};

// Where answers go. Standard output itself goes nowhere, since drivers' compilers may write to it.
int TakeStandardOutput() {
  const int answers = ::dup(STDOUT_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
  return answers;
}

// Returns false if the search is gone.
bool Tell(int answers, const absl::StatusOr<Answer>& answer) {
  const std::string line =
      ToLine(answer.ok() ? *answer
                         : Answer{Outcome::kRefused, 0, 0, std::string(answer.status().message())});
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(answers, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// The kernels that a worker measures, one after the other.
class Jobs {
 public:
  explicit Jobs(std::span<const passes::Pass* const> embedder) : embedder_(embedder) {}

  absl::StatusOr<Answer> AnswerTo(const std::string& line) {
    if (IsJob(line)) {
      TG_RETURN_IF_ERROR(Begin(line));
      return Answer{};
    }
    TG_ASSIGN_OR_RETURN(const Request request, ParseRequest(line));
    if (bench_ == nullptr) return InvalidArgument("there is no job");
    if (!request.only_compile) return bench_->Measure(request);
    TG_RETURN_IF_ERROR(bench_->CompileSchedule(request));
    return Answer{};
  }

 private:
  absl::Status Begin(const std::string& line) {
    bench_.reset();  // frees its memory
    TG_ASSIGN_OR_RETURN(const Job job, ParseJob(line));
    auto bench = std::make_unique<KernelBench>();
    TG_RETURN_IF_ERROR(bench->Open(job, embedder_, device_));
    bench_ = std::move(bench);
    return absl::OkStatus();
  }

  const std::span<const passes::Pass* const> embedder_;
  std::shared_ptr<runtime::Context> device_;
  std::unique_ptr<KernelBench> bench_;
};

}  // namespace

int RunWorker(std::span<const passes::Pass* const> embedder) {
  // The worker is useless without the process that started it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  runtime::KeepOpenClLayersFromChildren();
  const int answers = TakeStandardOutput();
  Jobs jobs(embedder);
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!Tell(answers, jobs.AnswerTo(line))) return 1;
  }
  return 0;
}

}  // namespace tg::search
