#include "passes/pass_manager.h"

#include <chrono>
#include <utility>

#include "ir/text/diagnostic.h"
#include "ir/verify/verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::passes {
namespace {

// Forwards to an observer that the caller of the manager owns.
class BorrowedObserver final : public PassObserver {
 public:
  explicit BorrowedObserver(PassObserver& to) : to_(to) {}
  absl::Status Start(const Pipeline& pipeline, const Module& module) override {
    return to_.Start(pipeline, module);
  }
  absl::Status BeforePass(const PassRun& run, const Module& module) override {
    return to_.BeforePass(run, module);
  }
  absl::Status AfterPass(const PassRun& run, const Module& module) override {
    return to_.AfterPass(run, module);
  }
  std::string Failed(const PassRun& run, const Module& module,
                     const absl::Status& status) override {
    return to_.Failed(run, module, status);
  }
  void Finish() override { to_.Finish(); }

 private:
  PassObserver& to_;
};

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

absl::Status Prefixed(const std::string& prefix, const absl::Status& status) {
  return absl::Status(status.code(), prefix + std::string(status.message()));
}

// An invalid module after a pass is a bug of the pass, so the error is internal, not one of the
// input. The message shows the text of the invalid node, and then the line of the input from which
// the node was made, which may look quite different.
absl::Status NotValid(const Module& module, const Diagnostics& diagnostics) {
  const Diagnostic& first = diagnostics.errors()[0];
  std::string message = "the module is not valid after this pass: " + first.message;
  if (diagnostics.num_errors() > 1) {
    message += " (and " + std::to_string(diagnostics.num_errors() - 1) + " more)";
  }
  if (!first.snippet.empty()) message += "\n" + first.snippet.substr(0, first.snippet.size() - 1);
  if (first.loc.line != 0) {
    message += "\n  made from " + (module.path.empty() ? "" : module.path + ":") +
               std::to_string(first.loc.line) + ":" + std::to_string(first.loc.column);
  }
  message += "\n  this is a fault of tg; please report it with the input file and the command";
  return absl::InternalError(message);
}

}  // namespace

std::string PassRun::Title() const {
  return PrintStep(step()) + " (pass " + std::to_string(index + 1) + " of " +
         std::to_string(pipeline.size()) + ")";
}

absl::Status PassObserver::Start(const Pipeline&, const Module&) { return absl::OkStatus(); }
absl::Status PassObserver::BeforePass(const PassRun&, const Module&) { return absl::OkStatus(); }
absl::Status PassObserver::AfterPass(const PassRun&, const Module&) { return absl::OkStatus(); }
std::string PassObserver::Failed(const PassRun&, const Module&, const absl::Status&) { return ""; }
void PassObserver::Finish() {}

PassManager::PassManager(Pipeline pipeline, PassManagerOptions options)
    : pipeline_(std::move(pipeline)), options_(options), workers_(options.jobs) {
  if (options_.observer) {
    observers_.push_back(std::make_unique<BorrowedObserver>(*options_.observer));
  }
}

void PassManager::AddObserver(std::unique_ptr<PassObserver> observer) {
  observers_.push_back(std::move(observer));
}

absl::Status PassManager::Run(Module& module) {
  report_ = {};
  absl::Status status;
  if (options_.target) {
    status = RunAll(module, *options_.target);
  } else {
    const absl::StatusOr<Target> target = FindTarget(module.target);
    status = target.ok() ? RunAll(module, *target) : target.status();
  }
  for (const auto& observer : observers_) observer->Finish();
  return status;
}

absl::Status PassManager::RunAll(Module& module, const Target& target) {
  for (const auto& observer : observers_) {
    if (absl::Status status = observer->Start(pipeline_, module); !status.ok()) return status;
  }
  for (size_t i = 0; i < pipeline_.size(); ++i) {
    const PassRun run{pipeline_, i, target};
    if (options_.bisect_limit) {
      const bool runs = static_cast<int64_t>(i) < *options_.bisect_limit;
      LogBisect(run, module, runs);
      if (!runs) continue;
    }
    absl::Status status = RunOne(run, module);
    if (status.ok()) continue;
    status = Prefixed(run.Title() + ": ", status);
    std::string notes;
    for (const auto& observer : observers_) notes += observer->Failed(run, module, status);
    return absl::Status(status.code(), std::string(status.message()) + notes);
  }
  return absl::OkStatus();
}

absl::Status PassManager::RunOne(const PassRun& run, Module& module) {
  for (const auto& observer : observers_) {
    if (absl::Status status = observer->BeforePass(run, module); !status.ok()) return status;
  }
  PassContext context{run.target, run.step().options, {}, {}, &workers_};
  PassReport::Row& row = report_.rows.emplace_back();
  row.step = PrintStep(run.step());
  const Stopwatch pass_time;
  const absl::Status status = run.step().pass->run(module, context);
  row.pass_seconds = pass_time.Seconds();
  for (const auto& [name, count] : context.statistics) report_.statistics[name] += count;
  report_.remarks += context.remarks;
  if (options_.log) *options_.log << context.remarks;
  if (!status.ok()) return status;

  if (options_.verify_each) {
    const Stopwatch verify_time;
    Diagnostics diagnostics;
    VerifyModule(module, diagnostics);
    row.verify_seconds = verify_time.Seconds();
    if (diagnostics.has_errors()) return NotValid(module, diagnostics);
  }
  for (const auto& observer : observers_) {
    if (absl::Status after = observer->AfterPass(run, module); !after.ok()) return after;
  }
  return absl::OkStatus();
}

void PassManager::LogBisect(const PassRun& run, const Module& module, bool runs) const {
  if (!options_.log) return;
  *options_.log << "BISECT: " << (runs ? "running" : "NOT running") << " pass (" << run.index + 1
                << ") " << PrintStep(run.step()) << " on module @" << module.name << "\n";
}

}  // namespace tg::passes
