#include "passes/half/factors.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::half {
namespace {

// The fewest products that an element of each factor is in. Of fewer rows, as of a vector times a
// matrix, no tile is made.
constexpr int64_t kLeastUses = 32;

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

class FactorRounder {
 public:
  FactorRounder(const Module& module, Body& body)
      : body_(body), b_(*body.context), shapes_(module, *body.context) {}

  // Returns how many products it changed.
  int64_t Run() {
    int64_t changed = 0;
    for (const UOp* u : PostOrder(body_.root)) {
      llvm::SmallVector<const UOp*, 8> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
      if (IsMatrixSum(u)) {
        const UOp* product = u->src(0);
        srcs[0] = b_.Mul(Rounded(product->src(0)), Rounded(product->src(1)));
        ++changed;
      }
      map_[u] = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
      body_.CarryOver(u, map_[u]);
    }
    if (changed > 0) body_.root = map_.Get(body_.root);
    return changed;
  }

 private:
  // Whether `u` sums products of two values in f32, of which each element is in many products.
  bool IsMatrixSum(const UOp* u) {
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return false;
    const UOp* product = u->src(0);
    const Shape& whole = shapes_.Of(product);
    if (product->op != Op::kMul || product->dtype != kF32 || !IsStatic(whole)) return false;
    return llvm::all_of(product->srcs(), [&](const UOp* factor) {
      const UOp* value = BelowMovement(factor);
      const Shape& own = shapes_.Of(value);
      return !IsConst(value) && IsStatic(own) && NumElements(own) > 0 &&
             NumElements(whole) / NumElements(own) >= kLeastUses;
    });
  }

  // The factor, with its value below all movement ops rounded to half.
  const UOp* Rounded(const UOp* factor) {
    std::vector<const UOp*> moves;
    for (; IsMovement(factor->op); factor = factor->src(0)) moves.push_back(factor);
    const UOp* x = map_.Get(factor);
    const bool is_half = x->op == Op::kCast && IsFloat(x->src(0)->dtype.scalar()) &&
                         ByteSize(x->src(0)->dtype.scalar()) <= 2;
    if (!is_half) x = b_.Cast(b_.Cast(x, Scalar::kF16), kF32);
    for (const UOp* m : llvm::reverse(moves)) {
      llvm::SmallVector<const UOp*, 4> srcs = {x};
      for (const UOp* s : m->srcs().subspan(1)) srcs.push_back(map_.Get(s));
      x = b_.context().Rebuild(m, b_.context(), {srcs.data(), srcs.size()});
    }
    return x;
  }

  static constexpr DType kF32 = Scalar::kF32;
  Body& body_;
  Builder b_;
  ShapeMap shapes_;
  NodeMap<const UOp*> map_;
};

absl::Status RoundFactors(Module& module, passes::PassContext& context) {
  const bool multiplies =
      context.target.HasMatrixInstructions() &&
      MatrixInstructionFor(Scalar::kF16, Scalar::kF16, Scalar::kF32, {}).has_value();
  if (!multiplies) return absl::OkStatus();
  int64_t changed = 0;
  for (const auto& graph : module.graphs) {
    if (graph->name != kInitGraph) changed += FactorRounder(module, graph->body).Run();
  }
  context.statistics["half_factors.products"] += changed;
  if (changed > 0) module.flags.Add(ModuleFlag::kWideHalves);
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kHalfFactorsPass = {
    "half-factors",
    "rounds the factors of matrix products to f16, for matrix instructions",
    {},
    RoundFactors};

}  // namespace tg::half
