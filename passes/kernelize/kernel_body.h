// Builds the body of a kernel: the expression of a realized (stored) node over the kernel's
// arguments.
#ifndef TG_PASSES_KERNELIZE_KERNEL_BODY_H_
#define TG_PASSES_KERNELIZE_KERNEL_BODY_H_

#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/materialization.h"

namespace tg::kernelize {

// A kernel and its operands, as nodes of the graph's context.
struct KernelDraft {
  std::vector<const UOp*> nodes;    // the realized nodes: one, or several siblings (siblings.h)
  std::unique_ptr<Kernel> kernel;   // null until BuildKernel
  const UOp* copy = nullptr;        // not null: this copy from another device stores the value, and
                                    // there is no kernel; the only input is its source
  std::string key;                  // drafts of one graph with equal keys have equal bodies; empty
                                    // if that cannot be told (in-place writes, variables)
  std::vector<const UOp*> targets;  // by node: the version that an assign writes to; else null
  std::vector<const UOp*> inputs;   // stored or realized nodes, in slot order after the outputs,
                                    // without targets that are also read
  std::vector<const UOp*> vars;     // var or bind nodes
  bool reads_target = false;        // whether it reads the contents of a target
  std::string origins;              // as OriginsOf has them

  // The output slot of each node. Slices of one target share a slot.
  std::vector<size_t> OutputSlots() const;

  std::vector<int64_t>
      reduce_terms;  // number of terms of each reduce in the expression; -1: symbolic
};

// Numbers the nodes that one draft visits, from 1; all other nodes have number 0. One table serves
// all drafts of a graph, since a draft visits few of the graph's nodes.
class DraftNumbers {
 public:
  void Clear() { ++draft_, last_ = 0; }
  void Add(const UOp* u) { rows_[u] = {draft_, ++last_}; }
  uint32_t Of(const UOp* u) const {
    const Row& row = rows_.Get(u);
    return row.draft == draft_ ? row.number : 0;
  }

 private:
  struct Row {
    uint32_t draft = 0, number = 0;
  };
  NodeMap<Row> rows_;
  uint32_t draft_ = 0, last_ = 0;
};

// Drafts the kernel that stores the values `realized`, which have one shape and do not depend on
// each other. Its arguments are the outputs, followed by the inputs in the order in which the
// expressions read them. The body is built later if the draft has a key, since most kernels of a
// deep model equal an earlier one.
KernelDraft DraftKernel(const Module& module, const Body& graph, ShapeMap& shapes,
                        const MaterializationPlan& plan, std::vector<const UOp*> realized,
                        DraftNumbers& numbers);

// Returns the origins (ir/module.h) of the nodes that the draft computes, a line each; the origin
// with the most computed elements first. `visited` is cleared.
std::string OriginsOf(const Body& graph, ShapeMap& shapes, const MaterializationPlan& plan,
                      const KernelDraft& draft, DraftNumbers& visited);

// Builds the draft's body if that has not been done. The draft must not be a copy.
void BuildKernel(const Module& module, const Body& graph, ShapeMap& shapes,
                 const MaterializationPlan& plan, KernelDraft& draft);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_KERNEL_BODY_H_
