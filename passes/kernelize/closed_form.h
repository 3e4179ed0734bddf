// Closed forms of reduces: sums of values that depend only on their index, such as tinygrad's
// arange, which is a sum over a padded triangle of ones.
#ifndef TG_PASSES_KERNELIZE_CLOSED_FORM_H_
#define TG_PASSES_KERNELIZE_CLOSED_FORM_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/target.h"

namespace tg {

// A target for lowering kernels that are only analysed: every axis whose size is not 1 becomes one
// dimension of the grid, whatever its size.
Target AnyGrid();

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
  // A float value whose elements are all integers, as i32; no sum that computes it rounds.
  struct Whole {
    const UOp* node = nullptr;
    double most = 0;  // bound of the absolute values
  };
  // The form of `u`; node is null if there is none.
  Whole WholeOf(const UOp* u);
  // The form of node `u` from those of its sources.
  Whole OneWhole(const UOp* u);
  const UOp* Find(const UOp* u);
  // The lowered `value` over the work-item ids of a kernel that stores it with shape `to`.
  const UOp* ReadBack(const Body& body, const UOp* value, const Shape& to);

  const Module& module_;
  Builder b_;
  ShapeMap& shapes_;
  NodeMap<Whole> whole_;
  NodeSet seen_;  // by WholeOf
  NodeMap<const UOp*> known_;
  NodeSet queried_;
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_CLOSED_FORM_H_
