#include "codegen/launch_data.h"

#include <algorithm>

#include "ir/interpret/scalar.h"
#include "ir/value.h"

namespace tg::codegen {
namespace {

bool IsComputed(Op op) { return interpret::IsAlu(op) || op == Op::kCast || op == Op::kBitcast; }

}  // namespace

SizeExpr::SizeExpr(int64_t value) {
  steps_.push_back({.op = Op::kConst, .type = Scalar::kI64, .operand_type = Scalar::kI64});
  steps_[0].value = value;
}

bool SizeExpr::IsComplete() const {
  const auto is_integer = [](Scalar s) {
    return static_cast<int>(s) < kNumScalars && s != Scalar::kVoid && !IsFloat(s);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& s = steps_[i];
    if (static_cast<int>(s.op) >= kNumOps || !is_integer(s.type) || !is_integer(s.operand_type)) {
      return false;
    }
    const bool leaf = s.op == Op::kConst || s.op == Op::kVar;
    if (!leaf && !IsComputed(s.op)) return false;
    const OpInfo& info = GetOpInfo(s.op);
    const ScalarClass cls = GetScalarInfo(s.operand_type).cls;
    const char letter = cls == ScalarClass::kBool ? 'b' : cls == ScalarClass::kIndex ? 'x' : 'i';
    if (!leaf && !info.classes.empty() && !info.AllowsClass(letter)) return false;
    if (s.op == Op::kBitcast && BitWidth(s.type) != BitWidth(s.operand_type)) return false;
    if (s.num_operands != (leaf ? 0u : static_cast<uint32_t>(info.max_sources))) return false;
    if (s.num_operands > s.operands.size()) return false;
    for (uint32_t o = 0; o < s.num_operands; ++o) {
      if (s.operands[o] >= i) return false;
    }
  }
  return !steps_.empty();
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
