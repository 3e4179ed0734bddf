#include "passes/kernelize/joint_assigns.h"

#include <utility>

#include "ir/op_groups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/siblings.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

using Assigns = llvm::SmallVector<const UOp*, 2>;

class JointFinder {
 public:
  JointFinder(UOpSpan order, ShapeMap& shapes, Placement& placement, const passes::Target& target)
      : order_(order), shapes_(shapes), placement_(placement), target_(target) {}

  std::vector<std::vector<const UOp*>> Run() {
    if (!FindCandidates()) return {};
    FindShared();
    std::vector<std::vector<const UOp*>> groups;
    for (const UOp* u : order_) {
      std::vector<const UOp*> members = members_.Get(u);
      if (members.size() > 1 && members.size() <= kMaxSiblings && FitTogether(members)) {
        groups.push_back(std::move(members));
      }
    }
    return groups;
  }

 private:
  // Collects the assigns that may be members, by value. False if there are fewer than two.
  bool FindCandidates() {
    size_t count = 0;
    for (const UOp* u : order_) {
      for (size_t i = 0; i < u->num_srcs; ++i) {
        const bool is_place = IsMovement(u->op) || (u->op == Op::kAssign && i == 0);
        if (!is_place) read_.Insert(TargetVersion(u->src(i)));
      }
      if (u->op == Op::kAssign) ++writes_[BufferOf(u)];
    }
    for (const UOp* u : order_) {
      if (u->op != Op::kAssign || u->num_srcs != 2 || !IsElementwise(u->src(1)->op)) continue;
      const UOp* target = TargetVersion(u->src(0));
      const bool overwrites_unread =
          target->op == Op::kBuffer && !read_.Contains(target) && writes_.Get(target) == 1;
      const Shape& shape = shapes_.Of(u->src(1));
      if (!overwrites_unread || shape.empty() || !IsStatic(shape)) continue;
      of_value_[u->src(1)].push_back(u);
      leader_[u] = u;
      members_[u] = {u};
      ++count;
    }
    return count > 1;
  }

  // Joins the assigns of a value with those of what is computed from it.
  void FindShared() {
    SparseNodeMap<Assigns> below;  // by node: leaders of assigned values that it is computed from
    for (const UOp* u : order_) {
      if (!IsElementwise(u->op)) continue;
      Assigns leaders;
      for (const UOp* s : u->srcs()) {
        if (shapes_.Of(s) != shapes_.Of(u)) continue;
        for (const UOp* a : below.Get(s)) {
          if (!llvm::is_contained(leaders, leader_.Get(a))) leaders.push_back(leader_.Get(a));
        }
      }
      for (const UOp* a : of_value_.Get(u)) {
        leaders.push_back(leader_.Get(a));
        Join(leaders);
        leaders = {leader_.Get(a)};
      }
      // A value of many assigned ones is no state of a step.
      if (!leaders.empty() && leaders.size() <= kMaxSiblings) below[u] = std::move(leaders);
    }
  }

  void Join(const Assigns& leaders) {
    std::vector<const UOp*> all;
    for (const UOp* l : leaders) {
      for (const UOp* m : std::exchange(members_[l], {})) {
        if (!llvm::is_contained(all, m)) all.push_back(m);
      }
    }
    for (const UOp* m : all) leader_[m] = all[0];
    const UOp* first = all[0];
    members_[first] = std::move(all);
  }

  bool FitTogether(const std::vector<const UOp*>& members) {
    NodeSet seen;
    std::vector<const UOp*> stack;
    for (const UOp* m : members) {
      const bool same_shape = shapes_.Of(m) == shapes_.Of(members[0]);
      if (!same_shape || placement_.Of(m) != placement_.Of(members[0])) return false;
      stack.push_back(m->src(1));
    }
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (!seen.Insert(u)) continue;
      if (llvm::is_contained(members, u) || u->op == Op::kCopy) return false;
      // What the graph writes later, or writes in between.
      if (u->op == Op::kAfter || (u->op == Op::kBuffer && writes_.Get(u) != 0)) return false;
      if (u->op == Op::kAssign) {
        if (writes_.Get(BufferOf(u)) != 1) return false;
        stack.insert(stack.end(), u->srcs().begin() + 1, u->srcs().end());
        continue;
      }
      // A tile of matrix instructions has one product and one result.
      const bool is_tile = target_.HasMatrixInstructions() && u->op == Op::kReduceAxis &&
                           IsMatrixProduct(u->src(0), shapes_);
      if (is_tile) return false;
      stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
    }
    return true;
  }

  const UOpSpan order_;
  ShapeMap& shapes_;
  Placement& placement_;
  const passes::Target& target_;
  NodeSet read_;                  // versions that something else than an assign to them uses
  SparseNodeMap<size_t> writes_;  // by buffer: its assigns
  SparseNodeMap<Assigns> of_value_;
  SparseNodeMap<const UOp*> leader_;
  SparseNodeMap<std::vector<const UOp*>> members_;  // by leader
};

}  // namespace

JointAssigns::JointAssigns(UOpSpan order, ShapeMap& shapes, Placement& placement,
                           const passes::Target& target)
    : groups_(JointFinder(order, shapes, placement, target).Run()) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const UOp* u : groups_[g]) group_of_[u] = g + 1;
  }
}

}  // namespace tg::kernelize
