// RuleContext: the analyses available to a rule, and rules that are plain functions.
#ifndef TG_PASSES_REWRITE_RULE_CONTEXT_H_
#define TG_PASSES_REWRITE_RULE_CONTEXT_H_

#include <array>
#include <cstdint>
#include <optional>

#include "ir/context.h"
#include "ir/module_flags.h"
#include "ir/uop.h"
#include "ir/walk.h"
#include "passes/analysis/affine.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/order.h"

namespace tg::rewrite {

class Rewriter;

struct RuleContext {
  Context& ctx;
  analysis::Bounds& bounds;
  analysis::StructuralOrder& order;
  ModuleFlags flags;  // of the module
  // For rule functions that simplify subexpressions; they do without if it is null. Its rule set
  // must not contain these functions, since it would then call itself.
  Rewriter* nested = nullptr;
  // Gates that are known to be in the canonical form of CanonicalAnd.
  NodeSet canonical_gates{};
};

// Returns the replacement of `u`, or null if the rule does not apply.
using RuleFn = const UOp* (*)(const UOp* u, RuleContext& rc);

using analysis::UniformBits;

namespace pattern {

// A rule that is a function instead of a pattern, for the root ops `kOps`: for sums of any number
// of terms, or conditions that a guard cannot express.
template <Op... kOps>
struct Custom {
  static constexpr bool kIsCustom = true;
  static constexpr bool HasRoot(Op op) { return ((op == kOps) || ...); }
  RuleFn fn;
  const char* name;
  const char* file;
  int line;
};

// custom<Op::kGep>(&FoldGep, "FoldGep").
template <Op... kOps>
consteval auto custom(RuleFn fn, const char* name, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  return Custom<kOps...>{fn, name, file, line};
}

}  // namespace pattern
}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_RULE_CONTEXT_H_
