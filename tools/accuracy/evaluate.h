// Evaluates functions with tg's whole pipeline.
#ifndef TG_TOOLS_ACCURACY_EVALUATE_H_
#define TG_TOOLS_ACCURACY_EVALUATE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"
#include "runtime/device/context.h"
#include "runtime/session/session.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

// The implementation that computes a function.
struct Implementation {
  enum class Kind { kInterpreter, kDevice, kOwn } kind = Kind::kInterpreter;
  bool scalars = false;      // no vectorization by schedule and devectorize
  bool contract = true;      // may contract a*b + c
  std::string Name() const;  // "device, scalars, no-contract"
};

class Evaluator {
 public:
  // `device` as for runtime::ChooseDevice. An interpreter does not use it.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Open(std::string_view device);
  const std::string& device_name() const { return name_; }
  bool is_pocl() const;
  bool is_native() const;

  // Applies the function to each x and y, which may have any length; y is empty for a function of
  // one argument.
  absl::StatusOr<std::vector<int64_t>> Run(const Function& function, Scalar scalar,
                                           const Implementation& by, std::span<const int64_t> x,
                                           std::span<const int64_t> y) const;

  // The outputs of a node on these inputs. Inputs with constants have no data.
  struct NodeData {
    NodeInput input;
    std::vector<int64_t> bits;
  };
  absl::StatusOr<std::vector<interpret::HostBuffer>> RunNode(const OnnxNode& node,
                                                             std::span<const NodeData> inputs,
                                                             const Implementation& by) const;

  // A module ready to run.
  absl::StatusOr<std::unique_ptr<runtime::Session>> Compile(std::unique_ptr<Module> module,
                                                            const Implementation& by) const;

 private:
  std::string name_;
  std::shared_ptr<runtime::Context> context_;
};

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_EVALUATE_H_
