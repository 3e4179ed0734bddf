#include "codegen/opencl/unseen_details.h"

#include "llvm/ADT/STLExtras.h"

namespace tg::opencl {
namespace {

// The kernel's own memory that an address is in, private or local; null if it is a buffer's.
const UOp* ScratchOf(const UOp* address) {
  const UOp* memory = MemoryOf(address);
  return memory->op == Op::kScratch ? memory : nullptr;
}

}  // namespace

UnseenDetails::UnseenDetails(const std::vector<const UOp*>& linear) {
  // What a loop keeps is read before it is written: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    const auto add = [&](const UOp* of, uint8_t what) {
      if ((seen_.Get(of) | what) == seen_.Get(of)) return;
      seen_[of] |= what;
      changed = true;
    };
    for (const UOp* u : llvm::reverse(linear)) {
      const bool copies =
          u->op == Op::kLdMatrix || u->op == Op::kWgmma || u->op == Op::kCopyTransposed;
      for (size_t k = 0; k < u->num_srcs; ++k) {
        const UOp* s = u->src(k);
        if (s->dtype.is_value()) add(s, SeenBy(u, k));
        const UOp* memory = s->dtype.is_pointer() ? ScratchOf(s) : nullptr;
        if (memory && copies) add(memory, kAll);
        if (memory && u->op == Op::kLoad) add(memory, seen_.Get(u));
      }
    }
  }
}

uint8_t UnseenDetails::SeenBy(const UOp* user, size_t k) const {
  const uint8_t of_result = seen_.Get(user), sign = of_result & kZeroSign;
  switch (user->op) {
    case Op::kStore: {
      const UOp* memory = ScratchOf(user->src(0));
      return memory && k == 1 ? seen_.Get(memory) : kAll;
    }
    case Op::kCmpLt:
    case Op::kCmpNe:
      return kSubnormals;
    case Op::kExp2:  // of either zero, and next to it, 1
      return 0;
    case Op::kCast:
      // The smallest half is far greater than the greatest subnormal.
      if (user->dtype.scalar() == Scalar::kF16) return sign;
      return user->dtype.is_float() ? of_result : kAll;
    case Op::kWhere:
      return k == 0 ? kAll : of_result;
    case Op::kMax:
    case Op::kMin:
    case Op::kNeg:
    case Op::kShuffle:
    case Op::kTransposeItems:
    case Op::kGep:
    case Op::kVectorize:
    case Op::kCat:
    case Op::kSplat:
      return of_result;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMulAcc:
      return sign | kSubnormals;
    default:
      return kAll;
  }
}

}  // namespace tg::opencl
