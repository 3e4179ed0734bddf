// Finds closed forms of reduces: expressions for sums of values that depend only on their indices.
// An example is tinygrad's arange, which is a sum over a padded triangle of ones.
#ifndef TG_PASSES_KERNELIZE_CLOSED_FORM_H_
#define TG_PASSES_KERNELIZE_CLOSED_FORM_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/target.h"

namespace tg::kernelize {

// A target for kernels that are lowered only to analyse the result: its grid takes axes of every
// size, each as one dimension.
passes::Target AnyGrid();

class ClosedForms {
 public:
  // `ctx`: the graph's context, in which the forms are made.
  ClosedForms(const Module& module, Context& ctx, ShapeMap& shapes)
      : module_(module), b_(ctx), shapes_(shapes) {}

  // The value of reduce_axis `u`, which depends on no buffer or variable, as arithmetic on `iota`.
  // Lowers `u` alone and converts the result back. Null if a loop remains, or if a sum of floats
  // might round.
  const UOp* Of(const UOp* u);

 private:
  // An i32 value equal to a float value whose elements are all integers, and a bound of its
  // absolute values. The float sum does not round, so the integer sum may replace it.
  struct Whole {
    const UOp* node = nullptr;
    double most = 0;  // no element's absolute value is greater
  };
  // The integer form of `u`. Its `node` is null if there is none.
  Whole WholeOf(const UOp* u);
  // The integer form of `u`, given those of its sources.
  Whole OneWhole(const UOp* u);
  const UOp* Find(const UOp* u);
  // Converts `value`, the lowered result of a kernel, back to a tensor of shape `to`: work-item ids
  // become iotas.
  const UOp* ReadBack(const Body& body, const UOp* value, const Shape& to);

  const Module& module_;
  Builder b_;
  ShapeMap& shapes_;
  NodeMap<Whole> whole_;
  NodeSet seen_;  // nodes that WholeOf has visited
  NodeMap<const UOp*> known_;
  NodeSet queried_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CLOSED_FORM_H_
