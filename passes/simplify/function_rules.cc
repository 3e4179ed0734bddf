// Rules that are functions.
#include "passes/simplify/compare.h"
#include "passes/simplify/div_mod.h"
#include "passes/simplify/fold.h"
#include "passes/simplify/linear.h"
#include "passes/simplify/rule_lists.h"

namespace tg {
namespace {
using namespace pattern;  // NOLINT

// clang-format off
// Before the algebra: constants, and their place.
constexpr auto kFold = rules(
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
           Op::kMax, Op::kMin, Op::kPow, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr,
           Op::kThreefry, Op::kCmpLt, Op::kCmpNe, Op::kWhere, Op::kMulAcc, Op::kNeg, Op::kExp2,
           Op::kLog2, Op::kSin, Op::kSqrt, Op::kRecip, Op::kCast, Op::kBitcast>(
        &FoldConstants, "FoldConstants"),
    custom<Op::kAdd, Op::kMul, Op::kAnd, Op::kOr, Op::kXor, Op::kMax, Op::kMin, Op::kCmpNe>(
        &CanonicalOperands, "CanonicalOperands"),
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod, Op::kMax,
           Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr, Op::kCmpLt, Op::kCmpNe,
           Op::kWhere, Op::kCast, Op::kNeg, Op::kMulAcc>(
        &FoldByBounds, "FoldByBounds"));

// After it.
constexpr auto kGeneral = rules(
    custom<Op::kFloorDiv, Op::kFloorMod, Op::kCmpLt>(&FoldRangeAgainstEnd, "FoldRangeAgainstEnd"),
    custom<Op::kFloorDiv, Op::kFloorMod>(&FoldDivModOfSum, "FoldDivModOfSum"),
    custom<Op::kCmpLt, Op::kCmpNe>(&FoldCompareOfCast, "FoldCompareOfCast"),
    custom<Op::kCmpLt, Op::kCmpNe>(&FoldCompareOfSums, "FoldCompareOfSums"),
    custom<Op::kMul>(&DistributeProduct, "DistributeProduct"),
    custom<Op::kAdd>(&CanonicalSum, "CanonicalSum"),
    custom<Op::kCast, Op::kBitcast>(&FoldCast, "FoldCast"),
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
           Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr, Op::kCmpLt,
           Op::kCmpNe>(&FoldIntoWhere, "FoldIntoWhere"));
// clang-format on

}  // namespace

const RuleList& FoldRules() { return RuleTable<kFold>::kList; }
const RuleList& GeneralRules() { return RuleTable<kGeneral>::kList; }

}  // namespace tg
