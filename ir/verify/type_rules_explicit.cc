// V207, V209-V212, V505: types of leaves, conversions, lanes and reductions.
#include <algorithm>

#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/verify/body_check.h"
#include "ir/verify/extent.h"
#include "ir/verify/type_rules.h"

namespace tg::verify {
namespace {

bool CheckCast(BodyCheck& c, const UOp* u) {
  const DType from = u->src(0)->dtype, to = u->dtype;
  const std::string types = from.ToString() + " to " + to.ToString();
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeCast, u, message + ": " + types);
    return false;
  };
  if (!from.is_value() || !to.is_value()) return fail("it converts values, not addresses");
  if (from.lanes() != to.lanes()) return fail("the number of lanes changes");
  if (u->op == Op::kCast) return true;
  if (from.is_index() || to.is_index()) return fail("an index has no bits");
  if (BitWidth(from.scalar()) != BitWidth(to.scalar())) return fail("the bits of a lane change");
  return true;
}

// An integer type that address arithmetic may have: index, and i32 or i64 once it is narrowed.
bool IsAddressType(BodyCheck& c, const DType& t) {
  if (!t.is_value()) return false;
  const bool narrowed = c.stage >= Stage::kExpanded;
  return t.is_index() || (narrowed && (t.scalar() == Scalar::kI32 || t.scalar() == Scalar::kI64));
}

bool CheckLeaf(BodyCheck& c, const UOp* u) {
  const DType t = u->dtype;
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeLeaf, u, std::move(message));
    return false;
  };
  switch (LeafOp(u->op)) {
    case LeafOp::kConst:
      return (t.is_value() && t.lanes() == 1) || fail("a constant is a scalar; see vconst");
    case LeafOp::kVar:
      return (IsAddressType(c, t) && t.lanes() == 1) ||
             fail("a variable is an index, not " + t.ToString());
    case LeafOp::kIota:
      return t == kIndex || fail("it is an index, not " + t.ToString());
    case LeafOp::kBuffer: {
      const std::string_view name = c.String(u->word(0));
      const DType declared = c.symbols.buffers.lookup({name.data(), name.size()})->dtype;
      return t == DType(declared.value_scalar()) ||
             fail("elements of '@" + std::string(name) + "' (" + declared.ToString() +
                  ") have type " + DType(declared.value_scalar()).ToString() + ", not " +
                  t.ToString());
    }
    case LeafOp::kCarried:
      return (t.is_value() && t.lanes() == 1) || fail("a carried value is a tensor of scalars");
    case LeafOp::kDefineGlobal: {
      const bool global = t.is_pointer() && t.space() == AddrSpace::kGlobal;
      if (t.lanes() != 1 || (!global && !t.is_image())) {
        return fail("an argument is a global pointer or an image, not " + t.ToString());
      }
      if (t.is_image() && (t.height() > kMaxImageSide || t.width() > kMaxImageSide)) {
        c.Error(Rule::kExtent, u,
                "an image has at most " + std::to_string(kMaxImageSide) + " texels a side");
        return false;
      }
      return t.scalar() != Scalar::kIndex || fail("memory holds no index");
    }
    case LeafOp::kScratch:
      if (!t.is_pointer() || t.lanes() != 1) return fail("scratch is a pointer");
      return t.scalar() != Scalar::kIndex || fail("memory holds no index");
    case LeafOp::kRange:
    case LeafOp::kSpecial:
      if (!IsAddressType(c, t) || t.lanes() != 1) {
        return fail("a coordinate is an index, not " + t.ToString());
      }
      return u->src(0)->dtype == t ||
             fail("its size has type " + u->src(0)->dtype.ToString() + ", it has " + t.ToString());
    case LeafOp::kUnroll:
      return t == kIndex || fail("a coordinate is an index, not " + t.ToString());
    case LeafOp::kVConst:
      return true;  // CheckLanes
  }
  TG_UNREACHABLE();
}

// How many lanes the sources of a lane op have together, or those of one of its parts.
bool CheckLanes(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeLanes, u, std::move(message));
    return false;
  };
  const int lanes = u->dtype.lanes();
  if (u->op == Op::kVConst) {
    const size_t n = u->list().size();
    return static_cast<size_t>(lanes) == n ||
           fail(std::to_string(n) + " values for type " + u->dtype.ToString());
  }
  const DType one = u->src(0)->dtype.WithLanes(1);
  if (u->op == Op::kExtract) {
    const DType number = u->src(1)->dtype;
    if (number != kIndex) return fail("source 1, a lane's number, has type " + number.ToString());
    return u->dtype == one || fail("a lane of " + u->src(0)->dtype.ToString() + " has not type " +
                                   u->dtype.ToString());
  }
  for (const UOp* s : u->srcs()) {
    if (s->dtype.WithLanes(1) != one || u->dtype.WithLanes(1) != one) {
      return fail("the lanes of " + s->dtype.ToString() + " are not those of " +
                  u->dtype.ToString());
    }
  }
  int64_t expected = 0;
  switch (LaneOp(u->op)) {
    case LaneOp::kSplat:
      return u->src(0)->dtype.lanes() == 1 || fail("its source is a vector");
    case LaneOp::kVectorize:
      for (const UOp* s : u->srcs()) {
        if (s->dtype.lanes() != 1) return fail("a source is a vector; see cat");
      }
      expected = u->num_srcs;
      break;
    case LaneOp::kCat:
      for (const UOp* s : u->srcs()) expected += s->dtype.lanes();
      break;
    case LaneOp::kGep: {
      const int from = u->src(0)->dtype.lanes();
      for (int64_t lane : u->list()) {
        if (lane < 0 || lane >= from) {
          return fail("there is no lane " + std::to_string(lane) + " in " +
                      u->src(0)->dtype.ToString());
        }
      }
      expected = static_cast<int64_t>(u->list().size());
      break;
    }
    case LaneOp::kExtract:   // above
    case LaneOp::kContract:  // its axes' sizes are known for the body as a whole
      return true;
  }
  return expected == lanes ||
         fail(std::to_string(expected) + " lanes for the type " + u->dtype.ToString());
}

// Whether `op` may combine values of type `t`.
bool CheckReduceOp(BodyCheck& c, const UOp* u, int64_t word, const DType& t) {
  const Op op = static_cast<Op>(word);
  if (!IsReduceOp(op)) {
    c.Error(Rule::kTypeReduce, u,
            "'" + std::string(Mnemonic(op)) +
                "' does not reduce (add, mul, max, min, and, or, xor do)");
    return false;
  }
  const char letter = t.is_float() ? 'f' : t.is_bool() ? 'b' : t.is_index() ? 'x' : 'i';
  if (t.is_value() && GetOpInfo(op).AllowsClass(letter)) return true;
  c.Error(Rule::kTypeReduce, u,
          "'" + std::string(Mnemonic(op)) + "' is not defined for " + t.ToString());
  return false;
}

bool CheckReduce(BodyCheck& c, const UOp* u) {
  if (u->op == Op::kReduceTuple) return true;  // CheckTuples
  const DType from = u->src(0)->dtype, to = u->dtype;
  if (!CheckReduceOp(c, u, u->word(0), from)) return false;
  if (u->op == Op::kReduce &&
      (to.scalar() != from.scalar() || !to.is_value() || from.lanes() % to.lanes() != 0)) {
    c.Error(Rule::kTypeReduce, u,
            "source 0 has type " + from.ToString() + "; the result " + to.ToString() +
                " is no equal part of its lanes");
    return false;
  }
  if (u->op == Op::kReduceAxis) return true;
  for (size_t i = 1; i < u->num_srcs; ++i) {
    const Op op = u->src(i)->op;
    const bool unrolled = c.stage == Stage::kLowered && op == Op::kUnroll;
    const bool ok = u->op == Op::kReduce ? op == Op::kRange || unrolled : op == Op::kSpecial;
    if (ok) continue;
    c.Error(Rule::kRanges, u,
            "source " + std::to_string(i) + " (" + c.Name(u->src(i)) + ") is no " +
                (u->op == Op::kReduce ? "range" : "special coordinate"));
    return false;
  }
  return true;
}

bool CheckEnd(BodyCheck& c, const UOp* u) {
  if (!u->src(0)->dtype.is_void()) {
    c.Error(Rule::kRanges, u,
            "source 0 (" + c.Name(u->src(0)) +
                ") has a value; end closes loops "
                "around an effect");
    return false;
  }
  for (size_t i = 1; i < u->num_srcs; ++i) {
    const Op op = u->src(i)->op;
    if (op == Op::kRange || (c.stage == Stage::kLowered && op == Op::kUnroll)) continue;
    c.Error(Rule::kRanges, u,
            "source " + std::to_string(i) + " (" + c.Name(u->src(i)) + ") is no range");
    return false;
  }
  return true;
}

bool CheckStage(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeMemory, u, std::move(message));
    return false;
  };
  const DType value = u->src(0)->dtype, element = u->src(1)->dtype, gate = u->src(2)->dtype;
  const bool is_kernel_memory = u->dtype.is_pointer() && u->dtype.lanes() == 1 &&
                                u->dtype.space() != AddrSpace::kGlobal && value.is_value();
  if (!is_kernel_memory || value != DType(u->dtype.scalar())) {
    return fail("a " + u->dtype.ToString() + " holds no " + value.ToString());
  }
  if (element != kIndex) return fail("an element's number has type " + element.ToString());
  if (gate != kBool) return fail("a gate has type " + gate.ToString());
  for (const UOp* axis : StageAxes(u)) {
    if (IsLocalId(axis) || axis->op == Op::kRange || axis->op == Op::kUnroll) continue;
    c.Error(Rule::kRanges, u, c.Name(axis) + " is no range, unroll or local id");
    return false;
  }
  if (const UOp* step = StageStep(u); step && step->op != Op::kRange) {
    c.Error(Rule::kRanges, u, c.Name(step) + " is no range");
    return false;
  }
  return true;
}

bool CheckGroup(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeGroup, u, std::move(message));
    return false;
  };
  switch (SubgroupOp(u->op)) {
    case SubgroupOp::kShuffle: {
      if (!u->dtype.is_value()) return fail("it moves values, not addresses");
      const DType which = u->src(1)->dtype;
      return (which.is_int_or_index() && which.lanes() == 1) ||
             fail("source 1, a work-item's number, has type " + which.ToString());
    }
    case SubgroupOp::kTransposeItems:
      return u->dtype.is_value() || fail("it moves values, not addresses");
    case SubgroupOp::kWmma:
      for (const UOp* s : u->srcs()) {
        if (!s->dtype.is_value()) return fail("fragments are values");
      }
      // Bytes with and without a sign may be multiplied.
      if (u->src(0)->dtype.scalar() != u->src(1)->dtype.scalar() &&
          (BitWidth(u->src(0)->dtype.scalar()) != 8 || BitWidth(u->src(1)->dtype.scalar()) != 8)) {
        return fail("the fragments a and b have types " + u->src(0)->dtype.ToString() + " and " +
                    u->src(1)->dtype.ToString());
      }
      return u->dtype == u->src(2)->dtype ||
             fail("the result has not the accumulator's type " + u->src(2)->dtype.ToString());
    case SubgroupOp::kWgmma:
      for (const UOp* s : u->srcs()) {
        const bool is_sums = s == u->src(0);
        const bool fits = s->dtype.is_pointer() && s->dtype.lanes() == 1 &&
                          (s->dtype.space() == AddrSpace::kLocal) != is_sums;
        if (!fits || (is_sums && s->dtype.space() == AddrSpace::kGlobal)) {
          return fail("it takes an address of a work-item's memory and two of local memory, not " +
                      s->dtype.ToString());
        }
      }
      return true;
    case SubgroupOp::kLdMatrix: {
      const DType from = u->src(0)->dtype;
      if (!from.is_pointer() || from.space() != AddrSpace::kLocal || from.lanes() != 1 ||
          BitWidth(from.scalar()) < 8 || BitWidth(from.scalar()) > 32) {
        return fail("source 0 is one address of elements of 8 to 32 bits in local memory, not " +
                    from.ToString());
      }
      // A matrix of eight rows of 16 bytes, spread over 32 work-items, is four bytes in each. Like
      // `load`, the op may give the elements' bits.
      const auto own = static_cast<int64_t>(32 / BitWidth(from.scalar()));
      const bool is_of_it =
          u->dtype.scalar() == from.scalar() || u->dtype.scalar() == BitsType(from.scalar());
      return (is_of_it && u->dtype.lanes() == own * u->word(0)) ||
             fail("the result is four bytes a matrix, not " + u->dtype.ToString());
    }
  }
  TG_UNREACHABLE();
}

}  // namespace

bool CheckExplicitType(BodyCheck& c, const UOp* u) {
  switch (GroupOf(u->op)) {
    case OpGroup::kLeaf:
      return u->op == Op::kVConst ? CheckLanes(c, u) : CheckLeaf(c, u);
    case OpGroup::kConversion:
      return CheckCast(c, u);
    case OpGroup::kReduce:
      return CheckReduce(c, u);
    case OpGroup::kLanes:
      return CheckLanes(c, u);
    case OpGroup::kSubgroup:
      return CheckGroup(c, u);
    case OpGroup::kMemory:
      return u->op == Op::kStage ? CheckStage(c, u) : CheckMemoryType(c, u);
    case OpGroup::kOrder:
      if (u->op == Op::kNoop) return CheckGraphType(c, u);
      return u->op == Op::kEnd ? CheckEnd(c, u) : CheckOrderType(c, u);
    case OpGroup::kTensor:
      return CheckGraphType(c, u);
    case OpGroup::kArithmetic:
    case OpGroup::kIdentity:
    case OpGroup::kMovement:
      return true;  // the rule of the table says all
  }
  TG_UNREACHABLE();
}

}  // namespace tg::verify
