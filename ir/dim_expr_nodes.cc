// Conversions between a DimExpr and nodes.
#include <string>

#include "ir/context.h"
#include "ir/dim_expr.h"
#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

std::optional<DimExpr> DimExpr::FromNode(const Context& context, const UOp* node) {
  std::vector<DimTerm> reversed;
  llvm::SmallVector<const UOp*, 16> stack = {node};
  while (!stack.empty()) {
    const UOp* u = stack.pop_back_val();
    if (u->op == Op::kConst) {
      reversed.push_back({.op = Op::kConst, .value = u->word(), .var = {}});
    } else if (u->op == Op::kVar) {
      const std::string_view name = context.String(static_cast<StringId>(u->word()));
      reversed.push_back({.op = Op::kVar, .value = 0, .var = std::string(name)});
    } else if (IsArithmetic(u->op)) {
      reversed.push_back({.op = u->op, .value = 0, .var = {}});
      stack.push_back(u->src(0));
      stack.push_back(u->src(1));
    } else {
      return std::nullopt;
    }
    if (reversed.size() + stack.size() > kMaxTerms) return std::nullopt;
  }
  return DimExpr({reversed.rbegin(), reversed.rend()});
}

const UOp* DimExpr::Node(Context& context) const {
  std::vector<const UOp*> stack;
  for (const DimTerm& t : terms_) {
    if (IsArithmetic(t.op)) {
      const UOp* right = stack.back();
      stack.pop_back();
      stack.back() = context.Make(t.op, kIndex, {stack.back(), right});
    } else {
      const int64_t word = t.op == Op::kConst ? t.value : int64_t{context.Intern(t.var)};
      stack.push_back(context.Make(t.op, kIndex, {}, context.MakeAttr(t.op, {word})));
    }
  }
  return stack.back();
}

}  // namespace tg
