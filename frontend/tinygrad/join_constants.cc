#include "frontend/tinygrad/join_constants.h"

#include "frontend/tinygrad/ops.h"

namespace tg::tinygrad {

void JoinConstants(Text& text) {
  for (Node& n : text.nodes) {
    if (n.op != "CAST" || n.num_srcs != 1) continue;
    const Node& c = *n.src(0);
    if (c.op != "CONST" || c.num_srcs > 0) continue;
    const auto from = TypeOf(c.dtype), to = TypeOf(n.dtype);
    if (!from || !to || !to->type.is_value()) continue;
    // Only weak types convert to any other type without a CAST, and a fraction never becomes an
    // integer.
    const bool same = from->type == to->type && !from->weak;
    const bool weak = from->weak && (!from->type.is_float() || to->type.is_float());
    if (!same && !weak) continue;
    n.op = c.op;
    n.arg = c.arg;
    n.num_srcs = 0;
  }
}

}  // namespace tg::tinygrad
