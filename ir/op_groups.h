// An enum for each group of ops, with the numbers of Op: where a new movement op is missing in
//
//   switch (MovementOp(u->op)) {
//     case MovementOp::kReshape: ...
//   }
//
// the compiler says so.
#ifndef TG_IR_OP_GROUPS_H_
#define TG_IR_OP_GROUPS_H_

#include "ir/op.h"

namespace tg {

#define TG_MEMBER(name) name = static_cast<uint8_t>(Op::name),

enum class LeafOp : uint8_t {
#define TG_LEAF(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class ArithmeticOp : uint8_t {
#define TG_ARITHMETIC(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class ConversionOp : uint8_t {
#define TG_CONVERSION(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class IdentityOp : uint8_t {
#define TG_IDENTITY(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class MovementOp : uint8_t {
#define TG_MOVEMENT(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class TensorOp : uint8_t {
#define TG_TENSOR(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class OrderOp : uint8_t {
#define TG_ORDER(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class MemoryOp : uint8_t {
#define TG_MEMORY(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class ReduceOp : uint8_t {
#define TG_REDUCE(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class LaneOp : uint8_t {
#define TG_LANES(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

enum class SubgroupOp : uint8_t {
#define TG_SUBGROUP(name, ...) TG_MEMBER(name)
#include "ir/ops.def"
};

#undef TG_MEMBER

}  // namespace tg

#endif  // TG_IR_OP_GROUPS_H_
