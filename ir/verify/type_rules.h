// The parts that CheckTypes (body_check.h) is made of.
#ifndef TG_IR_VERIFY_TYPE_RULES_H_
#define TG_IR_VERIFY_TYPE_RULES_H_

#include "ir/verify/body_check.h"

namespace tg::verify {

// V207-V212, V214, V505, V507: what holds for one op or few. True for ops without such a rule.
bool CheckExplicitType(BodyCheck& c, const UOp* u);

// V208, V507: ops of group memory; after, if and endif of group order.
bool CheckMemoryType(BodyCheck& c, const UOp* u);
bool CheckOrderType(BodyCheck& c, const UOp* u);
// V214: ops of group tensor; noop.
bool CheckGraphType(BodyCheck& c, const UOp* u);

}  // namespace tg::verify

#endif  // TG_IR_VERIFY_TYPE_RULES_H_
