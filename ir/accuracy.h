// How accurate the mathematical functions are: ir/accuracy.def, read.
#ifndef TG_IR_ACCURACY_H_
#define TG_IR_ACCURACY_H_

#include <span>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg {

// Greatest distances from the exact value, in units in its last place.
struct Accuracy {
  Op op;
  Scalar scalar;
  double opencl, pocl, own, interpreter;
};

std::span<const Accuracy> Accuracies();
// Null for an op that the table does not have: it is exact, or rounded once.
const Accuracy* FindAccuracy(Op op, Scalar scalar);

}  // namespace tg

#endif  // TG_IR_ACCURACY_H_
