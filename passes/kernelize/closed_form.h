// Reduces that need no loop: sums of what is constant but for its place, such as tinygrad's arange,
// a sum over a padded triangle of ones.
#ifndef TG_PASSES_KERNELIZE_CLOSED_FORM_H_
#define TG_PASSES_KERNELIZE_CLOSED_FORM_H_

#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/target.h"

namespace tg {

// To lower what is only looked at: every axis that is not 1 is one dimension of the grid, however
// long.
Target AnyGrid();

class ClosedForms {
 public:
  // `ctx`: the graph's context, in which the forms are made.
  ClosedForms(const Module& module, Context& ctx, ShapeMap& shapes)
      : module_(module), b_(ctx), shapes_(shapes) {}

  // The value of reduce_axis `u`, which no buffer or variable reaches, as arithmetic on `iota`:
  // what `lower` makes of `u` alone, read back. Null where it is left with a loop, and where floats
  // are summed that may round.
  const UOp* Of(const UOp* u);

 private:
  // A float value whose elements are all integers, as i32: no sum that it is made of rounds.
  struct Whole {
    const UOp* node = nullptr;
    double most = 0;  // no element is further from 0
  };
  // That of `u`, or nothing.
  Whole WholeOf(const UOp* u);
  // Of node `u`, whose sources are known.
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
  NodeSet asked_;
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_CLOSED_FORM_H_
