#include "passes/indices/running_tuple.h"

#include <limits>
#include <optional>
#include <vector>

#include "ir/tuple.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::indices {
namespace {

double NumberOf(const UOp* u) { return DoubleFromBits(u->dtype.scalar(), u->word()); }

bool IsFloat(const UOp* u, double number) {
  return IsConst(u) && u->dtype.is_float() && NumberOf(u) == number;
}

bool IsCarried(const UOp* u, size_t number) {
  return u->op == Op::kCarried && u->word(0) == static_cast<int64_t>(number);
}

const UOp* WithoutMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

// scale * `of`, where the scale is a constant.
struct Scaled {
  const UOp* of;
  double scale = 1;
};

Scaled ScaledOf(const UOp* u) {
  u = WithoutMovement(u);
  if (u->op != Op::kMul || !IsConst(u->src(1))) return {u};
  return {WithoutMovement(u->src(0)), NumberOf(u->src(1))};
}

// The number that `u` is, or 0 if that is -inf; null if `u` is none of these.
const UOp* FiniteOf(const UOp* u) {
  const bool selects = u->op == Op::kWhere && u->src(0)->op == Op::kCmpNe &&
                       u->src(0)->src(0) == u->src(1) && IsFloat(u->src(2), 0);
  return selects && IsFloat(u->src(0)->src(1), -std::numeric_limits<double>::infinity()) ? u->src(1)
                                                                                         : nullptr;
}

// exp2(scale * (of - finite `to`)).
struct Factor {
  const UOp *of, *to;
  double scale;
};

std::optional<Factor> FactorOf(const UOp* u) {
  if (u->op != Op::kExp2) return std::nullopt;
  const Scaled exponent = ScaledOf(u->src(0));
  if (exponent.of->op != Op::kSub) return std::nullopt;
  const UOp* to = FiniteOf(exponent.of->src(1));
  return to ? std::optional(Factor{exponent.of->src(0), to, exponent.scale}) : std::nullopt;
}

bool Reaches(const UOp* u, const UOp* to) { return llvm::is_contained(PostOrder(u), to); }

// Whether `u` is a sum of multiples of exp2(... - scale * maximum).
bool IsMultiple(const UOp* u, const UOp* maximum, double scale) {
  for (;;) {
    u = WithoutMovement(u);
    if (u->op == Op::kReduceAxis && static_cast<Op>(u->word()) != Op::kAdd) return false;
    if (u->op == Op::kCast || u->op == Op::kStaged || u->op == Op::kReduceAxis) {
      u = u->src(0);
    } else if (u->op == Op::kMul) {
      const bool first = Reaches(u->src(0), maximum);
      if (first == Reaches(u->src(1), maximum)) return false;
      u = u->src(first ? 0 : 1);
    } else {
      break;
    }
  }
  if (u->op != Op::kExp2 || u->src(0)->op != Op::kSub) return false;
  const Scaled subtracted = ScaledOf(u->src(0)->src(1));
  return FiniteOf(subtracted.of) == maximum && subtracted.scale == scale &&
         !Reaches(u->src(0)->src(0), maximum);
}

}  // namespace

const UOp* WithoutIdentity(const UOp* x, const UOp* identity) {
  if (x->op != Op::kWhere) return x;
  return x->src(1) == identity ? x->src(2) : x->src(2) == identity ? x->src(1) : x;
}

bool IsFactorOfBlock(const UOp* reduce_tuple, const UOp* u) {
  const std::optional<Factor> factor = FactorOf(u);
  return factor && IsCarried(factor->of, TupleSize(reduce_tuple));
}

bool IsRelativeToMaximum(const UOp* reduce_tuple) {
  const size_t n = TupleSize(reduce_tuple);
  const UOpSpan combined = CombinedTuple(reduce_tuple), values = TupleValues(reduce_tuple),
                identities = TupleIdentities(reduce_tuple);
  const UOp* both = combined[0];
  if (both->op != Op::kMax || !IsCarried(both->src(0), 0) || !IsCarried(both->src(1), n)) {
    return false;
  }
  const auto value = [&](size_t i) {
    return WithoutMovement(WithoutIdentity(WithoutMovement(values[i]), identities[i]));
  };
  const UOp* maximum = value(0);
  for (size_t i = 1; i < n; ++i) {
    const UOp* sum = combined[i];
    if (sum->op != Op::kAdd || sum->src(0)->op != Op::kMul || sum->src(1)->op != Op::kMul) {
      return false;
    }
    const UOp *before = sum->src(0), *block = sum->src(1);
    const std::optional<Factor> f = FactorOf(before->src(1)), g = FactorOf(block->src(1));
    const bool multiplies = f && g && IsCarried(before->src(0), i) &&
                            IsCarried(block->src(0), n + i) && IsCarried(f->of, 0) &&
                            IsCarried(g->of, n) && f->to == both && g->to == both &&
                            f->scale == g->scale && f->scale > 0;
    if (!multiplies || !IsMultiple(value(i), maximum, f->scale)) return false;
  }
  return true;
}

const UOp* MaximumIn(const UOp* x) {
  const UOp* maximum = nullptr;
  for (const UOp* e : PostOrder(x)) {
    if (e->op != Op::kExp2) continue;
    const UOp* of_this = nullptr;
    std::vector<const UOp*> stack = {e->src(0)};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (const UOp* finite = FiniteOf(u)) {
        if (of_this && of_this != finite) return nullptr;
        of_this = finite;
      } else if (u->op == Op::kAdd || u->op == Op::kSub || u->op == Op::kMul ||
                 u->op == Op::kMulAcc || u->op == Op::kNeg) {
        stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
      }
    }
    if (!of_this || (maximum && maximum != of_this)) return nullptr;
    maximum = of_this;
  }
  return maximum;
}

}  // namespace tg::indices
