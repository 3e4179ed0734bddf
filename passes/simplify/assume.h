// What a value is where some conditions hold: bounds on coordinates, bools that are known.
//
// Each condition is tried alone, by a stand-in for what it bounds, and what costs less is kept. A
// value that divides is also tried with all bounds on coordinates together, and with each way in
// which a bound on a sum can hold.
#ifndef TG_PASSES_SIMPLIFY_ASSUME_H_
#define TG_PASSES_SIMPLIFY_ASSUME_H_

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/rewrite/rule_context.h"

namespace tg {

using Clauses = llvm::SmallVector<const UOp*, 8>;

// What is negated, or null.
const UOp* Negated(const UOp* u);

// `value` where all of `clauses`, bools, hold: cheaper, or unchanged. Null where two contradict.
const UOp* SimplifyUnderClauses(const Clauses& clauses, const UOp* value, RuleContext& rc);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_ASSUME_H_
