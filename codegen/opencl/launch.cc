#include "codegen/opencl/launch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "ir/check.h"
#include "ir/walk.h"

namespace tg {
namespace {

int NumOperands(Op op) {
  switch (op) {
    case Op::kConst:
    case Op::kVar:
      return 0;
    case Op::kNeg:
    case Op::kCast:
      return 1;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kCDiv:
    case Op::kCMod:
    case Op::kMax:
    case Op::kMin:
    case Op::kShl:
    case Op::kShr:
    case Op::kCmpLt:
    case Op::kCmpNe:
    case Op::kAnd:
      return 2;
    case Op::kWhere:
    case Op::kMulAcc:
      return 3;
    default:
      return -1;
  }
}

int64_t Apply(Op op, int64_t a, int64_t b, int64_t c) {
  switch (op) {
    case Op::kNeg:
      return -a;
    case Op::kCast:
      return a;
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kFloorDiv:
      return b == 0 ? 0 : FloorDiv(a, b);
    case Op::kFloorMod:
      return b == 0 ? a : FloorMod(a, b);
    case Op::kCDiv:
      return b == 0 ? 0 : a / b;
    case Op::kCMod:
      return b == 0 ? a : a % b;
    case Op::kMax:
      return std::max(a, b);
    case Op::kMin:
      return std::min(a, b);
    case Op::kShl:
      return b < 0 || b > 63 ? 0 : a << b;
    case Op::kShr:
      return a >> (b < 0 || b > 63 ? 63 : b);
    case Op::kCmpLt:
      return a < b;
    case Op::kCmpNe:
      return a != b;
    case Op::kAnd:
      return a & b;
    case Op::kWhere:
      return a ? b : c;
    case Op::kMulAcc:
      return a * b + c;
    default:
      TG_UNREACHABLE();
  }
}

}  // namespace

absl::StatusOr<SizeExpr> SizeExpr::From(const UOp* u, const Context& context, const UOp* item) {
  SizeExpr e;
  e.steps_.clear();
  // Operands before operators; a shared part is repeated.
  std::vector<std::pair<const UOp*, bool>> stack = {{u, false}};
  while (!stack.empty()) {
    const auto [v, done] = stack.back();
    stack.pop_back();
    const int n = v == item ? 0 : NumOperands(v->op);
    if (n < 0 || v->dtype.lanes() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the size of a grid depends on a ", std::string(Mnemonic(v->op)),
                       "; it can only depend on constants and variables"));
    }
    if (done || n == 0) {
      Step step{v->op, v->op == Op::kConst ? v->word() : 0, {}};
      if (v->op == Op::kVar) step.var = context.String(static_cast<StringId>(v->word()));
      e.steps_.push_back(std::move(step));
      if (e.steps_.size() > 10000) {
        return absl::InvalidArgumentError("the size of a grid is too long an expression");
      }
      continue;
    }
    stack.emplace_back(v, true);
    for (size_t i = v->num_srcs; i-- > 0;) stack.emplace_back(v->src(i), false);
  }
  return e;
}

int64_t SizeExpr::Evaluate(const std::function<int64_t(std::string_view)>& var,
                           int64_t item) const {
  std::vector<int64_t> stack;
  for (const Step& s : steps_) {
    if (s.op == Op::kConst) {
      stack.push_back(s.value);
    } else if (s.op == Op::kVar) {
      stack.push_back(var(s.var));
    } else if (s.op == Op::kSpecial) {
      stack.push_back(item);
    } else {
      const auto n = static_cast<size_t>(NumOperands(s.op));
      int64_t operands[3] = {0, 0, 0};
      std::copy(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end(), operands);
      stack.resize(stack.size() - n);
      stack.push_back(Apply(s.op, operands[0], operands[1], operands[2]));
    }
  }
  return stack.back();
}

std::vector<std::string> SizeExpr::Vars() const {
  std::vector<std::string> names;
  for (const Step& s : steps_) {
    if (s.op == Op::kVar && std::find(names.begin(), names.end(), s.var) == names.end()) {
      names.push_back(s.var);
    }
  }
  return names;
}

}  // namespace tg
