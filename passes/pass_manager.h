// PassManager: runs a pipeline on a module. It verifies the module after each pass unless told not
// to, collects statistics and times, and can skip all passes after the first N. Everything else
// that watches a run, such as printing and reproducers, is a PassObserver: see passes/instrument/.
#ifndef TG_PASSES_PASS_MANAGER_H_
#define TG_PASSES_PASS_MANAGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass.h"
#include "passes/pipeline_text.h"

namespace llvm {
class raw_ostream;
}  // namespace llvm

namespace tg::passes {

// One run of one pass.
struct PassRun {
  const Pipeline& pipeline;
  size_t index = 0;  // in the pipeline
  const Target& target;

  const PipelineStep& step() const { return pipeline[index]; }
  // "lower:max=8 (pass 3 of 6)".
  std::string Title() const;
};

// Watches a run. An error returned by a member function ends the run with that error.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual absl::Status Start(const Pipeline& pipeline, const Module& module);
  virtual absl::Status BeforePass(const PassRun& run, const Module& module);
  // Called after the verifier, if PassManagerOptions::verify_each is set: then the module is valid.
  virtual absl::Status AfterPass(const PassRun& run, const Module& module);
  // `status` is the error of the pass, of the verifier after it, or of an observer's BeforePass or
  // AfterPass. The module may be invalid. The returned text is appended to the error's message.
  virtual std::string Failed(const PassRun& run, const Module& module, const absl::Status& status);
  // Called at the end of the run, after success and after failure.
  virtual void Finish();
};

struct PassManagerOptions {
  // The target to compile for; null: the preset that the module names.
  const Target* target = nullptr;
  // Verify the module after every pass. The caller of Run() ensures that its input is valid.
  bool verify_each = true;
  // Run only this number of passes, the first ones, and log which ran and which were skipped.
  std::optional<int64_t> bisect_limit;
  // Number of threads that process kernels; 0: one per core. The result does not depend on it.
  int jobs = 0;
  // Receives each pass's remarks after the pass, and the log of `bisect_limit`; or null. The report
  // has the remarks in any case.
  llvm::raw_ostream* log = nullptr;
  // An observer that the manager does not own and that must outlive it; or null. It is called
  // before those of AddObserver.
  PassObserver* observer = nullptr;
};

// The measurements of one run.
struct PassReport {
  struct Row {
    std::string step;  // as PrintStep gives it
    double pass_seconds = 0;
    double verify_seconds = 0;
  };
  std::vector<Row> rows;  // one for each pass that ran, including the one that failed
  Statistics statistics;
  std::string remarks;
};

class PassManager {
 public:
  explicit PassManager(Pipeline pipeline, PassManagerOptions options = {});
  // Every event, including Failed and Finish, reaches the observers in the order of AddObserver.
  void AddObserver(std::unique_ptr<PassObserver> observer);

  // Runs the pipeline on the module. After an error the module is as the failing pass left it. The
  // error names the pass, unless it comes from an observer's Start or from an unknown target.
  absl::Status Run(Module& module);

  const PassReport& report() const { return report_; }

 private:
  absl::Status RunAll(Module& module, const Target& target);
  absl::Status RunOne(const PassRun& run, Module& module);
  void LogBisect(const PassRun& run, const Module& module, bool runs) const;

  const Pipeline pipeline_;
  const PassManagerOptions options_;
  ThreadPool workers_;
  std::vector<std::unique_ptr<PassObserver>> observers_;
  PassReport report_;
};

}  // namespace tg::passes

#endif  // TG_PASSES_PASS_MANAGER_H_
