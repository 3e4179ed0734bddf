// The lists of rules that are functions instead of patterns.
#include "passes/simplify/affine_sums.h"
#include "passes/simplify/closed_reduce.h"
#include "passes/simplify/div_mod.h"
#include "passes/simplify/fold.h"
#include "passes/simplify/gate.h"
#include "passes/simplify/gated_values.h"
#include "passes/simplify/index_comparison.h"
#include "passes/simplify/lane_ops.h"
#include "passes/simplify/memory_ops.h"
#include "passes/simplify/rule_lists.h"

namespace tg::simplify {
namespace {
using namespace rewrite::pattern;  // NOLINT

// clang-format off
// These run before the algebraic rules: folding of constants, and moving them to the right.
constexpr auto kFold = rules(
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
           Op::kMax, Op::kMin, Op::kPow, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr,
           Op::kThreefry, Op::kCmpLt, Op::kCmpNe, Op::kWhere, Op::kMulAcc, Op::kDot4, Op::kNeg, Op::kExp2,
           Op::kLog2, Op::kSin, Op::kSqrt, Op::kRecip, Op::kTrunc, Op::kCast, Op::kBitcast>(
        &FoldConstants, "FoldConstants"),
    custom<Op::kReduce>(&FoldReduceOfConstants, "FoldReduceOfConstants"),
    custom<Op::kAdd, Op::kMul, Op::kAnd, Op::kOr, Op::kXor, Op::kMax, Op::kMin, Op::kCmpNe>(
        &CanonicalOperands, "CanonicalOperands"),
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod, Op::kMax,
           Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr, Op::kCmpLt, Op::kCmpNe,
           Op::kWhere, Op::kCast, Op::kNeg, Op::kMulAcc>(
        &FoldByBounds, "FoldByBounds"));

constexpr auto kWidth = rules(custom<Op::kCast>(&WidenProduct, "WidenProduct"));

// These run after the algebraic rules.
constexpr auto kGeneral = rules(
    custom<Op::kFloorDiv, Op::kFloorMod, Op::kCmpLt>(&FoldRangeAgainstEnd, "FoldRangeAgainstEnd"),
    custom<Op::kFloorDiv, Op::kFloorMod>(&FoldDivModOfSum, "FoldDivModOfSum"),
    custom<Op::kFloorDiv, Op::kFloorMod>(&FoldSymbolicDivMod, "FoldSymbolicDivMod"),
    custom<Op::kCmpLt, Op::kCmpNe>(&FoldCompareOfCast, "FoldCompareOfCast"),
    custom<Op::kCmpLt, Op::kCmpNe>(&FoldCompareOfRemainder, "FoldCompareOfRemainder"),
    custom<Op::kCmpLt, Op::kCmpNe>(&FoldCompareOfSums, "FoldCompareOfSums"),
    custom<Op::kMul>(&FoldMulOfBool, "FoldMulOfBool"),
    custom<Op::kAdd, Op::kMul>(&FoldIntoIndex, "FoldIntoIndex"),
    custom<Op::kMul>(&DistributeProduct, "DistributeProduct"),
    custom<Op::kMul>(&NegateExtremum, "NegateExtremum"),
    custom<Op::kAdd>(&FoldAddOfZero, "FoldAddOfZero"),
    custom<Op::kAdd>(&CanonicalSum, "CanonicalSum"),
    custom<Op::kCast, Op::kBitcast>(&FoldCast, "FoldCast"),
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
           Op::kMax, Op::kMin, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr, Op::kCmpLt,
           Op::kCmpNe>(&FoldIntoWhere, "FoldIntoWhere"));
// Vectors.
constexpr auto kLanes = rules(
    custom<Op::kGep>(&FoldGep, "FoldGep"),
    custom<Op::kVectorize>(&FoldVectorize, "FoldVectorize"),
    custom<Op::kCat>(&FoldCat, "FoldCat"),
    custom<Op::kSplat>(&FoldSplat, "FoldSplat"),
    custom<Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kFloorDiv, Op::kFloorMod, Op::kCDiv, Op::kCMod,
           Op::kMax, Op::kMin, Op::kPow, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr,
           Op::kThreefry, Op::kCmpLt, Op::kCmpNe, Op::kWhere, Op::kMulAcc, Op::kDot4, Op::kNeg, Op::kExp2,
           Op::kLog2, Op::kSin, Op::kSqrt, Op::kRecip, Op::kTrunc, Op::kCast, Op::kBitcast>(
        &FoldOpOfSplats, "FoldOpOfSplats"));

constexpr auto kMemory = rules(
    custom<Op::kReduce>(&FoldReduce, "FoldReduce"),
    custom<Op::kIndex>(&FoldAddress, "FoldAddress"),
    custom<Op::kLoad>(&FoldLoad, "FoldLoad"),
    custom<Op::kStore>(&FoldStore, "FoldStore"),
    custom<Op::kEnd, Op::kAfter, Op::kBarrier, Op::kSink, Op::kNoop>(&DropNoops, "DropNoops"),
    custom<Op::kWhere>(&JoinBranchLoads, "JoinBranchLoads"),
    custom<Op::kWhere>(&FoldWhereOfLoad, "FoldWhereOfLoad"),
    custom<Op::kWhere>(&DropImpliedGate, "DropImpliedGate"),
    custom<Op::kAnd>(&CanonicalAnd, "CanonicalAnd"),
    custom<Op::kIndex>(&FoldGatedIndex, "FoldGatedIndex"),
    custom<Op::kWhere>(&FoldGatedWhere, "FoldGatedWhere"));
// clang-format on

}  // namespace

const rewrite::RuleList& FoldRules() { return rewrite::RuleTable<kFold>::kList; }
const rewrite::RuleList& WidthRules() { return rewrite::RuleTable<kWidth>::kList; }
const rewrite::RuleList& GeneralRules() { return rewrite::RuleTable<kGeneral>::kList; }
const rewrite::RuleList& LaneRules() { return rewrite::RuleTable<kLanes>::kList; }
const rewrite::RuleList& MemoryRules() { return rewrite::RuleTable<kMemory>::kList; }

}  // namespace tg::simplify
