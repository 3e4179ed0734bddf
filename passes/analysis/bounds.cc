#include "passes/analysis/bounds.h"

#include <numeric>

#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/value.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {
namespace {

bool HasInterval(const UOp* u) {
  return u->dtype.is_value() && (u->dtype.is_int_or_index() || u->dtype.is_bool());
}

// The number n of leading sources whose intervals determine the interval of `u`.
size_t DecidingSources(const UOp* u) {
  if (IsElementwise(u->op) || IsMovement(u->op)) {
    if (u->op == Op::kBitcast) return 0;
    return IsMovement(u->op) ? 1 : u->num_srcs;
  }
  switch (u->op) {
    case Op::kRange:
    case Op::kSpecial:
    case Op::kBind:
    case Op::kContiguous:
    case Op::kCopy:
    case Op::kAfter:
    case Op::kReduceAxis:
    case Op::kReduce:
    case Op::kContract:
    case Op::kSplat:
    case Op::kGep:
      return 1;
    case Op::kNoop:
      return u->num_srcs > 0 ? 1 : 0;
    case Op::kVectorize:
    case Op::kCat:
      return u->num_srcs;
    default:
      return 0;
  }
}

// Whether elements of the result may be 0 that no element of the source is.
bool AddsZeros(MovementOp op) {
  switch (op) {
    case MovementOp::kPad:
    case MovementOp::kView:
      return true;
    case MovementOp::kReshape:
    case MovementOp::kExpand:
    case MovementOp::kPermute:
    case MovementOp::kFlip:
    case MovementOp::kShrink:
    case MovementOp::kBroadcast:
      return false;
  }
  TG_UNREACHABLE();
}

Interval ReduceInterval(const UOp* u, Interval v) {
  const Op op = static_cast<Op>(u->word());
  const bool keeps = op == Op::kMax || op == Op::kMin || op == Op::kAnd || op == Op::kOr;
  if (u->dtype.is_bool() || !keeps) return FullInterval(u->dtype.scalar());
  if (op == Op::kMax || op == Op::kMin) {
    // A reduce over no elements is the identity of its op, so only one of the two bounds holds.
    const Interval full = FullInterval(u->dtype.scalar());
    return op == Op::kMax ? Interval{full.lo, v.hi} : Interval{v.lo, full.hi};
  }
  return FullInterval(u->dtype.scalar());
}

int64_t Gcd(int64_t a, int64_t b) { return std::gcd(a, b); }
int64_t Abs(int64_t v) { return v == INT64_MIN ? 1 : v < 0 ? -v : v; }
// The greatest power of two that divides `d`: it still divides a multiple of `d` that has wrapped
// modulo 2^bits.
int64_t PowerOfTwoPart(int64_t d) { return d & -d; }

}  // namespace

Interval Bounds::FromSources(const UOp* u, size_t n) {
  const Scalar s = u->dtype.scalar();
  switch (u->op) {
    case Op::kConst:
      return ConstInterval(s, u->word());
    case Op::kVConst: {
      Interval v = ConstInterval(s, u->list()[0]);
      for (int64_t bits : u->list()) v = Union(v, ConstInterval(s, bits));
      return v;
    }
    case Op::kVar: {
      const VarDecl* var =
          module_ ? module_->FindVar(ctx_.String(static_cast<StringId>(u->word()))) : nullptr;
      return var ? Interval{var->min, var->max} : FullInterval(s);
    }
    case Op::kIota:
      return {0, std::max<int64_t>(u->word() - 1, 0)};
    case Op::kUnroll:
      return {0, u->word(1) - 1};
    case Op::kRange:
    case Op::kSpecial: {
      const int64_t end = Source(u, 0).hi;
      return {0, end == INT64_MAX ? end : std::max<int64_t>(end, 1) - 1};
    }
    case Op::kCast:
      return CastInterval(u->src(0)->dtype.scalar(), s, Source(u, 0));
    case Op::kReduceAxis:
    case Op::kReduce:
      return ReduceInterval(u, Source(u, 0));
    default:
      break;
  }
  if (n == 0) return FullInterval(s);
  if (IsMovement(u->op)) {
    return AddsZeros(MovementOp(u->op)) ? Union(Source(u, 0), Interval::Point(0)) : Source(u, 0);
  }
  if (IsElementwise(u->op) && !IsIdentity(u->op)) {
    Interval args[3];
    for (size_t i = 0; i < n; ++i) args[i] = Source(u, i);
    const Scalar operand = u->op == Op::kWhere ? s : u->src(0)->dtype.scalar();
    return AluInterval(u->op, operand, {args, n});
  }
  Interval v = Source(u, 0);
  for (size_t i = 1; i < n; ++i) v = Union(v, Source(u, i));
  return v;
}

Interval Bounds::Compute(const UOp* root) {
  EnsureRow(root);  // grows the table for all sources too: their ids are smaller
  llvm::SmallVector<const UOp*, 32> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    const Row its = RowAt(u);
    if (its.is_known()) {
      stack.pop_back();
      continue;
    }
    if (!HasInterval(u)) {
      its.Set(Interval{});
      stack.pop_back();
      continue;
    }
    const size_t pending = stack.size();
    const size_t n = DecidingSources(u);
    for (size_t i = 0; i < n; ++i) {
      if (!RowAt(u->src(i)).is_known()) stack.push_back(u->src(i));
    }
    if (stack.size() == pending) {
      const Interval v = FromSources(u, n);
      // An empty interval means that the node is never executed; any interval is right for it.
      its.Set(v.lo <= v.hi ? v : FullInterval(u->dtype.scalar()));
      stack.pop_back();
    }
  }
  return RowAt(root).Get();
}

int64_t Bounds::KnownDivisor(const UOp* root) {
  const auto done = [&](const UOp* u) { return u->id < divisors_.size() && divisors_[u->id] >= 0; };
  if (done(root)) return divisors_[root->id];
  const auto known = [&](const UOp* u) { return divisors_[u->id]; };
  const auto from_sources = [&](const UOp* u) -> int64_t {
    const Scalar s = u->dtype.scalar();
    int64_t d = 1;
    switch (u->op) {
      case Op::kConst:
        return IsUnsigned(s) && u->word() < 0 ? 1 : Abs(u->word());
      case Op::kVConst:
        d = 0;
        for (int64_t bits : u->list()) d = Gcd(d, IsUnsigned(s) && bits < 0 ? 1 : Abs(bits));
        return d;
      case Op::kNeg:
      case Op::kSplat:
      case Op::kGep:
        d = known(u->src(0));
        break;
      case Op::kAdd:
      case Op::kSub:
      case Op::kMax:
      case Op::kMin:
        d = Gcd(known(u->src(0)), known(u->src(1)));
        break;
      case Op::kFloorMod:
      case Op::kCMod:
        d = Gcd(known(u->src(0)), known(u->src(1)));
        break;
      case Op::kWhere:
        d = Gcd(known(u->src(1)), known(u->src(2)));
        break;
      case Op::kMul: {
        if (__builtin_mul_overflow(known(u->src(0)), known(u->src(1)), &d)) {
          d = known(u->src(0));
        }
        break;
      }
      case Op::kFloorDiv:
      case Op::kCDiv: {
        const Interval by = Of(u->src(1));
        if (!by.IsPoint() || by.lo == 0) return 1;
        d = known(u->src(0));
        return d % Abs(by.lo) == 0 ? d / Abs(by.lo) : 1;
      }
      default:
        return 1;
    }
    // A wrap subtracts a multiple of 2^bits.
    const bool may_wrap = s != Scalar::kIndex && (u->op == Op::kAdd || u->op == Op::kSub ||
                                                  u->op == Op::kMul || u->op == Op::kNeg);
    return may_wrap && Of(u) == FullInterval(s) ? PowerOfTwoPart(d) : d;
  };
  llvm::SmallVector<const UOp*, 32> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    if (done(u)) {
      stack.pop_back();
      continue;
    }
    const bool descend = u->dtype.is_value() && u->dtype.is_int_or_index() &&
                         (IsElementwise(u->op) || u->op == Op::kSplat || u->op == Op::kGep) &&
                         u->op != Op::kCast && u->op != Op::kBitcast;
    const size_t pending = stack.size();
    if (descend) {
      for (const UOp* s : u->srcs()) {
        if (!done(s)) stack.push_back(s);
      }
    }
    if (stack.size() != pending) continue;
    if (u->id >= divisors_.size()) divisors_.resize(u->id + 1 + divisors_.size() / 2, -1);
    divisors_[u->id] = descend || IsConst(u) || u->op == Op::kVConst ? from_sources(u) : 1;
  }
  return divisors_[root->id];
}

std::optional<RangeLimit> LimitOf(const UOp* range) {
  if (range->op != Op::kRange || !range->dtype.is_index() || IsConst(range->src(0))) {
    return std::nullopt;
  }
  const UOp* end = range->src(0);
  // For an end x / d + c with constants d and c: range < x / d + c  <=>  d * (range + 1 - c) <= x.
  // For any other end: range + 1 <= end.
  const bool is_sum = end->op == Op::kAdd && IsConst(end->src(1));
  const UOp* quotient = is_sum ? end->src(0) : end;
  if (quotient->op != Op::kFloorDiv || !IsConst(quotient->src(1))) return RangeLimit{1, 1, end};
  const int64_t d = quotient->src(1)->word(), c = is_sum ? end->src(1)->word() : 0;
  int64_t offset = 0;
  if (d <= 0 || __builtin_sub_overflow(1, c, &offset) ||
      __builtin_mul_overflow(d, offset, &offset)) {
    return std::nullopt;
  }
  return RangeLimit{d, offset, quotient->src(0)};
}

}  // namespace tg::analysis
