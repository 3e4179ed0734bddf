// The number of lanes that the target supports per vector.
#ifndef TG_PASSES_DEVECTORIZE_WIDTH_H_
#define TG_PASSES_DEVECTORIZE_WIDTH_H_

#include <algorithm>
#include <bit>

#include "ir/uop.h"
#include "passes/legalize/float_types.h"
#include "passes/target.h"

namespace tg::devectorize {

// The greatest vector width of OpenCL C.
inline constexpr int kMaxLanes = 16;

// The scalar type in which values of type `s` are computed and kept in registers: float for a
// narrower float type that the target does not compute in.
inline Scalar ComputeScalar(const passes::Target& target, Scalar s) {
  return IsFloat(s) && s != Scalar::kF64 && !passes::ComputesIn(target, s) ? Scalar::kF32 : s;
}

// Lanes of one vector in arithmetic on `s`; a power of two, 1 where the target has no vectors.
inline int AluLanes(const passes::Target& target, Scalar s) {
  const auto size = static_cast<int>(ByteSize(ComputeScalar(target, s)));
  const auto lanes = static_cast<unsigned>(std::clamp(target.alu_width / size, 1, kMaxLanes));
  return static_cast<int>(std::bit_floor(lanes));
}

// Lanes of one vector in the elementwise op `u`, determined by its widest scalar type. bool adapts
// to the other types.
inline int AluLanes(const passes::Target& target, const UOp* u) {
  if (u->op == Op::kCast && u->src(0)->dtype.scalar() == Scalar::kF32 &&
      legalize::ConvertsPairs(target, u->dtype.scalar())) {
    return 2;
  }
  int lanes = kMaxLanes;
  bool only_bool = true;
  const auto consider = [&](DType t) {
    if (t.is_bool() || t.is_void()) return;
    only_bool = false;
    lanes = std::min(lanes, AluLanes(target, t.scalar()));
  };
  consider(u->dtype);
  for (const UOp* s : u->srcs()) consider(s->dtype);
  return only_bool ? AluLanes(target, Scalar::kF32) : lanes;
}

// The greatest number of elements of type `s` that one access may move; a power of two.
inline int MemoryLanes(const passes::Target& target, Scalar s) {
  const auto size = static_cast<int>(ByteSize(s));
  const auto lanes = static_cast<unsigned>(std::clamp(target.mem_width / size, 1, kMaxLanes));
  return static_cast<int>(std::bit_floor(lanes));
}

}  // namespace tg::devectorize

#endif  // TG_PASSES_DEVECTORIZE_WIDTH_H_
