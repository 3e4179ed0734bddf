// Functions as tg's whole pipeline computes them.
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
#include "runtime/opencl/context.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

// Who computes.
struct Implementation {
  enum class Kind { kInterpreter, kDevice, kOwn } kind = Kind::kInterpreter;
  bool scalars = false;      // instead of vectors as optimize and devectorize choose them
  bool contract = true;      // a*b + c may be rounded once
  std::string Name() const;  // "device, scalars, no-contract"
};

class Evaluator {
 public:
  // `device` as for runtime::ChooseDevice; none is opened for an interpreter.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Open(std::string_view device);
  const std::string& device_name() const { return name_; }
  bool is_pocl() const;

  // The function of each x and y; y is empty for one argument. Of any length.
  absl::StatusOr<std::vector<int64_t>> Run(const Function& function, Scalar scalar,
                                           const Implementation& by, std::span<const int64_t> x,
                                           std::span<const int64_t> y) const;

 private:
  std::string name_;
  std::shared_ptr<runtime::Context> context_;
};

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_EVALUATE_H_
