// What a runtime needs to know to launch a rendered kernel.
#ifndef TG_CODEGEN_OPENCL_LAUNCH_H_
#define TG_CODEGEN_OPENCL_LAUNCH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/context.h"
#include "ir/dtype.h"
#include "ir/uop.h"

namespace tg {

// One parameter of the C function.
struct KernelParam {
  bool is_var = false;
  int slot = -1;     // buffers: define_global's number, so operand number of the `kernel` op
  std::string name;  // vars: the module's name of it; buffers: the name in the source
  DType dtype;       // buffers: pointer or image; vars: i32 or i64, the parameter's type
  bool reads = false, writes = false;  // buffers
};

// An integer expression over variables, independent of the kernel that it came from.
class SizeExpr {
 public:
  SizeExpr() : SizeExpr(1) {}
  explicit SizeExpr(int64_t value);
  // Of constants, vars and elementwise ops; other ops are an error. `item`: a special that may
  // occur as well, for which Evaluate takes a value.
  static absl::StatusOr<SizeExpr> From(const UOp* u, const Context& context,
                                       const UOp* item = nullptr);

  bool IsConst() const { return steps_.size() == 1 && steps_[0].op == Op::kConst; }
  // The value where each variable is what `var` says, as the interpreter computes it.
  int64_t Evaluate(const std::function<int64_t(std::string_view)>& var, int64_t item = 0) const;
  // The names that Evaluate asks for.
  std::vector<std::string> Vars() const;

 private:
  // A node: what it computes from the values of earlier steps.
  struct Step {
    Op op;
    Scalar type, operand_type;  // operand_type: that of an op's operands, which a comparison keeps
    std::array<uint32_t, 3> operands = {};
    uint32_t num_operands = 0;
    int64_t value = 0;  // of a constant
    std::string var;
  };
  std::vector<Step> steps_;
};

struct RenderedKernel {
  std::string name;                 // of the function in the source
  std::string source;               // complete by itself
  std::string body;                 // the function alone; RenderModule joins these
  std::vector<KernelParam> params;  // in the order of the parameters
  // Work-groups and work-items a group, by dimension: global size = groups * local.
  SizeExpr groups[3];
  int64_t local[3] = {1, 1, 1};
};

}  // namespace tg

#endif  // TG_CODEGEN_OPENCL_LAUNCH_H_
