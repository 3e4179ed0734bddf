// V411: reduce_tuple and its combining body, and where `carried` may be otherwise.
#include <string>

#include "ir/tuple.h"
#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

bool CheckCombining(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTuple, u, std::move(message));
    return false;
  };
  const size_t n = TupleSize(u);
  for (const UOp* v : CombiningOrder(u)) {
    if (!c.shapes.Of(v).empty()) {
      return fail("its combining body has " + c.Name(v) + ", which is no scalar");
    }
    if (v->op == Op::kCarried) {
      const auto arg = static_cast<size_t>(v->word(0));
      if (arg >= 2 * n) {
        return fail("its combining body takes number " + std::to_string(arg) + ", there are " +
                    std::to_string(2 * n));
      }
      if (v->dtype != u->src(arg % n)->dtype) {
        return fail("its combining body takes number " + std::to_string(arg) + " as " +
                    v->dtype.ToString() + ", it is " + u->src(arg % n)->dtype.ToString());
      }
    } else if (v->op != Op::kConst && !IsElementwise(v->op)) {
      return fail("its combining body has " + c.Name(v) + ", which is not arithmetic on carried");
    }
  }
  return true;
}

bool CheckTuple(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTuple, u, std::move(message));
    return false;
  };
  const size_t n = TupleSize(u);
  if (u->num_srcs % 3 != 0) {
    return fail("it has " + std::to_string(u->num_srcs) +
                " sources; n values, n identities and n combined numbers are expected");
  }
  if (u->word(0) < 0 || static_cast<uint64_t>(u->word(0)) >= n) {
    return fail("result is not the number of a value");
  }
  if (u->dtype != u->src(static_cast<size_t>(u->word(0)))->dtype) {
    return fail("the type is " + u->dtype.ToString() + ", that of the value " +
                u->src(static_cast<size_t>(u->word(0)))->dtype.ToString());
  }
  for (const UOp* x : TupleValues(u)) {
    if (c.shapes.Of(x) != c.shapes.Of(u->src(0))) {
      return fail(c.Name(x) + " has another shape than " + c.Name(u->src(0)));
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const DType t = u->src(i)->dtype;
    const UOp *identity = TupleIdentities(u)[i], *combined = CombinedTuple(u)[i];
    if (!t.is_value() || t.is_index()) {
      return fail("value " + std::to_string(i) + " has type " + t.ToString());
    }
    if (!IsConst(identity) || identity->dtype != t) {
      return fail("identity " + std::to_string(i) + " is no constant of type " + t.ToString());
    }
    if (combined->dtype != t) {
      return fail("combined number " + std::to_string(i) + " has type " +
                  combined->dtype.ToString() + ", not " + t.ToString());
    }
  }
  return CheckCombining(c, u);
}

}  // namespace

void CheckTuples(BodyCheck& c) {
  for (const UOp* u : c.order) {
    if (u->op == Op::kReduceTuple && !CheckTuple(c, u)) return;
  }
  if (c.stage != Stage::kKernel) return;
  const NodeSet inside = InTuplesOnly(c.order);
  for (const UOp* u : c.order) {
    if (u->op != Op::kCarried || inside.Contains(u)) continue;
    return c.Error(Rule::kTuple, u, "it is in no combining body");
  }
}

}  // namespace tg::verify
