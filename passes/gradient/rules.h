// The derivative of every op that a tensor graph may have. rule.h explains the language. A scalar
// source of an elementwise op gets the sum of its derivative, which reverse_mode.cc takes.
//
// Where a function has no derivative, a choice: equal operands of max and min get half each, and a
// constant operand gets all (so relu has 0 at 0); equal extrema of a reduce share equally; trunc
// and comparisons have 0; pow has 0 for its exponent at 0^y, y >= 0.
#ifndef TG_PASSES_GRADIENT_RULES_H_
#define TG_PASSES_GRADIENT_RULES_H_

#include <numbers>

#include "passes/gradient/adjoint.h"
#include "passes/gradient/rule.h"

namespace tg::gradient {
namespace rules_table {
using namespace pattern;  // NOLINT: rules should read like algebra

inline constexpr double kLn2 = std::numbers::ln2;
inline constexpr double kHalfPi = std::numbers::pi / 2;
inline constexpr const char* kAfterKernelize = "run gradient before kernelize";
inline constexpr const char* kIteration = "the values of its iterations are not kept";

// clang-format off
inline constexpr auto kRules = std::make_tuple(
    // ---- Functions
    gradient(Exp2(x),           dy * (Min(out, greatest) * kLn2)),  // 0, not NaN, for 1 / (1 + out)
    gradient(Log2(x),           FDiv(dy, x * kLn2)),
    gradient(Sin(x),            dy * Sin(x + kHalfPi)),
    gradient(Sqrt(x),           FDiv(dy, out * 2)),
    gradient(Recip(x),          -(dy * (out * out))),
    gradient(-x,                -dy),
    gradient(Trunc(x),          none),

    // ---- Algebra
    gradient(x + y,             dy,                 dy),
    gradient(x - y,             dy,                 -dy),
    gradient(x * y,             dy * y,             dy * x),
    gradient(FDiv(x, y),        FDiv(dy, y),        -(dy * FDiv(out, y))),
    gradient(MulAdd(x, y, z),   dy * y,             dy * x,             dy),
    gradient(Where(p, x, y),    none,               Where(p, dy, 0),    Where(p, 0, dy)),
    gradient(Max(x, c0),        Where(c0 < x, dy, 0),                   none),
    gradient(Max(c0, x),        none,               Where(c0 < x, dy, 0)),
    gradient(Max(x, y),         Where(x != y, Where(x < y, 0, dy), dy * 0.5),
                                Where(x != y, Where(y < x, 0, dy), dy * 0.5)),
    gradient(Min(x, c0),        Where(x < c0, dy, 0),                   none),
    gradient(Min(c0, x),        none,               Where(x < c0, dy, 0)),
    gradient(Min(x, y),         Where(x != y, Where(y < x, 0, dy), dy * 0.5),
                                Where(x != y, Where(x < y, 0, dy), dy * 0.5)),
    gradient(Pow(x, c0),        dy * (c0 * Pow(x, c0 - 1)),             none),
    gradient(Pow(x, y),         Where(y != 0, dy * (y * Pow(x, y - 1)), 0),
                                Where((x != 0) | (y < 0), dy * (out * (Log2(x) * kLn2)), 0)),

    // ---- Conversions and identities
    gradient(Op::kCast,               &OfCast),
    refused(Op::kBitcast,             "it takes the bits of a float"),
    gradient(Op::kContiguous,         &Passed),
    gradient(Op::kContiguousBackward, &Stored),
    gradient(Op::kDetach,             &Zero),
    gradient(Op::kFuse,               &Passed),
    gradient(Op::kNoop,               &Passed),
    gradient(Op::kCopy,               &OfCopy),

    // ---- Movement and reduction
    gradient(Op::kReshape,      &OfMovement),
    gradient(Op::kExpand,       &OfMovement),
    gradient(Op::kBroadcast,    &OfMovement),
    gradient(Op::kPermute,      &OfMovement),
    gradient(Op::kFlip,         &OfMovement),
    gradient(Op::kPad,          &OfMovement),
    gradient(Op::kShrink,       &OfMovement),
    gradient(Op::kView,         &OfMovement),
    gradient(Op::kReduceAxis,   &OfReduce),
    refused(Op::kReduceTuple,   kAfterKernelize),

    // ---- Memory
    gradient(Op::kBuffer,       &Zero),
    gradient(Op::kConst,        &Zero),
    gradient(Op::kBufferView,   &OfBufferView),
    gradient(Op::kAssign,       &OfAssign),
    gradient(Op::kAfter,        &OfAfter),
    refused(Op::kKernel,        kAfterKernelize),
    refused(Op::kLoop,          kIteration),
    refused(Op::kCarried,       kIteration),
    refused(Op::kRepeat,        kIteration));
// clang-format on

}  // namespace rules_table
}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_RULES_H_
