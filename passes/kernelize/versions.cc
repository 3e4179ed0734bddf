#include "passes/kernelize/versions.h"

#include "ir/context.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::kernelize {

bool IsVersion(const UOp* u) {
  return u->op == Op::kBuffer || u->op == Op::kAfter || u->op == Op::kAssign;
}

const UOp* TargetVersion(const UOp* target) {
  while (IsMovement(target->op)) target = target->src(0);
  return target;
}

const UOp* AppendPlacement(const UOp* place, llvm::SmallVectorImpl<const UOp*>& out) {
  while (true) {
    if (IsMovement(place->op)) {
      out.push_back(place);
    } else if (place->op != Op::kAssign && !(place->op == Op::kAfter && IsVersion(place->src(0)))) {
      return place;
    }
    place = place->src(0);
  }
}

bool IsView(const UOp* place) {
  llvm::SmallVector<const UOp*, 8> movement;
  AppendPlacement(place, movement);
  return !movement.empty();
}

bool IsWholeMemory(const UOp* place) {
  llvm::SmallVector<const UOp*, 8> movement;
  AppendPlacement(place, movement);
  return llvm::all_of(movement, [](const UOp* u) { return u->op == Op::kReshape; });
}

const UOp* WithMovement(Context& context, UOpSpan movement, const UOp* x) {
  llvm::SmallVector<const UOp*, 8> srcs;
  for (size_t i = movement.size(); i-- > 0;) {
    srcs.assign(movement[i]->srcs().begin(), movement[i]->srcs().end());
    srcs[0] = x;
    x = context.Rebuild(movement[i], context, {srcs.data(), srcs.size()});
  }
  return x;
}

}  // namespace tg::kernelize
