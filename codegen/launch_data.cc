#include "codegen/launch_data.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg::codegen {
namespace {

bool IsLeaf(const UOp* u, const UOp* item) {
  return u == item || u->op == Op::kConst || u->op == Op::kVar;
}

bool IsComputed(Op op) { return interpret::IsAlu(op) || op == Op::kCast || op == Op::kBitcast; }

}  // namespace

SizeExpr::SizeExpr(int64_t value) {
  steps_.push_back({.op = Op::kConst, .type = Scalar::kI64, .operand_type = Scalar::kI64});
  steps_[0].value = value;
}

absl::StatusOr<SizeExpr> SizeExpr::From(const UOp* root, const Context& context, const UOp* item) {
  SizeExpr e;
  e.steps_.clear();
  NodeMap<uint32_t> numbers;
  for (const UOp* u : PostOrder(root)) {
    const bool leaf = IsLeaf(u, item);
    if (u->dtype.lanes() != 1 || (!leaf && !IsComputed(u->op))) {
      return absl::InvalidArgumentError(
          absl::StrCat("the size of a grid depends on a ", std::string(Mnemonic(u->op)),
                       "; it can only depend on constants and variables"));
    }
    Step step{.op = u->op, .type = u->dtype.scalar(), .operand_type = u->dtype.scalar()};
    if (u->op == Op::kConst) step.value = u->word();
    if (u->op == Op::kVar) step.var = context.String(static_cast<StringId>(u->word()));
    if (!leaf) {
      if (u->op != Op::kWhere) step.operand_type = u->src(0)->dtype.scalar();
      for (const UOp* s : u->srcs()) step.operands[step.num_operands++] = numbers.Get(s);
    }
    numbers[u] = static_cast<uint32_t>(e.steps_.size());
    e.steps_.push_back(std::move(step));
  }
  return e;
}

int64_t SizeExpr::Evaluate(const std::function<int64_t(std::string_view)>& var,
                           int64_t item) const {
  if (IsConst()) return steps_[0].value;
  std::vector<int64_t> values;
  values.reserve(steps_.size());
  for (const Step& s : steps_) {
    int64_t in[3] = {};
    for (size_t i = 0; i < s.num_operands; ++i) in[i] = values[s.operands[i]];
    if (s.op == Op::kConst) {
      values.push_back(s.value);
    } else if (s.op == Op::kVar) {
      values.push_back(var(s.var));
    } else if (s.op == Op::kSpecial) {
      values.push_back(item);
    } else if (s.op == Op::kCast) {
      values.push_back(CastBits(s.operand_type, s.type, in[0]));
    } else if (s.op == Op::kBitcast) {
      values.push_back(BitcastBits(s.operand_type, s.type, in[0]));
    } else {
      // No op fails: integers of a linear kernel wrap on overflow.
      values.push_back(interpret::EvalAlu(s.op, s.operand_type, {in, s.num_operands}).value_or(0));
    }
  }
  return values.back();
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

}  // namespace tg::codegen
