// Rewriter: applies a RuleSet to a graph until no rule applies.
//
// Sources are rewritten first, then the node; the result of a rule is rewritten in turn. Each node
// is rewritten once (memoised by id), with an explicit stack instead of recursion. A rule set that
// does not terminate is detected, by a node whose rewriting leads back to that node or by a limit
// on the number of applications, and reported with the names of the rules.
#ifndef TG_PASSES_REWRITE_ENGINE_H_
#define TG_PASSES_REWRITE_ENGINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "passes/rewrite/rule_table.h"

namespace tg::rewrite {

// Receives the hits of every rewriter that applied a rule, when the rewriter is destroyed, for
// tools that measure which rules a run applies. May be called from any thread.
using HitSink = void (*)(const RuleSet& rules, const std::vector<uint64_t>& hits);
// Sets the one sink of the process; null: none.
void SetHitSink(HitSink sink);

// The memo is kept between calls, for clients that rewrite many expressions of one Context.
class Rewriter {
 public:
  // Given a node and the result of a rule on it, returns the replacement to use. For constraints
  // that rules ignore, such as shapes.
  using FixUp = const UOp* (*)(void* data, const UOp* from, const UOp* to);

  Rewriter(const RuleSet& rules, RuleContext rc) : rules_(rules), rc_(rc) {}
  ~Rewriter();
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // The final form of `u`. An error means that the rule set does not terminate.
  absl::StatusOr<const UOp*> Rewrite(const UOp* u);
  // The same, but treats all other existing nodes as final: only `u` and the nodes that rules
  // create are rewritten.
  absl::StatusOr<const UOp*> RewriteTop(const UOp* u);
  // The final form of a node that was rewritten or declared final before; null for others.
  const UOp* Find(const UOp* u) const {
    const UOp* v = memo_.Get(u);
    return v == InProgress() ? nullptr : v;
  }

  // Declares the context's first `n` nodes to be in their final form.
  void SetFinal(uint32_t n);
  // Declares `final` to be the final form of `u` and of itself.
  void SetFinal(const UOp* u, const UOp* final) { memo_[u] = memo_[final] = final; }
  void SetFinal(const UOp* u) { memo_[u] = u; }

  void set_fix_up(FixUp f, void* data) { fix_up_ = f, fix_up_data_ = data; }
  // If `keep`, the symbolic extents of movement ops are not rewritten, because shapes are compared
  // by node.
  void set_keep_extents(bool keep) { keep_extents_ = keep; }
  // Limit on the applications in one call of Rewrite; 0: one that grows with the size of the graph.
  void set_max_applications(uint64_t n) { max_applications_ = n; }

  RuleContext& context() { return rc_; }
  uint64_t num_applications() const { return applied_.size(); }
  std::vector<uint64_t> hits() const;  // by rule; empty if no rule was applied
  // "  12  x + 0 -> x  (add_mul_rules.h:9)" for each rule that was applied, most often first.
  std::string HitReport() const;

 private:
  struct Frame {
    const UOp* key;    // the node to rewrite
    const UOp* built;  // the node with final sources; null until they are final
    const UOp* next;   // the result of a rule on `built`; null until a rule applies
    uint32_t source;   // first source that is not yet final
    uint32_t rule;
  };
  static const UOp* InProgress();
  absl::Status Run(const UOp* root);
  // Records `v` as the final form of the top frame's node.
  void Finish(const UOp* v);
  const UOp* WithFinalSources(const UOp* u);
  // The number of leading sources of a node that are rewritten.
  size_t NumRewritten(const UOp* u) const;
  absl::Status Endless(size_t first_frame) const;
  absl::Status TooMany() const;

  const RuleSet& rules_;
  RuleContext rc_;
  NodeMap<const UOp*> memo_;
  std::vector<Frame> stack_;
  std::vector<uint32_t> applied_;  // the applied rules, in order
  uint64_t max_applications_ = 0;
  uint32_t num_final_ = 0;  // nodes with a smaller id are final, except for the root
  bool keep_extents_ = false;
  FixUp fix_up_ = nullptr;
  void* fix_up_data_ = nullptr;
};

// Rewrites a body's root. A replacement that is a new node inherits the name and source location of
// the old node. An error if the body is in linear form or the rule set does not terminate.
struct RewriteOptions {
  const Module* module = nullptr;  // declares the vars
  ModuleFlags flags;               // of the module
  uint64_t max_applications = 0;
};
struct RewriteResult {
  uint64_t applications = 0;
  std::vector<uint64_t> hits;  // as Rewriter::hits
  std::string report;          // HitReport
};
absl::StatusOr<RewriteResult> Rewrite(Body& body, const RuleSet& rules,
                                      const RewriteOptions& options = {});
// Sets body.root to its final form under `rewriter`.
absl::Status RewriteBody(Body& body, Rewriter& rewriter);

}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_ENGINE_H_
