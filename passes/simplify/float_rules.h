// Floats. A rule with a flag of the module (kNoNan, kZeroMul, kInfRatio, kFastMath) is not exact
// and needs that permission. Every other rule gives the same bits (a NaN for a NaN), except for
// those on powers, which keep the accuracy of `pow`; float_rules_test.cc checks this by evaluation.
// Maxima are not commuted: max(-0.0, 0.0) is -0.0.
#ifndef TG_PASSES_SIMPLIFY_FLOAT_RULES_H_
#define TG_PASSES_SIMPLIFY_FLOAT_RULES_H_

#include <limits>

#include "passes/rewrite/pattern.h"

namespace tg::rule_lists {
using namespace rewrite::pattern;  // NOLINT: rules should read like algebra

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// clang-format off
inline constexpr auto kFloat = rules(
    // ---- Exact
    rule(F,     x * 1,                          x),
    rule(F,     x * -1,                         -x),
    rule(F,     x + -0.0,                       x),
    rule(F,     x - 0,                          x),
    rule(F,     FDiv(x, 1),                     x),
    rule(F,     FDiv(x, -1),                    -x),
    rule(F,     FDiv(1, x),                     Recip(x)),
    rule(F,     FDiv(x, c0),                    x * FDiv(1, c0),        PowerOfTwo(c0)),
    rule(F,     -(-x),                          x),
    rule(F,     x + -y,                         x - y),
    rule(F,     x - -y,                         x + y),
    rule(F,     -x * c0,                        x * -c0),
    rule(F,     -x * -y,                        x * y),
    rule(F,     FDiv(-x, -y),                   FDiv(x, y)),
    rule(F,     Recip(-x),                      -Recip(x)),
    rule(F,     x + x,                          x * 2),
    rule(F,     Max(x, -kInfinity),             x),
    rule(F,     Max(-kInfinity, x),             x),
    rule(F,     Min(x, kInfinity),              x),
    rule(F,     Min(kInfinity, x),              x),
    rule(F,     Max(Max(x, y), y),              Max(x, y)),
    rule(F,     Min(Min(x, y), y),              Min(x, y)),
    rule(F,     Max(Max(x, c0), c1),            Max(x, Max(c0, c1))),
    rule(F,     Min(Min(x, c0), c1),            Min(x, Min(c0, c1))),
    rule(F,     -x < -y,                        y < x),
    rule(F,     -x != -y,                       x != y),
    rule(F,     x < -kInfinity,                 0),
    rule(F,     Pow(x, 0),                      1),
    rule(F,     Pow(x, 1),                      x),
    rule(F,     Pow(1, x),                      1),

    // ---- Within the accuracy of pow
    rule(F,     Pow(x, 2),                      x * x),
    rule(F,     Pow(x, 3),                      x * x * x,              kWide),
    rule(F,     Pow(x, 4),                      (x * x) * (x * x),      kWide),
    rule(F,     Pow(x, -1),                     Recip(x)),

    // ---- If no NaN occurs
    rule(F,     x - x,                          0,                      kNoNan || kZeroMul),
    rule(F,     FDiv(x, x),                     1,                      kNoNan),
    rule(F,     x * Recip(x),                   1,                      kNoNan && kFastMath),
    rule(F,     x != x,                         0,                      kNoNan),

    // ---- If 0 times anything is 0
    rule(F,     x * 0,                          0,                      kZeroMul),
    rule(F,     x * -0.0,                       0,                      kZeroMul),
    rule(F,     x * Where(p, 0, c0),            Where(p, 0, x * c0),    kZeroMul),
    rule(F,     x * Where(p, c0, 0),            Where(p, x * c0, 0),    kZeroMul),
    rule(F,     Exp2(x) * Where(p, 0, y),       Where(p, 0, Exp2(x) * y), kZeroMul),
    rule(F,     Exp2(x) * Where(p, y, 0),       Where(p, Exp2(x) * y, 0), kZeroMul),

    // ---- If x/(x + 1) is 1 for an infinite x: the logistic function and its derivatives
    rule(F,     x * Recip(x + 1),               1 - Recip(x + 1),       kInfRatio || kFastMath),
    rule(F,     -x * Recip(x + 1),              Recip(x + 1) - 1,       kInfRatio || kFastMath),
    rule(F,     FDiv(x, x + 1),                 1 - Recip(x + 1),       kInfRatio || kFastMath),
    rule(F,     x * (Recip(x + 1) * y),         (1 - Recip(x + 1)) * y, kInfRatio || kFastMath),
    rule(F,     x * (Recip(x + 1) + y),         (1 - Recip(x + 1)) + x * y, kInfRatio),

    // ---- If floats behave like real numbers
    rule(F,     x + 0,                          x,                      kFastMath),
    rule(F,     (x + c0) + c1,                  x + (c0 + c1),          kFastMath),
    rule(F,     (x * c0) * c1,                  x * (c0 * c1),          kFastMath),
    rule(F,     (x + c0) + y,                   (x + y) + c0,           NotConstant(y) && kFastMath),
    rule(F,     (x * c0) * y,                   (x * y) * c0,           NotConstant(y) && kFastMath),
    rule(F,     x * c0 + x,                     x * (c0 + 1),           kFastMath),
    rule(F,     x * c0 + x * c1,                x * (c0 + c1),          kFastMath),
    rule(F,     FDiv(x, c0),                    x * FDiv(1, c0),        kFastMath),
    rule(F,     FDiv(x * y, y),                 x,                      kFastMath),
    rule(F,     (x * Recip(y)) * y,             x,                      kFastMath),
    rule(F,     Recip(x * x),                   Recip(x) * Recip(x),    kFastMath),
    rule(F,     Recip(Recip(x)),                x,                      kFastMath),
    rule(F,     Pow(x, 0.5),                    Sqrt(x),                kFastMath),
    rule(F,     Pow(x, -0.5),                   Recip(Sqrt(x)),         kFastMath),
    rule(F,     Pow(x, 1.5),                    x * Sqrt(x),            kFastMath),
    rule(F,     Exp2(Log2(x)),                  x,                      kFastMath),
    rule(F,     Log2(Exp2(x)),                  x,                      kFastMath));
// clang-format on

}  // namespace tg::rule_lists

#endif  // TG_PASSES_SIMPLIFY_FLOAT_RULES_H_
