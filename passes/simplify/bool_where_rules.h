// Bools and `where`. `~` is logical not. On bools, add and max are or, mul and min are and, and
// cmpne is exclusive or.
#ifndef TG_PASSES_SIMPLIFY_BOOL_WHERE_RULES_H_
#define TG_PASSES_SIMPLIFY_BOOL_WHERE_RULES_H_

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

// clang-format off
inline constexpr auto kBoolWhere = rules(
    // ---- One canonical spelling for each op
    rule(B,     x + y,                          x | y),
    rule(B,     Max(x, y),                      x | y),
    rule(B,     x * y,                          x & y),
    rule(B,     Min(x, y),                      x & y),
    rule(B,     x ^ y,                          x != y),
    rule(B,     x < y,                          ~x & y),

    // ---- And, or, not
    rule(B,     x & 1,                          x),
    rule(B,     x | 0,                          x),
    rule(B,     x != 0,                         x),
    rule(B,     ~~x,                            x),
    rule(B,     x & x,                          x),
    rule(B,     x | x,                          x),
    rule(B,     x & ~x,                         0),
    rule(B,     x | ~x,                         1),
    rule(B,     x != ~x,                        1),
    rule(B,     ~x != ~y,                       x != y),
    rule(B,     x & (x | y),                    x),
    rule(B,     x | (x & y),                    x),
    rule(B,     (x & y) & y,                    x & y),
    rule(B,     (x | y) | y,                    x | y),
    rule(B,     (x & ~y) & y,                   0),
    rule(B,     (x & y) & ~y,                   0),
    rule(B,     (x | ~y) | y,                   1),
    rule(B,     x & (~x | y),                   x & y),
    rule(B,     x | (~x & y),                   x | y),

    // ---- Where: equal branches, known and negated gates
    rule(Z | W | B | F, Where(p, x, x),         x),
    rule(Z | W | B | F, Where(1, x, y),         x),
    rule(Z | W | B | F, Where(0, x, y),         y),
    rule(Z | W | B | F, Where(~p, x, y),        Where(p, y, x)),

    // ---- Where of bools
    rule(B,     Where(p, 1, 0),                 p),
    rule(B,     Where(p, 0, 1),                 ~p),
    rule(B,     Where(p, x, 0),                 p & x),
    rule(B,     Where(p, 1, x),                 p | x),
    rule(B,     Where(p, 0, x),                 ~p & x),
    rule(B,     Where(p, x, 1),                 ~p | x),

    // ---- Where in where
    rule(Z | W | B | F, Where(p, Where(p, x, y), z),    Where(p, x, z)),
    rule(Z | W | B | F, Where(p, x, Where(p, y, z)),    Where(p, x, z)),
    rule(Z | W | B | F, Where(p, Where(q, x, y), y),    Where(p & q, x, y)),
    rule(Z | W | B | F, Where(p, x, Where(q, x, y)),    Where(p | q, x, y)),
    rule(Z | W | B | F, Where(p, Where(q, y, x), y),    Where(p & ~q, x, y)),
    rule(Z | W | B | F, Where(p & q, x, Where(p, y, z)), Where(p, Where(q, x, y), z)),
    rule(Z | W | F,     Where(p, x, y) < Where(p, x, z), ~p & (y < z)),

    // ---- Where as maximum and minimum
    rule(Z | W, Where(x < y, x, y),             Min(x, y)),
    rule(Z | W, Where(x < y, y, x),             Max(x, y)),

    // ---- Products with a choice of 0 and 1
    rule(Z | W, Where(p, 1, 0) * x,             Where(p, x, 0)),
    rule(Z | W, Where(p, 1, 0) != 0,            p),
    rule(Z | W, Where(p, x, 0) + Where(p, 0, y), Where(p, x, y)));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_BOOL_WHERE_RULES_H_
