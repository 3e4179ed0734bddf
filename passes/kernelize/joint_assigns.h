// Assigns that one kernel makes: of a value, and of what is computed from it element by element. A
// step of a recurrence writes its states and a row of its results so.
//
// To the planner the members of a group are one kernel, and what they share is computed once. So
// the group is found before anything is planned, and only where nothing can keep its members from
// being one kernel: they do not depend on each other, the graph does not read what they overwrite,
// and it does not overwrite what they read.
#ifndef TG_PASSES_KERNELIZE_JOINT_ASSIGNS_H_
#define TG_PASSES_KERNELIZE_JOINT_ASSIGNS_H_

#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/kernelize/placement.h"
#include "passes/target.h"

namespace tg::kernelize {

class JointAssigns {
 public:
  JointAssigns() = default;
  // `order`: the nodes of a prepared graph, sources first. Members are on one device.
  JointAssigns(UOpSpan order, ShapeMap& shapes, Placement& placement, const passes::Target& target);

  // The first member of the group of `u`; `u` itself where it has none.
  const UOp* LeaderOf(const UOp* u) const {
    const size_t group = group_of_.Get(u);
    return group == 0 ? u : groups_[group - 1][0];
  }
  // What the kernel that stores `leader` stores.
  std::vector<const UOp*> Members(const UOp* leader) const {
    const size_t group = group_of_.Get(leader);
    return group == 0 ? std::vector<const UOp*>{leader} : groups_[group - 1];
  }

 private:
  std::vector<std::vector<const UOp*>> groups_;
  SparseNodeMap<size_t> group_of_;  // by member: 1 + position in groups_
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_JOINT_ASSIGNS_H_
