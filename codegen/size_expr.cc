// A SizeExpr from the nodes of a kernel.
#include "absl/strings/str_cat.h"
#include "codegen/launch_data.h"
#include "ir/context.h"
#include "ir/interpret/scalar.h"
#include "ir/walk.h"

namespace tg::codegen {
namespace {

bool IsLeaf(const UOp* u, const UOp* item) {
  return u == item || u->op == Op::kConst || u->op == Op::kVar;
}

bool IsComputed(Op op) { return interpret::IsAlu(op) || op == Op::kCast || op == Op::kBitcast; }

}  // namespace

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

}  // namespace tg::codegen
