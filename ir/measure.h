// Measured variables: a graph that has `bind @n, count` among the sources of its sink, with a count
// that is not constant, gives @n that number once the count is computed in each run. Whatever else
// depends on @n happens after it: the operand of a kernel that uses @n is the bind, and a loop
// reads the count.
#ifndef TG_IR_MEASURE_H_
#define TG_IR_MEASURE_H_

#include "ir/uop.h"

namespace tg {

inline bool IsMeasure(const UOp* u) { return u->op == Op::kBind && !IsConst(u->src(1)); }

}  // namespace tg

#endif  // TG_IR_MEASURE_H_
