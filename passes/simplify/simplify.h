// Simplify: algebra on indices, integers, bools and floats. It is used by every pass that creates
// expressions, and is also a separate pass.
//
// Rules of fixed size are in the *_rules.h files; rules_test.cc proves those on integers, indices
// and bools. All other rules are functions (function_rules.cc), tested by evaluation on random
// expressions. Every rule is exact unless a module flag permits otherwise, except that a power with
// a small constant exponent becomes a product or reciprocal.
#ifndef TG_PASSES_SIMPLIFY_SIMPLIFY_H_
#define TG_PASSES_SIMPLIFY_SIMPLIFY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/pass.h"
#include "passes/rewrite/engine.h"

namespace tg::simplify {

extern const passes::Pass kSimplifyPass;

// All rules of this folder.
const rewrite::RuleSet& SimplifyRules();
// All rules except MemoryRules(): those on values, not those on gates, loads, stores and reduces.
const rewrite::RuleSet& AlgebraRules();

// Simplifies expressions of one Context and keeps its caches between calls, for passes that build
// index expressions step by step.
//
//   Simplifier simplify(ctx, &module);
//   const UOp* index = simplify(b.Add(b.Mul(row, stride), column));
class Simplifier {
 public:
  // `module` declares the variables and carries the flags; may be null. `ctx` and `module` must
  // outlive the Simplifier.
  explicit Simplifier(Context& ctx, const Module* module = nullptr);
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  const UOp* operator()(const UOp* u);
  // Simplifies `u` by AlgebraRules(), without visiting its sources: all existing nodes except `u`
  // are taken as final.
  const UOp* Top(const UOp* u);
  // A cheaper value that equals the integer or index `value` where `gate` holds, or `value` itself.
  const UOp* Under(const UOp* gate, const UOp* value);
  analysis::Bounds& bounds() { return bounds_; }
  analysis::Interval Range(const UOp* u) { return bounds_.Of(u); }
  rewrite::Rewriter& rewriter() { return rewriter_; }

 private:
  analysis::Bounds bounds_;
  analysis::StructuralOrder order_;
  rewrite::Rewriter algebra_;  // used by the rules about gates
  rewrite::Rewriter rewriter_;
};

struct SimplifyStats {
  uint64_t applications = 0;
  std::string report;          // hits by rule
  std::vector<uint64_t> hits;  // by number of the rule in SimplifyRules()
};

// Simplifies one body at `stage`. A body at the linear stage is left unchanged.
absl::Status Simplify(Body& body, Stage stage, const Module& module,
                      SimplifyStats* stats = nullptr);
// Simplifies all graphs and kernels.
absl::Status Simplify(Module& module, SimplifyStats* stats = nullptr);

}  // namespace tg::simplify

#endif  // TG_PASSES_SIMPLIFY_SIMPLIFY_H_
