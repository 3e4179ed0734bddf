// Simplify: algebra on indices, integers, bools and floats. It is used by every pass that creates
// expressions, and is also a separate pass.
//
// Rules of fixed size are in the *_rules.h files and proven by rules_test.cc. Rules for ops with
// any number of terms are functions (function_rules.cc), tested by evaluation on random
// expressions. Every rule is exact unless a module flag permits otherwise.
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

namespace tg {

extern const Pass kSimplifyPass;

// All rules of this folder.
const RuleSet& SimplifyRules();
// The rules that inspect values only, not gates, loads, stores and loops.
const RuleSet& AlgebraRules();

// Simplifies expressions of one Context and keeps its caches between calls, for passes that build
// index expressions step by step.
//
//   Simplifier simplify(ctx, &module);
//   const UOp* index = simplify(b.Add(b.Mul(row, stride), column));
class Simplifier {
 public:
  // `module` declares the vars and carries the flags; may be null. Both outlive the Simplifier.
  explicit Simplifier(Context& ctx, const Module* module = nullptr);
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  const UOp* operator()(const UOp* u);
  // Simplifies `u` by AlgebraRules() and treats all other existing nodes as final.
  const UOp* Top(const UOp* u);
  // An integer or index under the assumption that `gate` holds: cheaper, or unchanged.
  const UOp* Under(const UOp* gate, const UOp* value);
  Bounds& bounds() { return bounds_; }
  Interval Range(const UOp* u) { return bounds_.Of(u); }
  Rewriter& rewriter() { return rewriter_; }

 private:
  Bounds bounds_;
  StructuralOrder order_;
  Rewriter algebra_;  // used by the rules about gates
  Rewriter rewriter_;
};

struct SimplifyStats {
  uint64_t applications = 0;
  std::string report;          // hits by rule
  std::vector<uint64_t> hits;  // by number of the rule in SimplifyRules()
};

// Simplifies one body at `stage`. A body in linear form is left unchanged.
absl::Status Simplify(Body& body, Stage stage, const Module& module,
                      SimplifyStats* stats = nullptr);
// Simplifies all graphs and kernels.
absl::Status Simplify(Module& module, SimplifyStats* stats = nullptr);

}  // namespace tg

#endif  // TG_PASSES_SIMPLIFY_SIMPLIFY_H_
