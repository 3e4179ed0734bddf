// V214: types of graph ops.
#include "base/check.h"
#include "ir/op_groups.h"
#include "ir/verify/body_check.h"
#include "ir/verify/type_rules.h"

namespace tg::verify {

bool CheckGraphType(BodyCheck& c, const UOp* u) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kTypeGraph, u, std::move(message));
    return false;
  };
  if (u->op == Op::kNoop) {
    if (u->num_srcs == 0) {
      return u->dtype.is_void() || fail("without a source it has no value");
    }
    return u->dtype == u->src(0)->dtype || u->dtype.is_void() ||
           fail("the type is " + u->dtype.ToString() + ", that of its source " +
                u->src(0)->dtype.ToString());
  }
  switch (TensorOp(u->op)) {
    case TensorOp::kAssign: {
      const UOp* value = u->src(1);
      if (IsCall(value->op)) return true;
      if (value->dtype != u->dtype) {
        return fail("the target has type " + u->dtype.ToString() + ", the value " +
                    value->dtype.ToString());
      }
      return true;
    }
    case TensorOp::kBind: {
      if (u->src(0)->op != Op::kVar) return fail("source 0 is no variable");
      const DType t = u->src(1)->dtype;
      return t.is_int_or_index() || fail("the value has type " + t.ToString());
    }
    case TensorOp::kLoop: {
      if (u->src(0)->dtype != kIndex) {
        return fail("the trip count has type " + u->src(0)->dtype.ToString() + ", not index");
      }
      const DType t = u->src(1 + static_cast<size_t>(u->word(1)))->dtype;
      return u->dtype == t || fail("the type is " + u->dtype.ToString() +
                                   ", that of the carried value " + t.ToString());
    }
    case TensorOp::kRepeat:
      if (u->src(0)->dtype != kIndex) {
        return fail("the trip count has type " + u->src(0)->dtype.ToString() + ", not index");
      }
      return u->src(1)->op == Op::kVar || fail("source 1 is no variable");
    case TensorOp::kContiguous:
    case TensorOp::kCopy:
    case TensorOp::kBufferView:
    case TensorOp::kKernel:
      return true;
  }
  TG_UNREACHABLE();
}

}  // namespace tg::verify
