// Shapes and index maps of the nodes of a kernel over shapes, without their elements.
#ifndef TG_IR_INTERPRET_SAMPLE_FORMS_H_
#define TG_IR_INTERPRET_SAMPLE_FORMS_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "ir/interpret/sample.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/module.h"
#include "ir/walk.h"

namespace tg {

// What is known of a node without its elements.
struct NodeForm {
  Extents shape;
  IndexMap map;  // of a movement op
  bool is_pointer = false;
  size_t slot = 0;  // of a pointer
  Tensor known;     // of a number that constants and variables determine
};

class KernelForms {
 public:
  KernelForms(const Kernel& kernel, std::span<const SampleArg> args, const VarValues& vars,
              const InterpretOptions& options)
      : kernel_(kernel), args_(args), vars_(vars), options_(options) {}

  // Finds the form of every node. Unimplemented for a kernel past stage kernel, and for one that
  // reads what it has stored.
  absl::Status Find();

  const NodeForm& Of(const UOp* u) const { return forms_.Get(u); }
  UOpSpan order() const { return order_; }  // sources first
  UOpSpan stores() const { return stores_; }
  // The evaluations that computing all elements of all nodes takes.
  int64_t Evaluations() const;

 private:
  const NodeForm& Src(const UOp* u, size_t i) const { return forms_.Get(u->src(i)); }

  absl::Status Form(const UOp* u, NodeForm& f);
  absl::Status FormOfMovement(const UOp* u, NodeForm& f);
  absl::Status FormOfArgument(const UOp* u, NodeForm& f);
  absl::Status FormOfElementwise(const UOp* u, NodeForm& f);

  const Kernel& kernel_;
  std::span<const SampleArg> args_;
  const VarValues& vars_;
  const InterpretOptions& options_;
  std::vector<const UOp*> order_, stores_;
  NodeMap<NodeForm> forms_;
};

}  // namespace tg

#endif  // TG_IR_INTERPRET_SAMPLE_FORMS_H_
