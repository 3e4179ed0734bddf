// V208, V507: addresses and accesses.
#include "base/check.h"
#include "ir/masked_access.h"
#include "ir/op_groups.h"
#include "ir/verify/body_check.h"
#include "ir/verify/type_rules.h"

namespace tg::verify {
namespace {

constexpr int kTexelChannels = 4;

bool Fail(BodyCheck& c, const UOp* u, std::string message, Rule rule = Rule::kTypeMemory) {
  c.Error(rule, u, std::move(message));
  return false;
}

// Until devectorize has turned them into accesses to texels, elements of an image may be addressed
// one by one, by their number in the shape [height, width, 4].
bool MayAddressElements(const BodyCheck& c) {
  return c.stage == Stage::kLowered || c.stage == Stage::kExpanded;
}

bool CheckIndex(BodyCheck& c, const UOp* u) {
  const DType memory = u->src(0)->dtype, index = u->src(1)->dtype;
  if (!memory.is_memory() || memory.lanes() != 1) {
    return Fail(c, u, "source 0 is one address, not " + memory.ToString());
  }
  if (!index.is_int_or_index()) {
    return Fail(c, u, "source 1 is an index, not " + index.ToString());
  }
  const bool elements =
      memory.is_image() && MayAddressElements(c) && u->dtype.lanes() == index.lanes();
  if (memory.is_image() && !elements && index.lanes() % 2 != 0) {
    return Fail(c, u,
                "a place in an image is (x, y), so two lanes an address, not " + index.ToString(),
                Rule::kImage);
  }
  const int addresses = memory.is_image() && !elements ? index.lanes() / 2 : index.lanes();
  if (u->dtype != memory.WithLanes(addresses)) {
    return Fail(
        c, u,
        "the type is " + u->dtype.ToString() + ", not " + memory.WithLanes(addresses).ToString());
  }
  if (u->num_srcs < 3) return true;
  const DType gate = u->src(2)->dtype;
  const bool is_late = c.stage == Stage::kExpanded || c.stage == Stage::kLinear;
  const bool is_mask = is_late && memory.is_pointer() && addresses == 1;
  return (gate.is_bool() && (gate.lanes() == 1 || gate.lanes() == addresses || is_mask)) ||
         Fail(c, u,
              "the gate is a bool, one for all addresses or one each, not " + gate.ToString());
}

// In late stages, memory of a type in which the target does not compute is accessed as f32 (for f16
// the access converts) or as its bits.
bool Converts(Stage stage, Scalar memory, Scalar value) {
  if (stage != Stage::kExpanded && stage != Stage::kLinear) return false;
  switch (memory) {
    case Scalar::kF16:
      return value == Scalar::kF32;
    case Scalar::kBF16:
      return value == Scalar::kU16;
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      return value == Scalar::kU8;
    default:
      return false;
  }
}

// Checks the type of a value that is stored to or loaded from `address`: n consecutive elements
// from one address, or one element from each of n addresses.
bool CheckAccess(BodyCheck& c, const UOp* u, const DType& address, const DType& value) {
  if (!address.is_memory()) return Fail(c, u, "source 0 is an address, not " + address.ToString());
  if (u->word() != 0) {
    const bool late = c.stage == Stage::kExpanded || c.stage == Stage::kLinear;
    if (!late || !address.is_pointer() || address.lanes() != 1 || value.lanes() == 1) {
      return Fail(c, u, "a stride is for several elements from one address on, when expanded");
    }
  }
  if (const UOp* mask = MaskOf(u->src(0));
      mask && (mask->dtype.lanes() != value.lanes() || u->word() != 0)) {
    return Fail(c, u,
                "its address has a gate for each element, " + mask->dtype.ToString() +
                    ", which is not for neighbours " + value.ToString());
  }
  if (!value.is_value() || (value.scalar() != address.value_scalar() &&
                            !Converts(c.stage, address.value_scalar(), value.scalar()))) {
    return Fail(c, u,
                "the value has type " + value.ToString() + ", the memory " + address.ToString());
  }
  if (address.is_image()) {
    // Before lower, an image is the shape [height, width, 4] of scalars.
    const int lanes = c.has_shapes() ? 1 : kTexelChannels * address.lanes();
    if (MayAddressElements(c) && value.lanes() == address.lanes()) return true;
    return value.lanes() == lanes ||
           Fail(c, u, "an access to an image moves f32x4 an address, not " + value.ToString(),
                Rule::kImage);
  }
  return address.lanes() == 1 || address.lanes() == value.lanes() ||
         Fail(c, u, std::to_string(address.lanes()) + " addresses for " + value.ToString());
}

bool CheckCopy(BodyCheck& c, const UOp* u) {
  const DType to = u->src(0)->dtype, from = u->src(1)->dtype;
  if (!to.is_pointer() || !from.is_pointer() || to.lanes() != 1 || from.lanes() != 1) {
    return Fail(
        c, u,
        "sources 0 and 1 are one address each, not " + to.ToString() + " and " + from.ToString());
  }
  if (u->op == Op::kCopyAsync && to.space() != AddrSpace::kLocal) {
    return Fail(
        c, u,
        "the target is in " + std::string(AddrSpaceName(to.space())) + " memory, not in local");
  }
  for (const UOp* address : u->srcs().first(u->op == Op::kCopyTransposed ? 2 : 0)) {
    if (address->op == Op::kIndex && address->num_srcs > 2) {
      return Fail(c, u, "its addresses have no gate, but " + c.Name(address) + " has one");
    }
  }
  return to.scalar() == from.scalar() ||
         Fail(c, u, "from " + from.ToString() + " to " + to.ToString());
}

}  // namespace

bool CheckMemoryType(BodyCheck& c, const UOp* u) {
  switch (MemoryOp(u->op)) {
    case MemoryOp::kIndex:
      return CheckIndex(c, u);
    case MemoryOp::kLoad:
      if (!CheckAccess(c, u, u->src(0)->dtype, u->dtype)) return false;
      return u->num_srcs < 2 || u->src(1)->dtype == u->dtype ||
             Fail(c, u,
                  "the alternative has type " + u->src(1)->dtype.ToString() + ", the load " +
                      u->dtype.ToString());
    case MemoryOp::kStore:
      return CheckAccess(c, u, u->src(0)->dtype, u->src(1)->dtype);
    case MemoryOp::kCopyAsync:
    case MemoryOp::kCopyTransposed:
      return CheckCopy(c, u);
    case MemoryOp::kStage:
      return true;  // CheckStage
  }
  TG_UNREACHABLE();
}

bool CheckOrderType(BodyCheck& c, const UOp* u) {
  switch (OrderOp(u->op)) {
    case OrderOp::kAfter: {
      if (c.stage == Stage::kTensor) return true;
      if (!u->dtype.is_memory()) {
        return Fail(c, u, "source 0 is memory, not " + u->dtype.ToString());
      }
      for (size_t i = 1; i < u->num_srcs; ++i) {
        const UOp* s = u->src(i);
        if (s->dtype.is_void() || IsVaryingLeaf(s->op)) continue;
        return Fail(c, u,
                    "source " + std::to_string(i) + " (" + c.Name(s) +
                        ") is neither an effect nor a range");
      }
      return true;
    }
    case OrderOp::kIf:
      return u->src(0)->dtype == kBool ||
             Fail(c, u, "the condition has type " + u->src(0)->dtype.ToString() + ", not bool");
    case OrderOp::kEndIf:
      return u->src(0)->op == Op::kIf || Fail(c, u, "its source is no if");
    case OrderOp::kSink:
    case OrderOp::kEnd:
    case OrderOp::kBarrier:
    case OrderOp::kNoop:
    case OrderOp::kCommit:
    case OrderOp::kWait:
      return true;
  }
  TG_UNREACHABLE();
}

}  // namespace tg::verify
