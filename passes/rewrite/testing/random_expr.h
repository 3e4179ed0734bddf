// Random expressions over leaves with known bounds, for testing rewriting by evaluation.
#ifndef TG_PASSES_REWRITE_TESTING_RANDOM_EXPR_H_
#define TG_PASSES_REWRITE_TESTING_RANDOM_EXPR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "passes/rewrite/testing/eval.h"

namespace tg::testing {

class RandomExpr {
 public:
  RandomExpr(uint64_t seed, Context& ctx, Module& module);

  // An expression of type `type` with about `size` ops.
  const UOp* Make(DType type, int size);
  // Random values of all leaves made so far, within their bounds. `corner`: at an end of their
  // bounds.
  Values RandomLeaves(bool corner);
  // All combinations of values of the leaves that `u` reaches; empty if there are more than
  // `limit`.
  std::vector<Values> AllLeaves(const UOp* u, size_t limit);

  int64_t Int(int64_t lo, int64_t hi) { return std::uniform_int_distribution(lo, hi)(rng_); }
  bool OneIn(int n) { return Int(1, n) == 1; }

 private:
  struct LeafInfo {
    const UOp* node;
    int64_t lo, hi;  // of an index
    const UOp* end;  // the variable at which a range ends; or null
  };
  const UOp* Leaf(DType type);
  const UOp* IndexLeaf();
  const UOp* Constant(DType type);
  const UOp* SmallIndex();
  const UOp* MakeIndex(int size);
  const UOp* MakeInt(DType type, int size);
  const UOp* MakeBool(DType type, int size);
  const UOp* MakeFloat(DType type, int size);
  const UOp* MakeLanes(DType type, int size);
  int64_t RandomBits(Scalar s);

  std::mt19937_64 rng_;
  Context& ctx_;
  Module& module_;
  Builder b_;
  std::vector<LeafInfo> index_leaves_;
  std::vector<const UOp*> loads_;
};

// The text of the expression, for messages.
std::string ToText(const Context& ctx, const UOp* u);

}  // namespace tg::testing

#endif  // TG_PASSES_REWRITE_TESTING_RANDOM_EXPR_H_
