// Quotients and remainders. `/` and `%` are floor; CDiv and CMod truncate. By definition x / 0 = 0,
// x % 0 = x, and the smallest signed number divided by -1 wraps to itself.
// (Numerators that are sums of many terms: div_mod.h. A result that bounds determine, such as
// x % 1, needs no rule: FoldByBounds in fold.h, subsumed_test.cc.)
#ifndef TG_PASSES_SIMPLIFY_DIV_MOD_RULES_H_
#define TG_PASSES_SIMPLIFY_DIV_MOD_RULES_H_

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

// clang-format off
inline constexpr auto kDivMod = rules(
    // ---- Identities
    rule(Z | W, x / 1,                          x),
    rule(Z | S, x / -1,                         x * -1),
    rule(Z | W, x % 0,                          x),
    rule(Z | W, x / x,                          1,                      x != 0),
    rule(Z | W, x % x,                          0),

    // ---- Results that bounds determine
    rule(Z | W, x % y,                          x,                      x >= 0 && x < y),
    rule(Z,     x % y,                          x + y,                  x < 0 && x >= y * -1),
    rule(Z | W, x % c0,                         x - c0,                 x >= c0 && x < c0 * 2 && c0 > 0),

    // ---- Truncating division that equals floor division, or its mirror image
    rule(Z | W, CDiv(x, y),                     x / y,                  x >= 0 && y >= 0),
    rule(Z | W, CMod(x, y),                     x % y,                  x >= 0 && y >= 0),
    rule(Z,     CDiv(x, c0),                    (x * -1) / c0 * -1,     x <= 0 && c0 > 0),
    rule(Z,     CMod(x, c0),                    (x * -1) % c0 * -1,     x <= 0 && c0 > 0),
    rule(Z | W, CDiv(x, 1),                     x),
    rule(Z | S, CDiv(x, -1),                    x * -1),
    rule(Z | W, CMod(x, 0),                     x),
    rule(Z | W, CDiv(x, x),                     1,                      x != 0),
    rule(Z | W, CMod(x, x),                     0),
    rule(Z,     CDiv(x * c0, c0),               x,                      c0 != 0),
    rule(Z,     CMod(x * c0, c1),               0,                      c1 != 0 && c0 % c1 == 0),
    rule(Z,     CDiv(CDiv(x, c0), c1),          CDiv(x, c0 * c1)),
    rule(W,     CDiv(CDiv(x, c0), c1),          CDiv(x, c0 * c1),       c0 > 0 && c1 > 0 && NoWrap(c0 * c1)),
    rule(Z | W, CMod(CMod(x, c0), c1),          CMod(x, c1),            c1 != 0 && c0 % c1 == 0),

    // ---- Sums of a quotient and its remainder
    rule(Z | W, (x / y) * y + x % y,            x),
    rule(Z | W, (x / c0) * c1 + (x % c0) * c2,  x * c2,                 c1 == c0 * c2),
    rule(Z | W, (z + (x / y) * y) + x % y,      z + x),
    rule(Z | W, (z + x % y) + (x / y) * y,      z + x),
    rule(Z,     (z + (x / c0) * c1) + (x % c0) * c2,
                                                z + x * c2,             c1 == c0 * c2),
    rule(Z,     (x / c0 % c1) * c0 + x % c0,    x % (c0 * c1),          c0 > 0 && c1 > 0),
    rule(Z,     (z + (x / c0 % c1) * c0) + x % c0,
                                                z + x % (c0 * c1),      c0 > 0 && c1 > 0),

    // ---- Nested divisions
    rule(Z,     (x / c0) / c1,                  x / (c0 * c1),          c1 > 0),
    rule(W,     (x / c0) / c1,                  x / (c0 * c1),          c0 > 0 && c1 > 0 && NoWrap(c0 * c1)),
    rule(Z | W, (x % c0) % c1,                  x % c1,                 c0 % c1 == 0),
    rule(Z,     (x % c0) / c1,                  x / c1 % (c0 / c1),     c0 > 0 && c1 > 0 && c0 % c1 == 0),
    rule(Z,     (x / c0 + c1) / c2,             (x + c0 * c1) / (c0 * c2),
                                                                        c0 > 0 && c2 > 0),

    // ---- Products and sums, floor
    rule(Z,     (x * c0) / c1,                  x * (c0 / c1),          c1 != 0 && c0 % c1 == 0),
    rule(Z,     (x * c0) / c1,                  x / (c1 / c0),          c0 > 0 && c1 > 0 && c1 % c0 == 0),
    rule(Z,     (x * c0) % c1,                  0,                      c1 != 0 && c0 % c1 == 0),
    rule(Z,     (x * c0) % c1,                  x % (c1 / c0) * c0,     c0 > 0 && c1 > 0 && c1 % c0 == 0),
    rule(Z,     (x + c0) / c1,                  x / c1 + c0 / c1,       x >= 0 && c1 != 0 && c0 % c1 == 0),
    rule(Z,     (x + c0) % c1,                  (x + c0 % c1) % c1,     x >= 0 && c1 > 0 && (c0 < 0 || c0 >= c1)),
    rule(Z,     (y + x * c0) / c1,              y / c1 + x * (c0 / c1), c1 != 0 && c0 % c1 == 0),
    rule(Z,     (y + x * c0) % c1,              y % c1,                 c1 > 0 && c0 % c1 == 0),
    rule(Z,     (x % c0 + y) % c1,              (x + y) % c1,           c1 > 0 && c0 % c1 == 0),
    rule(Z,     ((x % c0) * c1 + y) % c2,       (x * c1 + y) % c2,      c2 > 0 && c0 * c1 % c2 == 0),
    rule(Z,     (x * c0 + y) / c1,              x / (c1 / c0),          c0 > 0 && c1 % c0 == 0 && c1 > 0 && Within(y, 0, c0)),
    rule(Z,     (x * c0 + y) % c1,              x % (c1 / c0) * c0 + y, c0 > 0 && c1 % c0 == 0 && c1 > 0 && Within(y, 0, c0)),

    // ---- The same for divisors that are not constant
    rule(Z,     (x * y) / y,                    x,                      y != 0),
    rule(Z,     (x * y) % y,                    0,                      y != 0),
    rule(Z,     (x * y + z) / y,                x + z / y,              y > 0),
    rule(Z,     (x * y + z) % y,                z % y,                  y > 0),
    rule(Z,     (x + y) / y,                    x / y + 1,              y > 0),
    rule(Z,     (x + y) % y,                    x % y,                  y > 0),

    // ---- Integers of which bounds prove that they do not wrap
    rule(W,     (x * c0) / c0,                  x,                      c0 != 0 && NoWrap(x * c0)),
    rule(W,     (x * c0) % c0,                  0,                      c0 != 0 && NoWrap(x * c0)),
    rule(W,     (x * c0) / c1,                  x * (c0 / c1),          c0 > 0 && c1 > 0 && c0 % c1 == 0 && NoWrap(x * c0)),
    rule(W,     (x * c0) / c1,                  x / (c1 / c0),          c0 > 0 && c1 > 0 && c1 % c0 == 0 && NoWrap(x * c0)),
    rule(W,     (x * c0 + y) / c0,              x,                      Within(y, 0, c0) && NoWrap(x * c0 + y)),
    rule(W,     (x * c0 + y) % c0,              y,                      Within(y, 0, c0) && NoWrap(x * c0 + y)));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_DIV_MOD_RULES_H_
