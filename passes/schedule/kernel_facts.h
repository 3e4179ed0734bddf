// What the body of a kernel at Stage::kKernel says, found once: its loops before any directive, its
// accesses, the reduces that need no loop. The rules ask it, and the cost of a schedule.
#ifndef TG_PASSES_SCHEDULE_KERNEL_FACTS_H_
#define TG_PASSES_SCHEDULE_KERNEL_FACTS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/analysis/accesses.h"
#include "passes/cost/cost.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg::schedule {

class KernelFacts {
 public:
  // `module`, `calls` and `target` must outlive the object. The analyses make nodes, so they are
  // made in a copy of the kernel, whose nodes all facts refer to.
  KernelFacts(const Module& module, const KernelCalls& calls, const Kernel& kernel,
              const passes::Target& target);

  const Kernel& kernel() const { return copy_; }
  const passes::Target& target() const { return target_; }
  ShapeMap& shapes() { return shapes_; }

  // The loops without directives.
  const loop_nest::LoopNest& plain() const { return plain_; }
  // The loops with these directives; an error if one is not legal.
  absl::StatusOr<loop_nest::LoopNest> NestOf(std::vector<Directive> directives);

  // The loads and stores of arguments.
  const std::vector<analysis::Access>& accesses();
  // Those, and each place at which a staged value is read.
  const std::vector<analysis::Access>& accesses_and_staged();
  // The reduces that `lower` computes without a loop.
  const NodeSet& closed();
  bool HasClosed();
  // Whether some reduce combines tuples.
  bool CombinesTuples() const;

  // The cost with these loops, which are of this kernel; or with these directives, an error if one
  // is not legal.
  cost::Cost CostOf(const loop_nest::LoopNest& nest);
  absl::StatusOr<cost::Cost> CostOf(std::vector<Directive> directives);

 private:
  std::vector<analysis::Access> Find(bool with_staged);

  const Module& module_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  Kernel copy_;
  ShapeMap shapes_;
  loop_nest::LoopNest plain_;
  std::optional<std::vector<analysis::Access>> accesses_, accesses_and_staged_;
  std::optional<NodeSet> closed_;
};

// The cost of a kernel with its own directives; an error if one is not legal.
absl::StatusOr<cost::Cost> KernelCost(const Module& module, const KernelCalls& calls,
                                      const Kernel& kernel, const passes::Target& target);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_KERNEL_FACTS_H_
