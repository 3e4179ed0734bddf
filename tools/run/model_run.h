// ModelRun: what tg-run does with a module, step by step.
#ifndef TG_TOOLS_RUN_MODEL_RUN_H_
#define TG_TOOLS_RUN_MODEL_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontend/onnx/import.h"
#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "runtime/base/spans.h"
#include "runtime/io/host_tensor.h"
#include "runtime/opencl/disk_cache.h"
#include "runtime/session/device_session.h"
#include "runtime/session/reference_session.h"
#include "tools/run/run_flags.h"

namespace tg {

class ModelRun {
 public:
  ModelRun(const RunFlags& flags, Pipeline pipeline);

  // Everything; results go to standard output. The first error ends it; its message is empty where
  // diagnostics with places in the text have been printed. Checks that do not hold are errors too,
  // but do not keep others from being made.
  absl::Status Run(const std::string& path);

 private:
  absl::Status Read(const std::string& path);
  absl::Status ReadInputs();
  // What an ONNX model's import needs of the inputs: their shapes. Fills inputs_ and expected_.
  absl::Status ReadOnnxInputs();
  // `name`, of the command line, as the module's text has it.
  std::string SymbolOf(const std::string& name) const;
  absl::Status CheckNames() const;
  absl::Status CheckGiven() const;
  // Opens the device, or the interpreter.
  absl::Status Open();
  absl::Status OpenDevice();
  absl::Status Feed(runtime::Session& session) const;
  absl::Status RunAll();
  absl::StatusOr<std::unique_ptr<runtime::ReferenceSession>> RunReference(bool track_error);

  // After the run.
  absl::Status DumpKernels() const;
  void Report(const std::vector<double>& seconds) const;
  void ReportKernels() const;
  // Of each kernel, and of the whole, the fastest run.
  void KeepLeast(const runtime::RunTimes& times);
  absl::Status WriteTrace() const;
  absl::Status ShowResults();
  absl::Status CheckResults();
  absl::Status Expect(const Expectation& expectation);
  absl::Status CompareWithTestData();
  absl::Status CompareWithReference();
  absl::Status ClassifyResult(const std::string& name, const runtime::HostTensor* labels);
  absl::Status WriteOutputs();

  const RunFlags& flags_;
  const Pipeline pipeline_;
  const bool color_;
  std::string text_;                // of the module's file
  std::unique_ptr<Module> module_;  // as read
  const Graph* graph_ = nullptr;    // of module_
  std::map<std::string, runtime::HostTensor> inputs_;
  runtime::VarMap vars_;  // by the names of module_
  std::optional<runtime::HostTensor> labels_;
  OnnxImportOptions onnx_;
  bool is_onnx_ = false;
  std::vector<runtime::HostTensor> expected_;  // --test-data's outputs, in the model's order

  runtime::SpanLog spans_;
  std::unique_ptr<runtime::DiskCache> cache_;
  std::unique_ptr<runtime::Session> session_;
  runtime::DeviceSession* device_ = nullptr;  // session_, where it is one
  runtime::RunTimes least_;                   // see KeepLeast
  std::vector<runtime::RunTimes> runs_;       // each of them, for a trace
};

}  // namespace tg

#endif  // TG_TOOLS_RUN_MODEL_RUN_H_
