// A kernel body as a list of steps with explicit loops, which the machine (machine.h) executes.
//
// A linear body is such a list already. Otherwise the interpreter orders the graph with a simple
// scheduler that shares nothing with the pass `linearize`:
//  - A node is inside the loops over the ranges that it depends on, unless an `end` or `reduce` on
//    the path closes them, and inside no other loop.
//  - Each `end` and each `reduce` makes its loops, in the order in which it lists its ranges. Two
//    that close the same loop around one effect share it.
//  - Sources come before users. A load comes before every store to the same memory that it does not
//    depend on, where dependencies allow.
#ifndef TG_IR_INTERPRET_STEP_LIST_H_
#define TG_IR_INTERPRET_STEP_LIST_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/uop.h"

namespace tg::interpret {

enum class StepKind : uint8_t {
  kEval,         // compute the node
  kLoop,         // node: a range; `jump`: the step after the loop's end
  kEndLoop,      // `jump`: the loop's first inner step
  kIf,           // `jump`: the step after the block's end
  kEndIf,        //
  kReduceBegin,  // node: a reduce over ranges; sets its accumulators to the identity
  kReduceStep,   // combines one iteration's value into them
  kReduceEnd,    // rounds them to the result
};

struct Step {
  StepKind kind = StepKind::kEval;
  const UOp* node = nullptr;
  size_t jump = 0;
};

using Steps = std::vector<Step>;

absl::StatusOr<Steps> StepsOfLinear(const Body& body);
absl::StatusOr<Steps> ScheduleGraph(const Body& body);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_STEP_LIST_H_
