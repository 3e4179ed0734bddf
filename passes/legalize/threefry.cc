#include "passes/legalize/threefry.h"

namespace tg::legalize {

const UOp* Threefry(Builder& b, const UOp* counter, const UOp* key) {
  const int lanes = counter->dtype.lanes();
  const DType u32(Scalar::kU32, lanes), u64(Scalar::kU64, lanes);
  const UOp* half = b.ConstInt(u64, 32);
  const auto low = [&](const UOp* x) { return b.Cast(x, u32); };
  const auto high = [&](const UOp* x) { return b.Cast(b.Alu(Op::kShr, {x, half}), u32); };
  const auto rotate = [&](const UOp* x, int by) {
    return b.Alu(Op::kOr, {b.Alu(Op::kShl, {x, b.ConstInt(u32, by)}),
                           b.Alu(Op::kShr, {x, b.ConstInt(u32, 32 - by)})});
  };

  constexpr int64_t kParity = 0x1BD11BDA;
  const UOp* keys[3] = {low(key), high(key), nullptr};
  keys[2] = b.Alu(Op::kXor, {b.Alu(Op::kXor, {keys[0], keys[1]}), b.ConstInt(u32, kParity)});
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};

  const UOp* x0 = b.Add(low(counter), keys[0]);
  const UOp* x1 = b.Add(high(counter), keys[1]);
  for (int round = 0; round < 20; ++round) {
    x0 = b.Add(x0, x1);
    x1 = b.Alu(Op::kXor, {rotate(x1, kRotations[round % 8]), x0});
    if (round % 4 == 3) {
      const int injection = round / 4 + 1;
      x0 = b.Add(x0, keys[injection % 3]);
      x1 = b.Add(b.Add(x1, keys[(injection + 1) % 3]), b.ConstInt(u32, injection));
    }
  }
  return b.Alu(Op::kOr, {b.Alu(Op::kShl, {b.Cast(x1, u64), half}), b.Cast(x0, u64)});
}

}  // namespace tg::legalize
