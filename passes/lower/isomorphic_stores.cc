#include "passes/lower/isomorphic_stores.h"

#include <algorithm>
#include <utility>

#include "ir/walk.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

class Comparison {
 public:
  Comparison(const Body& body, const Schedule& schedule)
      : stores_(body.root->srcs()), schedule_(schedule) {
    FindKinds(body);
  }

  std::optional<std::vector<Correspondence>> Run() {
    for (size_t k = 1; k < stores_.size(); ++k) {
      NodeMap<const UOp*> other;  // of the first store's nodes, that of this one
      if (!Compare(stores_[k], other)) return std::nullopt;
      if (!HaveSameOpts(other)) return std::nullopt;
      others_.push_back(std::move(other));
    }
    std::vector<Correspondence> out;
    for (const UOp* u : PostOrder(stores_[0])) {
      if (u->op != Op::kDefineGlobal) continue;
      Correspondence all = {u};
      for (const NodeMap<const UOp*>& other : others_) all.push_back(other.Get(u));
      const auto is_own = [&](const UOp* a) { return a != u; };
      if (llvm::any_of(all, is_own)) out.push_back(std::move(all));
    }
    return out;
  }

 private:
  // Whether `store` is the first one but for its arguments. Each node of the first has one
  // counterpart, wherever it is used; several may have the same.
  bool Compare(const UOp* store, NodeMap<const UOp*>& other) const {
    std::vector<std::pair<const UOp*, const UOp*>> todo = {{stores_[0], store}};
    while (!todo.empty()) {
      const auto [a, b] = todo.back();
      todo.pop_back();
      const UOp*& known = other[a];
      if (known == b) continue;
      if (known || a->op != b->op || a->dtype != b->dtype || a->num_srcs != b->num_srcs) {
        return false;
      }
      known = b;
      if (a->op == Op::kDefineGlobal && a != b && !a->dtype.is_pointer()) return false;
      if (a->op != Op::kDefineGlobal && a->attr != b->attr) return false;
      const bool swap = IsCommutative(a->op) && AreSwapped(a, b);
      for (size_t i = 0; i < a->num_srcs; ++i) {
        todo.emplace_back(a->src(i), b->src(swap ? 1 - i : i));
      }
    }
    return true;
  }

  // Of two nodes with two operands: which of them come first is a matter of their arguments'
  // numbers.
  bool AreSwapped(const UOp* a, const UOp* b) const {
    const auto match = [&](size_t i) {
      return kinds_.Get(a->src(0)) == kinds_.Get(b->src(i)) &&
             kinds_.Get(a->src(1)) == kinds_.Get(b->src(1 - i));
    };
    const auto shared = [&](size_t i) {
      return (a->src(0) == b->src(i)) + (a->src(1) == b->src(1 - i));
    };
    return match(1) && (!match(0) || shared(1) > shared(0));
  }

  // Equal for nodes that are alike but for arguments.
  void FindKinds(const Body& body) {
    for (const UOp* u : body.Order()) {
      const uint64_t own = u->op == Op::kDefineGlobal ? 0 : u->attr.bits;
      uint64_t kind = llvm::hash_combine(static_cast<int>(u->op), u->dtype.Hash(), own);
      if (IsCommutative(u->op)) {
        kind = llvm::hash_combine(kind, kinds_.Get(u->src(0)) + kinds_.Get(u->src(1)));
      } else {
        for (const UOp* s : u->srcs()) kind = llvm::hash_combine(kind, kinds_.Get(s));
      }
      kinds_[u] = kind;
    }
  }

  // Whether the directives do to each reduce, and to what is staged, what they do to its
  // counterpart.
  bool HaveSameOpts(const NodeMap<const UOp*>& other) const {
    for (size_t n = 0; n < schedule_.base.size(); ++n) {
      const BaseAxis& base = schedule_.base[n];
      const UOp* of =
          base.IsStored() ? nullptr : other.Get(base.reduce ? base.reduce : base.staged);
      if (!of) continue;  // of no reduce, or of one that the first store has no use for
      const auto twin = llvm::find_if(schedule_.base, [&](const BaseAxis& b) {
        return b.dim == base.dim && of == (base.reduce ? b.reduce : b.staged);
      });
      if (twin == schedule_.base.end()) return false;
      const auto m = static_cast<size_t>(twin - schedule_.base.begin());
      if (schedule_.padded[n] != schedule_.padded[m] || !HaveSameParts(n, m)) return false;
    }
    return true;
  }

  bool HaveSameParts(size_t n, size_t m) const {
    const auto &a = schedule_.digits[n], &b = schedule_.digits[m];
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      const ScheduledAxis &x = schedule_.axes[a[i].axis], &y = schedule_.axes[b[i].axis];
      if (a[i].stride != b[i].stride || x.kind != y.kind || x.max_size != y.max_size ||
          x.own_loops != y.own_loops || x.dealt != y.dealt || x.shares != y.shares) {
        return false;
      }
    }
    return true;
  }

  const UOpSpan stores_;
  const Schedule& schedule_;
  NodeMap<uint64_t> kinds_;
  std::vector<NodeMap<const UOp*>> others_;  // by store but for the first
};

}  // namespace

std::optional<std::vector<Correspondence>> FindIsomorphicStores(const Body& body,
                                                                const Schedule& schedule) {
  if (body.root->num_srcs < 2) return std::nullopt;
  return Comparison(body, schedule).Run();
}

}  // namespace tg
