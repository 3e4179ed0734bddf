// Bit operations on integers that wrap. A shift by an amount outside 0..bits-1 gives 0, except that
// a right shift of a negative number gives -1.
#ifndef TG_PASSES_SIMPLIFY_BIT_RULES_H_
#define TG_PASSES_SIMPLIFY_BIT_RULES_H_

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

// clang-format off
inline constexpr auto kBits = rules(
    rule(W,     x & x,                          x),
    rule(W,     x | x,                          x),
    rule(W,     x ^ x,                          0),
    rule(W,     x & -1,                         x),
    rule(W,     x | 0,                          x),
    rule(W,     x | -1,                         -1),
    rule(W,     x ^ 0,                          x),
    rule(W,     (x & c0) & c1,                  x & (c0 & c1)),
    rule(W,     (x | c0) | c1,                  x | (c0 | c1)),
    rule(W,     (x ^ c0) ^ c1,                  x ^ (c0 ^ c1)),
    rule(W,     (x & y) & y,                    x & y),
    rule(W,     (x | y) | y,                    x | y),
    rule(W,     (x ^ y) ^ y,                    x),
    rule(W,     (x | c0) & c1,                  x & c1,                 (c0 & c1) == 0),
    rule(W,     (x | c0) & c1,                  c1,                     (c0 & c1) == c1),
    rule(W,     x & c0,                         x,                      Within(x, 0, c0 + 1) && (c0 & (c0 + 1)) == 0),

    rule(W,     x << 0,                         x),
    rule(W,     x >> 0,                         x),
    rule(W,     0 << x,                         0),
    rule(W,     (x << c0) << c1,                x << (c0 + c1),         c0 >= 0 && c1 >= 0 && NoWrap(c0 + c1)),
    rule(W,     (x >> c0) >> c1,                x >> (c0 + c1),         c0 >= 0 && c1 >= 0 && NoWrap(c0 + c1)),
    rule(W,     (x >> c0) << c0,                x & (-1 << c0)),
    rule(U,     (x << c0) >> c0,                x & (-1 >> c0)),
    rule(W,     (x & c0) >> c1,                 (x >> c1) & (c0 >> c1)),
    rule(W,     (x & c0) << c1,                 (x << c1) & (c0 << c1)));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_BIT_RULES_H_
