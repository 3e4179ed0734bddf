// PassManager: runs a pipeline on a module. After each pass it verifies the module; it counts,
// times, and can stop after the first N passes. Everything else that watches a run (printing,
// reproducers, interpreting both sides) is a PassObserver: see passes/instrument/.
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

namespace tg {

// One run of one pass.
struct PassRun {
  const Pipeline& pipeline;
  size_t index = 0;  // in the pipeline
  const Target& target;

  const PipelineStep& step() const { return pipeline[index]; }
  // "lower:max=8 (pass 3 of 6)".
  std::string Title() const;
};

// Watches a run. An error that a function returns ends the run with that error.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual absl::Status Start(const Pipeline& pipeline, const Module& module);
  virtual absl::Status BeforePass(const PassRun& run, const Module& module);
  // The module is valid.
  virtual absl::Status AfterPass(const PassRun& run, const Module& module);
  // `status` says what went wrong in or after the pass. The module may be invalid. What is returned
  // is added to the error's message.
  virtual std::string Failed(const PassRun& run, const Module& module, const absl::Status& status);
  // The run is over, with whatever status.
  virtual void Finish();
};

struct PassManagerOptions {
  // What the module is compiled for; null: the preset that the module names.
  const Target* target = nullptr;
  // Verify the module after every pass. Who calls Run() vouches for the module before the first.
  bool verify_each = true;
  // Run only so many passes, and say which ran and which did not.
  std::optional<int64_t> bisect_limit;
  // Threads that work on kernels; 0: one for each core. What comes out does not depend on it.
  int jobs = 0;
  // Remarks and what bisecting says go here as they come; null: nowhere.
  llvm::raw_ostream* log = nullptr;
};

// What a run measured.
struct PassReport {
  struct Row {
    std::string step;  // as PrintStep gives it
    double pass_seconds = 0;
    double verify_seconds = 0;
  };
  std::vector<Row> rows;  // a row for each pass that ran
  Statistics statistics;
  std::string remarks;
};

class PassManager {
 public:
  explicit PassManager(Pipeline pipeline, PassManagerOptions options = {});
  // Called in the order in which they were added; Failed and Finish too.
  void AddObserver(std::unique_ptr<PassObserver> observer);

  // Runs the pipeline on the module. After an error the module is as the failing pass left it.
  // Errors name the pass.
  absl::Status Run(Module& module);

  const PassReport& report() const { return report_; }

 private:
  absl::Status RunAll(Module& module, const Target& target);
  absl::Status RunOne(const PassRun& run, Module& module);
  void LogBisect(const PassRun& run, const Module& module, bool runs) const;

  const Pipeline pipeline_;
  const PassManagerOptions options_;
  Workers workers_;
  std::vector<std::unique_ptr<PassObserver>> observers_;
  PassReport report_;
};

}  // namespace tg

#endif  // TG_PASSES_PASS_MANAGER_H_
