// Rewriter: applies a RuleSet to a graph until nothing applies any more.
//
// Sources are rewritten first, then the node; what a rule returns is rewritten in turn. Each node
// is rewritten once (memoised by id), with a stack of our own. A rule set that does not end is
// found out, either by a node that is rewritten into itself or by the number of applications, and
// reported with the names of the rules.
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

namespace tg {

// Is told the hits of every rewriter when it ends; for tools that ask which rules a run has
// reached. One for the process; null: none.
using HitSink = void (*)(const RuleSet& rules, const std::vector<uint64_t>& hits);
void SetHitSink(HitSink sink);

// Keeps its memo between calls: for whoever rewrites many expressions of one Context.
class Rewriter {
 public:
  // Given (node, what a rule made of it): what is to be taken instead. For constraints that rules
  // do not know of, such as shapes.
  using FixUp = const UOp* (*)(void* data, const UOp* from, const UOp* to);

  Rewriter(const RuleSet& rules, RuleContext rc) : rules_(rules), rc_(rc) {}
  ~Rewriter();
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // The final form of `u`. An error is a mistake in the rule set.
  absl::StatusOr<const UOp*> Rewrite(const UOp* u);
  // The same where all other nodes that there are stay as they are, final or not: `u` alone is
  // rewritten, and what rules make of it.
  absl::StatusOr<const UOp*> RewriteTop(const UOp* u);
  // The final form of a node that was met before; null for others.
  const UOp* Find(const UOp* u) const {
    const UOp* v = memo_.Get(u);
    return v == InProgress() ? nullptr : v;
  }

  // Says that the context's first `n` nodes are in their final form.
  void SetFinal(uint32_t n);
  // That `final` is the final form of `u`, and of itself.
  void SetFinal(const UOp* u, const UOp* final) { memo_[u] = memo_[final] = final; }
  void SetFinal(const UOp* u) { memo_[u] = u; }

  void set_fix_up(FixUp f, void* data) { fix_up_ = f, fix_up_data_ = data; }
  // Leaves the symbolic entries of movement ops as they are: shapes are compared by their nodes.
  void set_keep_extents(bool keep) { keep_extents_ = keep; }
  // Greatest number of applications in one call of Rewrite; 0: in proportion to the graph.
  void set_max_applications(uint64_t n) { max_applications_ = n; }

  RuleContext& context() { return rc_; }
  uint64_t num_applications() const { return applied_.size(); }
  std::vector<uint64_t> hits() const;  // by rule; empty: none was applied
  // "  12  x + 0 -> x  (add_mul_rules.h:9)" for each rule that was applied, most often first.
  std::string HitReport() const;

 private:
  struct Frame {
    const UOp* key;    // what was asked for
    const UOp* built;  // with final sources; null before
    const UOp* next;   // what a rule made of it; null before
    uint32_t source;   // first source that is not yet final
    uint32_t rule;
  };
  static const UOp* InProgress();
  absl::Status Run(const UOp* root);
  // The top frame's node is final: `v`.
  void Finish(const UOp* v);
  const UOp* WithFinalSources(const UOp* u);
  // How many of a node's sources are rewritten.
  size_t NumRewritten(const UOp* u) const;
  absl::Status Endless(size_t first_frame) const;
  absl::Status TooMany() const;

  const RuleSet& rules_;
  RuleContext rc_;
  NodeMap<const UOp*> memo_;
  std::vector<Frame> stack_;
  std::vector<uint32_t> applied_;  // rules, one after the other
  uint64_t max_applications_ = 0;
  uint32_t num_kept_ = 0;  // of the context's first nodes only the root of a rewrite is rewritten
  bool keep_extents_ = false;
  FixUp fix_up_ = nullptr;
  void* fix_up_data_ = nullptr;
};

// Rewrites a body's root; names and places go over to the nodes that replace others. The body must
// not be in linear form.
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
// Sets body.root to what `rewriter` makes of it.
absl::Status RewriteBody(Body& body, Rewriter& rewriter);

}  // namespace tg

#endif  // TG_PASSES_REWRITE_ENGINE_H_
