// Model: what a tg_model handle is. Calls from several threads run one after the other.
#ifndef TG_CAPI_MODEL_H_
#define TG_CAPI_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/input.h"
#include "include/tg/tg.h"
#include "ir/decls.h"
#include "model/source.h"
#include "runtime/session/device_session.h"
#include "runtime/session/session.h"

namespace tg::capi {

class Model {
 public:
  static absl::StatusOr<std::shared_ptr<Model>> Open(const model::Source& source,
                                                     const LoadOptions& options);

  // What does not change after the model is open, and needs no lock.
  absl::StatusOr<size_t> Count(int role) const;
  absl::StatusOr<tg_tensor_info> Info(int role, size_t index) const;
  const std::vector<VarDecl>& variables() const { return variables_; }
  const std::vector<std::string>& graphs() const { return graphs_; }

  absl::Status SetVariable(std::string_view name, int64_t value);
  absl::Status Set(const TensorView& tensor);
  absl::Status Run(const char* graph);
  // Reads contents into the caller's struct.
  absl::Status Get(tg_tensor* tensor);
  absl::Status Call(const char* graph, std::span<const TensorView> inputs, tg_tensor* outputs,
                    size_t num_outputs);

  absl::StatusOr<size_t> CountKernels(const char* graph);
  absl::StatusOr<tg_kernel_info> KernelAt(const char* graph, size_t index);
  absl::StatusOr<std::string> Report(int form);

 private:
  struct Tensor {
    std::string name, symbol, text;
    tg_tensor_info info;
  };
  // A launch of a graph, with strings that live as long as the model.
  struct Launch {
    std::string what;
    tg_kernel_info info;
  };

  Model() = default;
  void Declare(const Declarations& declarations);
  void ListKernels();
  std::string_view SymbolOf(std::string_view name) const;
  absl::Status SetLocked(const TensorView& tensor, bool lend);
  absl::Status CallLocked(const char* graph, std::span<const TensorView> inputs, tg_tensor* outputs,
                          size_t num_outputs, size_t stride);
  absl::Status RunLocked(const char* graph);
  // `is_there`: what is in memory of the device is there already.
  absl::Status GetLocked(tg_tensor* tensor, bool is_there);
  // The executable's graph with this name; FailedPrecondition for the interpreter.
  absl::StatusOr<std::string> FindGraphName(const char* graph) const;
  void KeepLeast(const std::string& graph);

  std::shared_ptr<model::MemoryFile> memory_;  // outlives session_
  std::string file_name_;
  std::vector<Tensor> tensors_[4];  // by role
  std::vector<VarDecl> variables_;
  std::vector<std::string> graphs_;
  std::map<std::string, std::string, std::less<>> symbols_;  // by name in an ONNX model
  bool is_profiled_ = false;

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<runtime::Session> session_;
  runtime::DeviceSession* device_ = nullptr;             // session_, unless it is the interpreter
  std::map<std::string, std::vector<Launch>> launches_;  // by graph
  std::map<std::string, runtime::RunTimes> least_;       // by graph
  std::map<std::string, std::vector<double>> run_seconds_;
  std::string last_graph_;
};

}  // namespace tg::capi

#endif  // TG_CAPI_MODEL_H_
