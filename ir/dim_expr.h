// DimExpr: an extent of a declaration as an expression of the module's variables, independent of
// any Context. Extents of nodes are UOps (dim.h); FromNode and Node, which are a part of //ir,
// convert.
#ifndef TG_IR_DIM_EXPR_H_
#define TG_IR_DIM_EXPR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg {

class Context;
struct UOp;

// A step of a DimExpr in postfix order: a number (kConst), a variable (kVar), or an op on the
// results of the steps before it.
struct DimTerm {
  Op op = Op::kConst;
  int64_t value = 0;
  std::string var;
  friend bool operator==(const DimTerm&, const DimTerm&) = default;
};

class DimExpr {
 public:
  // Longer expressions cannot be held, since declarations are read by people.
  static constexpr size_t kMaxTerms = 256;

  using Lookup = llvm::function_ref<std::optional<int64_t>(std::string_view)>;
  using Range = std::pair<int64_t, int64_t>;  // least and greatest value
  using RangeLookup = llvm::function_ref<std::optional<Range>(std::string_view)>;

  DimExpr() = default;
  // Terms whose last one is the result (IsComplete).
  explicit DimExpr(std::vector<DimTerm> terms) : terms_(std::move(terms)) {}

  // The ops that an expression may hold, all of two operands.
  static bool IsArithmetic(Op op);
  // Null for a node that holds another op than arithmetic, or more than kMaxTerms terms.
  static std::optional<DimExpr> FromNode(const Context& context, const UOp* node);
  // As a node of type index.
  const UOp* Node(Context& context) const;

  bool empty() const { return terms_.empty(); }
  const std::vector<DimTerm>& terms() const { return terms_; }
  // Whether each op has its operands and one value is left.
  bool IsComplete() const;

  // As the interpreter computes it. None if a variable has no value or 64 bits do not suffice.
  std::optional<int64_t> Evaluate(const Lookup& var) const;
  // Bounds of the value, which need not be tight.
  std::optional<Range> Bounds(const RangeLookup& var) const;

  // "floordiv(add(@h, 1), 2)".
  std::string Text() const;
  // "@h = 3, @w = 5": the values of the variables in it.
  std::string Values(const Lookup& var) const;

  friend bool operator==(const DimExpr&, const DimExpr&) = default;

 private:
  std::vector<DimTerm> terms_;
};

}  // namespace tg

#endif  // TG_IR_DIM_EXPR_H_
