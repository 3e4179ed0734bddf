#include "ir/tuple.h"

#include <algorithm>

namespace tg {

bool IsSameTuple(const UOp* a, const UOp* b) {
  if (a == b) return true;
  if (a->op != Op::kReduceTuple || b->op != Op::kReduceTuple) return false;
  const auto x = a->srcs(), y = b->srcs();
  const auto i = a->list(1), j = b->list(1);
  return std::equal(x.begin(), x.end(), y.begin(), y.end()) &&
         std::equal(i.begin(), i.end(), j.begin(), j.end());
}

const UOp* FirstOfTuple(UOpSpan order, const UOp* u) {
  if (u->op != Op::kReduceTuple) return u;
  return *std::find_if(order.begin(), order.end(), [&](const UOp* v) { return IsSameTuple(v, u); });
}

std::vector<size_t> InnerAxes(const UOp* reduce_tuple, ShapeMap& shapes) {
  const Shape& shape = shapes.Of(reduce_tuple);
  std::vector<size_t> axes;
  for (size_t k = 0; k < shape.size(); ++k) {
    const auto repeats = [&](const UOp* x) {
      return x->op == Op::kExpand && shapes.Of(x->src(0))[k].Is(1);
    };
    const UOpSpan values = TupleValues(reduce_tuple);
    const auto repeated = std::count_if(values.begin(), values.end(), repeats);
    const bool some = repeated > 0 && static_cast<size_t>(repeated) < values.size();
    if (some && !shape[k].Is(1) && !shape[k].is_symbolic()) axes.push_back(k);
  }
  return axes;
}

std::vector<const UOp*> OrderOutsideTuples(const UOp* root) {
  std::vector<const UOp*> order = PostOrder(root);
  const NodeSet inside = InTuplesOnly(order);
  std::erase_if(order, [&](const UOp* u) { return inside.Contains(u); });
  return order;
}

std::vector<const UOp*> CombiningOrder(const UOp* reduce_tuple) {
  NodeSet seen;
  std::vector<const UOp*> order;
  AppendPostOrder(CombinedTuple(reduce_tuple), seen, order);
  return order;
}

NodeSet InTuplesOnly(UOpSpan order) {
  NodeSet outside, inside;
  if (std::none_of(order.begin(), order.end(),
                   [](const UOp* u) { return u->op == Op::kReduceTuple; })) {
    return inside;
  }
  outside.Insert(order.back());
  for (size_t i = order.size(); i-- > 0;) {
    const UOp* u = order[i];
    if (!outside.Contains(u)) {
      inside.Insert(u);
      continue;
    }
    for (const UOp* s : SourcesInBody(u)) outside.Insert(s);
  }
  return inside;
}

}  // namespace tg
