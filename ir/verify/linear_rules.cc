// V601-V604: the linear form. Its list is the order of execution; loops and blocks are sections of
// it, one inside the other.
#include <vector>

#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

class LinearCheck {
 public:
  explicit LinearCheck(BodyCheck& c) : c_(c) { scopes_.push_back({nullptr, 0, true}); }

  void Run() {
    const auto& list = c_.body.linear;
    if (list.empty() || list.back() != c_.body.root) {
      return c_.Error(Rule::kLinearList, "the list of nodes does not end with the sink");
    }
    for (const UOp* u : list) {
      if (scope_of_.Get(u)) return c_.Error(Rule::kLinearList, u, "it is in the list twice");
      if (!CheckSources(u)) return;
      if (u->op == Op::kEnd && !CloseLoops(u)) return;
      if (u->op == Op::kEndIf && !CloseBlock(u)) return;
      if (u->op == Op::kRange || u->op == Op::kIf) {
        scopes_.push_back({u, current_, true});
        current_ = scopes_.size() - 1;
      }
      scope_of_[u] = static_cast<uint32_t>(current_) + 1;
    }
    if (current_) {
      const UOp* opener = scopes_[current_].opener;
      c_.Error(Rule::kLoopNesting, opener,
               opener->op == Op::kIf ? "no endif closes it" : "no end closes this loop");
    }
  }

 private:
  // A section of the list: from its opener to its end.
  struct Scope {
    const UOp* opener;
    size_t parent;
    bool open;
  };

  bool CheckSources(const UOp* u) {
    for (const UOp* s : u->srcs()) {
      size_t scope = scope_of_.Get(s);
      if (scope == 0) {
        c_.Error(Rule::kDominance, u,
                 c_.Name(s) + " (" + std::string(Mnemonic(s->op)) + ") does not stand above it");
        return false;
      }
      --scope;
      // A token of a closed `if` block may be used after the block; a value may not.
      while (s->dtype.is_void() && !scopes_[scope].open && scopes_[scope].opener->op == Op::kIf) {
        scope = scopes_[scope].parent;
      }
      if (scopes_[scope].open) continue;
      const UOp* opener = scopes_[scope].opener;
      c_.Error(Rule::kScope, u,
               c_.Name(s) + " belongs to the " + (opener->op == Op::kIf ? "block " : "loop ") +
                   c_.Name(opener) + ", which is closed");
      return false;
    }
    return true;
  }

  // The loops that an end names are the innermost ones, in any order.
  bool CloseLoops(const UOp* u) {
    NodeSet named;
    for (size_t i = 1; i < u->num_srcs; ++i) named.Insert(u->src(i));
    for (size_t i = 1; i < u->num_srcs; ++i) {
      Scope& scope = scopes_[current_];
      if (!scope.opener || !named.Contains(scope.opener)) {
        c_.Error(Rule::kLoopNesting, u,
                 scope.opener
                     ? "it does not name " + c_.Name(scope.opener) + ", the innermost that is open"
                     : "it names a loop twice");
        return false;
      }
      scope.open = false;
      current_ = scope.parent;
    }
    return true;
  }

  bool CloseBlock(const UOp* u) {
    Scope& scope = scopes_[current_];
    if (scope.opener != u->src(0)) {
      c_.Error(Rule::kLoopNesting, u, "the innermost that is open is " + c_.Name(scope.opener));
      return false;
    }
    scope.open = false;
    current_ = scope.parent;
    return true;
  }

  BodyCheck& c_;
  std::vector<Scope> scopes_;  // the first is the whole list
  size_t current_ = 0;
  NodeMap<uint32_t> scope_of_;  // by node: scope + 1; 0: not seen yet
};

}  // namespace

void CheckLinear(BodyCheck& c) { LinearCheck(c).Run(); }

}  // namespace tg::verify
