// Sums, products, maxima. Differences and negations become products with -1 and sums, so that like
// terms combine; constants move to the right. (Sums of many terms: affine_sums.h. Values that
// bounds determine, such as x * 0: FoldByBounds in fold.h, subsumed_test.cc.)
#ifndef TG_PASSES_SIMPLIFY_ADD_MUL_RULES_H_
#define TG_PASSES_SIMPLIFY_ADD_MUL_RULES_H_

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

// clang-format off
inline constexpr auto kAddMul = rules(
    // ---- Identities
    rule(Z | W, x + 0,                          x),
    rule(Z | W, x * 1,                          x),
    rule(Z | W, x - y,                          x + y * -1),
    rule(Z | W, -x,                             x * -1),
    rule(Z | W, MulAdd(x, y, z),                x * y + z),

    // ---- Like terms
    rule(Z | W, x + x,                          x * 2),
    rule(Z | W, x * c0 + x,                     x * (c0 + 1)),
    rule(Z | W, x * c0 + x * c1,                x * (c0 + c1)),
    rule(Z | W, (y + x) + x,                    y + x * 2),
    rule(Z | W, (y + x * c0) + x,               y + x * (c0 + 1)),
    rule(Z | W, (y + x) + x * c0,               y + x * (c0 + 1)),
    rule(Z | W, (y + x * c0) + x * c1,          y + x * (c0 + c1)),

    // ---- Constants outward
    rule(Z | W, (x + c0) + c1,                  x + (c0 + c1)),
    rule(Z | W, (x * c0) * c1,                  x * (c0 * c1)),
    rule(Z | W, (x + c0) + y,                   (x + y) + c0),
    rule(Z | W, (x * c0) * y,                   (x * y) * c0),
    rule(Z | W, (x + c0) * c1,                  x * c1 + c0 * c1),

    // ---- Maximum and minimum
    rule(Z | W | B | F, Max(x, x),              x),
    rule(Z | W | B | F, Min(x, x),              x),
    rule(Z | W, Max(x, y),                      x,                      x >= y),
    rule(Z | W, Min(x, y),                      x,                      x <= y),
    rule(Z | W, Max(Max(x, c0), c1),            Max(x, Max(c0, c1))),
    rule(Z | W, Min(Min(x, c0), c1),            Min(x, Min(c0, c1))),
    rule(Z | W, Max(Max(x, y), y),              Max(x, y)),
    rule(Z | W, Min(Min(x, y), y),              Min(x, y)),
    rule(Z | W, Max(Min(x, y), y),              y),
    rule(Z | W, Min(Max(x, y), y),              y),
    rule(Z,     Max(x + z, y + z),              Max(x, y) + z),
    rule(Z,     Min(x + z, y + z),              Min(x, y) + z),
    rule(Z,     Max(x + c0, c1),                Max(x, c1 - c0) + c0),
    rule(Z,     Min(x + c0, c1),                Min(x, c1 - c0) + c0),
    rule(Z,     Max(x * c0, y * c0),            Max(x, y) * c0,         c0 > 0),
    rule(Z,     Min(x * c0, y * c0),            Min(x, y) * c0,         c0 > 0),
    rule(Z,     Max(x * -1, y * -1),            Min(x, y) * -1),
    rule(Z,     Min(x * -1, y * -1),            Max(x, y) * -1));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_ADD_MUL_RULES_H_
