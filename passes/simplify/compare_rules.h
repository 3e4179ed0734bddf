// Comparisons. The IR has only < and !=: a >= b is !(a < b), and a == b is !(a != b).
// (Sums of many terms: index_comparison.h.)
#ifndef TG_PASSES_SIMPLIFY_COMPARE_RULES_H_
#define TG_PASSES_SIMPLIFY_COMPARE_RULES_H_

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

// clang-format off
inline constexpr auto kCompare = rules(
    // ---- A value and itself (results that bounds determine need no rule)
    rule(Z | W | B | F, x < x,                  0),
    rule(Z | W | B,     x != x,                 0),

    // ---- A remainder and its divisor, if the divisor is not a constant
    rule(Z | W, x % y < y,                      1,                      y > 0),
    rule(Z | W, y < x % y,                      0,                      y > 0),
    rule(Z | W, x % y != y,                     1,                      y > 0),

    // ---- Common terms and factors
    rule(Z,     x + z < y + z,                  x < y),
    rule(Z,     x + z < z,                      x < 0),
    rule(Z,     z < x + z,                      0 < x),
    rule(Z,     x * c0 < y * c0,                x < y,                  c0 > 0),
    rule(Z,     x * c0 < y * c0,                y < x,                  c0 < 0),
    rule(Z | W, x + z != y + z,                 x != y),
    rule(Z | W, x + z != z,                     x != 0),
    rule(Z,     x * c0 != y * c0,               x != y,                 c0 != 0),

    // ---- With a constant: isolate the term on one side
    rule(Z,     x + c0 < c1,                    x < c1 - c0),
    rule(Z,     c1 < x + c0,                    c1 - c0 < x),
    rule(Z,     x + c0 < y + c1,                x < y + (c1 - c0)),
    rule(W,     x + c0 < c1,                    x < c1 - c0,            NoWrap(x + c0) && NoWrap(c1 - c0)),
    rule(W,     c1 < x + c0,                    c1 - c0 < x,            NoWrap(x + c0) && NoWrap(c1 - c0)),
    rule(Z | W, x + c0 != c1,                   x != c1 - c0),
    rule(Z,     x * c0 < c1,                    x < (c1 - 1) / c0 + 1,  c0 > 0),
    rule(Z,     x * c0 < c1,                    c1 / c0 < x,            c0 < 0),
    rule(Z,     c1 < x * c0,                    c1 / c0 < x,            c0 > 0),
    rule(Z,     c1 < x * c0,                    x < (c1 * -1 - 1) / (c0 * -1) + 1,
                                                                        c0 < 0),
    rule(Z,     x * c0 != c1,                   x != c1 / c0,           c0 != 0 && c1 % c0 == 0),
    rule(Z,     x * c0 != c1,                   1,                      c0 != 0 && c1 % c0 != 0),
    rule(Z,     x / c0 < c1,                    x < c0 * c1,            c0 > 0),
    rule(W,     x / c0 < c1,                    x < c0 * c1,            c0 > 0 && NoWrap(c0 * c1)),
    rule(Z,     c1 < x / c0,                    c0 * c1 + (c0 - 1) < x, c0 > 0),
    rule(Z,     Max(x, c0) < c1,                x < c1,                 c0 < c1),
    rule(Z,     c1 < Max(x, c0),                c1 < x,                 c0 <= c1),
    rule(Z,     Min(x, c0) < c1,                x < c1,                 c0 >= c1),
    rule(Z,     c1 < Min(x, c0),                c1 < x,                 c1 < c0),

    // ---- Terms smaller than the common divisor of the rest do not matter
    rule(Z,     y + x * c0 < c1,                x < c1 / c0,            Within(y, 0, c0) && c1 % c0 == 0),
    rule(Z,     c1 < y + x * c0,                c1 / c0 < x,            Within(y, 0, c0) && (c1 + 1) % c0 == 0),
    rule(Z,     0 < x * c0 + y * c1,            0 < x + y,              c0 > 0 && c1 > 0 && x >= 0 && y >= 0),
    rule(Z,     0 < x * c0 + y,                 0 < x + y,              c0 > 1 && x >= 0 && y >= 0),
    rule(Z,     x * c0 + y * c1 < 1,            x + y < 1,              c0 > 0 && c1 > 0 && x >= 0 && y >= 0),
    rule(Z,     x * c0 + y < 1,                 x + y < 1,              c0 > 1 && x >= 0 && y >= 0),

    // ---- Negations
    rule(Z,     x >= c0,                        c0 - 1 < x),
    rule(Z,     x <= c0,                        x < c0 + 1),
    rule(W,     x >= c0,                        c0 - 1 < x,             NoWrap(c0 - 1)),
    rule(W,     x <= c0,                        x < c0 + 1,             NoWrap(c0 + 1)),

    // ---- Two bounds on one value
    rule(Z | W, (x < c0) & (x < c1),            x < Min(c0, c1)),
    rule(Z | W, (c0 < x) & (c1 < x),            Max(c0, c1) < x),
    rule(Z | W, (x < c0) | (x < c1),            x < Max(c0, c1)),
    rule(Z | W, (c0 < x) | (c1 < x),            Min(c0, c1) < x),
    rule(Z | W, (x < c0) & (c1 < x),            0,                      c0 <= c1 + 1),
    rule(Z | W, (x < c0) | (c1 < x),            1,                      c1 < c0));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_COMPARE_RULES_H_
