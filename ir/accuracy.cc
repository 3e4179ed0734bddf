#include "ir/accuracy.h"

namespace tg {
namespace {

constexpr Accuracy kAccuracies[] = {
#define TG_ACCURACY(op, scalar, opencl, pocl, own, interpreter) \
  {Op::op, Scalar::scalar, opencl, pocl, own, interpreter},
#include "ir/accuracy.def"
#undef TG_ACCURACY
};

}  // namespace

std::span<const Accuracy> Accuracies() { return kAccuracies; }

const Accuracy* FindAccuracy(Op op, Scalar scalar) {
  for (const Accuracy& a : kAccuracies) {
    if (a.op == op && a.scalar == scalar) return &a;
  }
  return nullptr;
}

}  // namespace tg
