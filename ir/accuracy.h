// The accuracy of mathematical functions, from the table ir/accuracy.def.
#ifndef TG_IR_ACCURACY_H_
#define TG_IR_ACCURACY_H_

#include <span>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg {

// Greatest errors, in units in the last place of the exact value.
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
