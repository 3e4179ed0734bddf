// ModelRun: the steps of tg-run on a module.
#ifndef TG_TOOLS_RUN_MODEL_RUN_H_
#define TG_TOOLS_RUN_MODEL_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontend/onnx/import_onnx.h"
#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/io/host_tensor.h"
#include "runtime/kernel_check/kernel_check.h"
#include "runtime/media/tensors.h"
#include "runtime/report/run_report.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/given.h"
#include "runtime/session/open.h"
#include "runtime/session/reference_session.h"
#include "runtime/specialize/specializer.h"
#include "tools/driver/predicted_costs.h"
#include "tools/driver/tune_child.h"
#include "tools/run/memory.h"
#include "tools/run/run_flags.h"

namespace tg::run {

class ModelRun {
 public:
  // `half`: the pipeline of --float16.
  ModelRun(RunFlags flags, passes::Pipeline pipeline, passes::Pipeline half);

  // Runs all steps; results go to standard output. Stops at the first error, whose message is empty
  // if diagnostics have been printed. A failed check is an error too, but the other checks still
  // run.
  absl::Status Run(const std::string& path);

 private:
  // Whether the device is there that the command line asks for: reading and compiling a large model
  // takes minutes.
  absl::Status FindDevice() const;
  absl::Status Read(const std::string& path);
  // artifact.cc: a compiled model instead of a module.
  absl::Status ReadArtifact(const std::string& path);
  absl::Status OpenArtifact();
  absl::Status UnpackAllSources();
  // Sets graph_.
  absl::Status FindGraph();
  absl::Status ReadInputs();
  // Reads the inputs' shapes, which the import of an ONNX model needs. Fills inputs_ and expected_.
  absl::Status ReadOnnxInputs();
  absl::Status ReadLabels();
  // The type and shape of a buffer of module_, for contents that are made to fit it.
  absl::StatusOr<runtime::TensorForm> FormOf(const std::string& name) const;
  // The symbol in the module's text for `name`, which is from the command line.
  std::string SymbolOf(const std::string& name) const;
  // Whether to list the module's inputs and outputs instead of an error: the command line neither
  // gives an input nor names a result, so that the user probably does not know the model. Scripts
  // get errors of one line. Test data may give no more than an empty optional, which is no input.
  bool WantsList() const { return inputs_.empty() && GivesNothing(); }
  bool GivesNothing() const {
    return flags_.inputs.empty() && flags_.outputs.empty() && !flags_.random_inputs &&
           flags_.test_data.empty();
  }
  // Prints what the model takes and gives (signature.cc). The first is an error if it takes inputs.
  absl::Status ListOnnxModel(const std::string& path) const;
  void ListModule(const std::vector<runtime::Needs>& needs) const;
  // Commas separate the names of a list, but a model's names may have commas too: joins what are
  // parts of a name. The more names a list has, the better.
  void JoinNames(std::vector<std::string>& names) const;
  absl::Status CheckNames() const;
  absl::Status CheckGiven() const;
  // For advice in errors about memory (signature.cc).
  SizeOptions SizeOptionsOf() const;
  // Opens the device, or the interpreter.
  absl::Status Open();
  absl::Status OpenDevice();
  // --search: sets flags_.schedules.
  absl::Status Search(const passes::Pipeline& pipeline);
  absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> Compile(const passes::Pipeline& pipeline);
  // What does not depend on the pipeline. Kernels that are observed are not timed.
  runtime::OpenOptions OpenOptionsOf(bool is_observed);
  void TellDevices(const runtime::DeviceSessionOptions& session);
  // Whether a compiled module is within the bounds of the command line, and fits the devices.
  absl::Status CheckBounds(const Module& compiled,
                           const runtime::DeviceSessionOptions& session) const;
  absl::Status Feed(runtime::Session& session) const;
  absl::Status RunAll();
  absl::StatusOr<std::unique_ptr<runtime::ReferenceSession>> RunReference(bool track_error);

  // --check=kernels (kernels.cc): gets each kernel as it was before it was scheduled, compiles the
  // checker's module, and tells what the checker found.
  void CheckKernelsOf(const Module& compiled, runtime::DeviceSessionOptions& options);
  absl::Status ReportKernelCheck(const absl::Status& ran);
  absl::Status ReportFinding(const kernel_check::Finding& finding) const;
  // Whether the module compiles to the kernel's source of this run.
  bool HasSameSource(const kernel_check::Finding& finding, std::unique_ptr<Module> module) const;

  // Called after the run.
  absl::Status DumpKernels() const;
  void Report() const;
  void ReportKernels() const;
  // The kernels that took longest to compile.
  void ReportCompileTimes() const;
  // A line for each kernel of the graph: its predicted and its measured time (predictions.cc).
  std::string PredictionTable() const;
  // Keeps the fastest run of each kernel and of the whole.
  void KeepLeast(const runtime::RunTimes& times);
  absl::StatusOr<runtime::RunReport> MakeReport() const;
  absl::Status WriteTrace(const runtime::RunReport& report) const;
  absl::Status WriteReports(const runtime::RunReport& report) const;
  absl::Status ShowResults();
  absl::Status CheckResults();
  absl::Status Expect(const Expectation& expectation);
  absl::Status CompareWithTestData();
  absl::Status CompareWithReference();
  absl::Status CompareWithFloat32();
  absl::Status ClassifyResult(const std::string& name, const runtime::HostTensor* labels);
  absl::Status WriteOutputs();

  RunFlags flags_;
  const passes::Pipeline pipeline_, half_pipeline_;
  const bool color_;
  std::string path_, text_;         // of the module's file
  std::unique_ptr<Module> module_;  // as read; of a compiled model, its declarations
  std::optional<artifact::ArtifactFile> artifact_;  // a compiled model, until it is opened
  std::vector<runtime::GraphNeeds> graphs_;         // of module_
  const runtime::GraphNeeds* graph_ = nullptr;      // the one to run
  std::map<std::string, runtime::HostTensor> inputs_;
  runtime::VarMap vars_;  // by names of module_
  std::optional<runtime::HostTensor> labels_;
  std::vector<std::string> class_names_;
  onnx::OnnxImportOptions onnx_;
  bool is_onnx_ = false;
  bool is_artifact_ = false;
  std::vector<runtime::HostTensor> expected_;  // outputs of --test-data, in the model's order

  std::unique_ptr<driver::FoundSchedules> found_;  // of --search
  std::unique_ptr<Module> unscheduled_;            // for checker_
  std::unique_ptr<kernel_check::KernelChecker> checker_;
  std::vector<passes::Target> targets_;  // of the device session's devices
  driver::PredictedCosts costs_;         // of the kernels, if they are printed
  runtime::SpanLog spans_;
  std::unique_ptr<runtime::DiskCache> cache_;
  std::unique_ptr<runtime::Session> session_;
  runtime::DeviceSession* device_ = nullptr;              // session_, if it is a device session
  std::shared_ptr<specialize::Specializer> specializer_;  // of device_, or null
  runtime::RunTimes least_;                               // see KeepLeast
  std::string least_size_;               // the size of whose plan least_ is (specializer.h)
  std::vector<runtime::RunTimes> runs_;  // all runs, for a trace
  std::vector<double> run_seconds_;      // of all runs
  std::vector<double> enqueue_seconds_;  // their parts until all was enqueued, with a driver
};

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_MODEL_RUN_H_
