#include "frontend/tinygrad/join_constants.h"

namespace tg::tinygrad {

void JoinConstants(Text& text) {
  for (Node& n : text.nodes) {
    if (n.op != "CAST" || n.num_srcs != 1) continue;
    const Node& c = *n.src(0);
    // Only weak types take any other without a conversion, and an integer no fraction.
    const bool weak_int = c.dtype.is_name("dtypes.weakint");
    const bool weak_float = c.dtype.is_name("dtypes.weakfloat") &&
                            (n.dtype.is_name("dtypes.half") || n.dtype.is_name("dtypes.bfloat16") ||
                             n.dtype.is_name("dtypes.float") || n.dtype.is_name("dtypes.double"));
    const bool same = c.dtype.is_name(n.dtype.text());
    if (c.op != "CONST" || c.num_srcs > 0 || !(weak_int || weak_float || same)) continue;
    n.op = c.op;
    n.arg = c.arg;
    n.num_srcs = 0;
  }
}

}  // namespace tg::tinygrad
