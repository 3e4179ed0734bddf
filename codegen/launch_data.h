// The data that a runtime needs to launch a rendered kernel.
#ifndef TG_CODEGEN_LAUNCH_DATA_H_
#define TG_CODEGEN_LAUNCH_DATA_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/op.h"

namespace tg {
class Context;
struct UOp;
}  // namespace tg

namespace tg::codegen {

// A parameter of the kernel's function.
struct KernelParam {
  bool is_var = false;
  int slot = -1;     // buffers: number of the define_global, which is the operand number of the
                     // `kernel` op
  std::string name;  // vars: name in the module; buffers: name in the source
  DType dtype;       // buffers: pointer or image; vars: type of the parameter, i32 or i64
  bool reads = false, writes = false;  // buffers only
};

// An integer expression over variables, independent of the kernel from which it was made.
class SizeExpr {
 public:
  // One node: its op and the values of earlier steps that it reads.
  struct Step {
    Op op;
    Scalar type, operand_type;  // operand_type differs for a comparison
    std::array<uint32_t, 3> operands = {};
    uint32_t num_operands = 0;
    int64_t value = 0;  // value of a constant
    std::string var;
  };

  SizeExpr() : SizeExpr(1) {}
  explicit SizeExpr(int64_t value);
  // An expression of these steps, which read earlier steps only (IsComplete).
  explicit SizeExpr(std::vector<Step> steps) : steps_(std::move(steps)) {}
  // Accepts constants, vars and elementwise ops; other ops are an error. `item` is a special that
  // may also occur; Evaluate takes its value.
  static absl::StatusOr<SizeExpr> From(const UOp* u, const Context& context,
                                       const UOp* item = nullptr);

  // Whether there is a step, and each is an op on integers that Evaluate knows, with operands
  // before it.
  bool IsComplete() const;
  bool IsConst() const { return steps_.size() == 1 && steps_[0].op == Op::kConst; }
  // Returns the value as the interpreter computes it, where `var` gives the value of each variable.
  int64_t Evaluate(const std::function<int64_t(std::string_view)>& var, int64_t item = 0) const;
  // In order of evaluation; the last one's value is the expression's.
  std::span<const Step> steps() const { return steps_; }
  // The names of the variables that Evaluate reads.
  std::vector<std::string> Vars() const;

 private:
  std::vector<Step> steps_;
};

// A kernel as a renderer made it.
struct RenderedKernel {
  std::string name;                 // name of the function in the source or object
  std::string source;               // text renderers: complete and compilable alone
  std::string body;                 // text renderers: the function without the prelude
  std::vector<KernelParam> params;  // in parameter order
  // The number of work-groups, and of work-items per group, by dimension: global size = groups *
  // local.
  SizeExpr groups[3];
  int64_t local[3] = {1, 1, 1};
  // Bytes of memory that the caller gives each work-group that runs, behind the parameters, for
  // scratch that is too large for a stack. 0: the function has no such parameter.
  int64_t group_memory = 0;
};

}  // namespace tg::codegen

#endif  // TG_CODEGEN_LAUNCH_DATA_H_
