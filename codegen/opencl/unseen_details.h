// What nothing that a kernel stores depends on: the sign of a zero, and numbers next to zero.
//
// The instructions of a GPU for maxima order -0.0 before 0.0, and those for exponentials may give 0
// for a number below the smallest normal one. Where no result can tell the difference, one
// instruction replaces several.
#ifndef TG_CODEGEN_OPENCL_UNSEEN_DETAILS_H_
#define TG_CODEGEN_OPENCL_UNSEEN_DETAILS_H_

#include <cstdint>
#include <vector>

#include "ir/uop.h"
#include "ir/walk.h"

namespace tg::opencl {

class UnseenDetails {
 public:
  // `linear` is what a linear kernel does, in order.
  explicit UnseenDetails(const std::vector<const UOp*>& linear);

  bool ZeroSign(const UOp* u) const { return (seen_.Get(u) & kZeroSign) == 0; }
  bool Subnormals(const UOp* u) const { return (seen_.Get(u) & kSubnormals) == 0; }

 private:
  static constexpr uint8_t kZeroSign = 1, kSubnormals = 2, kAll = 3;
  // What `user` sees of its operand number `k`.
  uint8_t SeenBy(const UOp* user, size_t k) const;

  NodeMap<uint8_t> seen_;  // by value, and by the kernel's own memory
};

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_UNSEEN_DETAILS_H_
