#include "passes/kernelize/stacked_products.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/builder.h"
#include "ir/op_groups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/fixed_values.h"
#include "passes/kernelize/stored_factor.h"

namespace tg::kernelize {
namespace {

// Products that become one, at most: the kernel that stacks their weights reads all of them.
constexpr size_t kMost = 16;

// A sum of products, with the operations on its result that a kernel of it computes as well.
struct Product {
  const UOp* sum = nullptr;
  const UOp* result = nullptr;
  const UOp* factor = nullptr;              // that all products share
  llvm::SmallVector<const UOp*, 4> values;  // that no input reaches: weights, then biases
};

Shape WithFirst(int64_t n, Shape shape) {
  shape.insert(shape.begin(), Dim(n));
  return shape;
}

// Copies expressions to values of one more axis, the first one, along which `n` of them lie.
class Stack {
 public:
  Stack(const Context& from, Context& to, ShapeMap& shapes, int64_t n)
      : from_(from), b_(to), shapes_(shapes), n_(n) {}

  // `stacked` has the values that `u` has along the axis.
  void Set(const UOp* u, const UOp* stacked) { stacked_[u] = stacked; }
  // A value that is the same all along the axis. `own`: `u` in the context of the copies.
  const UOp* Repeated(const UOp* u, const UOp* own) {
    const Shape& shape = shapes_.Of(u);
    if (shape.empty()) return own;
    return b_.Expand(b_.Reshape(own, WithFirst(1, shape)), WithFirst(n_, shape));
  }

  // `nodes`: what is copied, sources first. Returns the copy of the last one.
  const UOp* Copy(UOpSpan nodes) {
    NodeMap<const UOp*> plain;
    for (const UOp* u : nodes) {
      srcs_.clear();
      if (llvm::none_of(u->srcs(), [&](const UOp* s) { return stacked_.Get(s); })) {
        for (const UOp* s : u->srcs()) srcs_.push_back(plain.Get(s));
        plain[u] = b_.context().Rebuild(u, from_, {srcs_.data(), srcs_.size()});
        continue;
      }
      for (const UOp* s : u->srcs()) {
        const UOp* copy = stacked_.Get(s);
        srcs_.push_back(copy ? copy : Repeated(s, plain.Get(s)));
      }
      stacked_[u] = CopyOf(u);
    }
    return stacked_.Get(nodes.back());
  }

 private:
  const UOp* CopyOf(const UOp* u) {
    const UOp* x = srcs_[0];
    const auto later = [](std::span<const int64_t> axes) {
      std::vector<int64_t> out(axes.begin(), axes.end());
      for (int64_t& a : out) ++a;
      return out;
    };
    if (u->op == Op::kReduceAxis) {
      return b_.ReduceAxis(x, static_cast<Op>(u->word()), later(u->list(1)));
    }
    if (!IsMovement(u->op)) {
      return b_.context().Rebuild(u, from_, {srcs_.data(), srcs_.size()});
    }
    std::vector<std::pair<Dim, Dim>> pairs;
    switch (MovementOp(u->op)) {
      case MovementOp::kReshape:
        return b_.Reshape(x, WithFirst(n_, shapes_.Of(u)));
      case MovementOp::kExpand:
        return b_.Expand(x, WithFirst(n_, shapes_.Of(u)));
      case MovementOp::kPermute: {
        std::vector<int64_t> axes = later(u->list());
        axes.insert(axes.begin(), 0);
        return b_.Permute(x, axes);
      }
      case MovementOp::kPad:
        pairs = PairsOf(u);
        pairs.insert(pairs.begin(), {Dim(0), Dim(0)});
        return b_.Pad(x, pairs);
      case MovementOp::kShrink:
        pairs = PairsOf(u);
        pairs.insert(pairs.begin(), {Dim(0), Dim(n_)});
        return b_.Shrink(x, pairs);
      case MovementOp::kFlip:
        return b_.Flip(x, later(u->list()));
      case MovementOp::kBroadcast:
      case MovementOp::kView:
        break;
    }
    TG_UNREACHABLE();  // IsMove
  }

  const Context& from_;
  Builder b_;
  ShapeMap& shapes_;  // of the copied nodes
  const int64_t n_;
  NodeMap<const UOp*> stacked_;
  llvm::SmallVector<const UOp*, 4> srcs_;
};

class Stacker {
 public:
  explicit Stacker(const PredictedGraph& graph)
      : graph_(graph),
        b_(*graph.body.context),
        fixed_(graph.module, *graph.body.context, graph.fused) {}

  void Run(UOpSpan order) {
    for (const UOp* u : order) {
      fixed_.See(u);
      for (const UOp* s : u->srcs()) users_[s].push_back(u);
    }
    std::vector<std::vector<Product>> sharing;  // by what they share
    NodeMap<size_t> place;                      // 1 + the position in `sharing`
    for (const UOp* u : order) {
      std::optional<Product> product = FindProduct(u);
      if (!product) continue;
      size_t& at = place[product->factor];
      if (at == 0) at = (sharing.emplace_back(), sharing.size());
      sharing[at - 1].push_back(*std::move(product));
    }
    for (std::vector<Product>& products : sharing) {
      if (products.size() > 1) FindGroups(products);
    }
    if (!groups_.empty()) Rewrite(order);
  }

 private:
  // Not a movement op whose extents are sources. Prepared graphs have no broadcasts.
  static bool IsMove(const UOp* u) {
    return IsMovement(u->op) && u->op != Op::kBroadcast && u->op != Op::kView && u->num_srcs == 1;
  }
  static bool IsMoveOrWidening(const UOp* u) { return IsMove(u) || IsWidening(u); }

  static const UOp* StoredOf(const UOp* u) {
    while (IsMoveOrWidening(u)) u = u->src(0);
    return u;
  }

  bool IsFactor(const UOp* u) const {
    return u->op == Op::kMul && llvm::any_of(users_.Get(u), [](const UOp* v) {
             return v->op == Op::kReduceAxis && static_cast<Op>(v->word()) == Op::kAdd;
           });
  }

  // Whether only sums of products use `u`, as a factor.
  bool FeedsProducts(const UOp* u) const {
    std::vector<const UOp*> stack = {u};
    while (!stack.empty()) {
      const UOp* v = stack.back();
      stack.pop_back();
      for (const UOp* user : users_.Get(v)) {
        if (IsMoveOrWidening(user)) {
          stack.push_back(user);
        } else if (!IsFactor(user)) {
          return false;
        }
      }
    }
    return true;
  }

  // Adds what is stored of `u`, which no input reaches, to the values; false if it cannot be
  // stacked.
  bool AddValue(const UOp* u, Product& product) {
    const UOp* value = StoredOf(u);
    if (IsConst(value)) return true;
    if (!fixed_.Contains(value) || graph_.fused.Contains(value) ||
        !IsStatic(graph_.shapes.Of(value)) || value->dtype.is_index()) {
      return false;
    }
    if (!llvm::is_contained(product.values, value)) product.values.push_back(value);
    return true;
  }

  std::optional<Product> FindProduct(const UOp* u) {
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
    const UOp* product = u->src(0);
    if (graph_.fused.Contains(u) || graph_.fused.Contains(product) ||
        !IsMatrixProduct(product, graph_.shapes)) {
      return std::nullopt;
    }
    const size_t weights = fixed_.Contains(product->src(0)) ? 0 : 1;
    if (!fixed_.Contains(product->src(weights)) || fixed_.Contains(product->src(1 - weights))) {
      return std::nullopt;
    }
    Product out{.sum = u, .result = u, .factor = product->src(1 - weights)};
    if (!AddValue(product->src(weights), out)) return std::nullopt;
    for (const UOp* v = u; users_.Get(v).size() == 1;) {
      const UOp* user = users_.Get(v)[0];
      if (graph_.fused.Contains(user) || IsFactor(user)) break;
      if (!IsMove(user)) {
        if (!IsElementwise(user->op)) break;
        Product with = out;
        const bool is_alone = llvm::all_of(user->srcs(), [&](const UOp* s) {
          return s == v || (fixed_.Contains(s) && AddValue(s, with));
        });
        if (!is_alone) break;
        if (!IsWidening(user)) out = std::move(with), out.result = user;
      }
      v = user;
    }
    if (!FeedsProducts(out.result)) return std::nullopt;
    return out;
  }

  // The nodes of a product above its factors and other values, sources first.
  std::vector<const UOp*> NodesOf(const Product& p) const {
    NodeSet seen;
    std::vector<const UOp*> nodes;
    seen.Insert(p.factor);
    for (const UOp* u : p.values) seen.Insert(u);
    AppendPostOrder(UOpSpan(&p.result, 1), seen, nodes);
    return nodes;
  }

  // A product alone, or as many like it as one.
  std::unique_ptr<GraphAlone> CopyAlone(const Product& p, int64_t n) {
    auto out = std::make_unique<GraphAlone>(graph_.module.flags);
    const std::vector<const UOp*> nodes = NodesOf(p);
    Context& to = *out->body().context;
    Stack stack(b_.context(), to, graph_.shapes, n);
    const UOp* stored = StoredOf(p.factor);
    llvm::SmallVector<const UOp*, 4> moves;
    for (const UOp* u = p.factor; u != stored; u = u->src(0)) moves.push_back(u);
    const UOp* factor = out->AddBuffer("x", stored->dtype, graph_.shapes.Of(stored), Role::kInput);
    for (const UOp* u : llvm::reverse(moves)) {
      factor = to.Rebuild(u, b_.context(), UOpSpan(&factor, 1));
    }
    stack.Set(p.factor, stack.Repeated(p.factor, factor));
    for (const UOp* u : p.values) {
      const std::string name = absl::StrCat("w", out->module.buffers.size());
      stack.Set(u, out->AddBuffer(name, u->dtype, WithFirst(n, graph_.shapes.Of(u)), Role::kParam));
    }
    out->AddBuffer("y", p.result->dtype, WithFirst(n, graph_.shapes.Of(p.result)), Role::kOutput);
    out->SetResult(stack.Copy(nodes), "y");
    return out;
  }

  void FindGroups(std::vector<Product>& products) {
    std::map<std::string, std::vector<Product>> alike;
    for (Product& p : products) alike[CopyAlone(p, 1)->Key()].push_back(std::move(p));
    for (auto& [key, all] : alike) {
      for (size_t from = 0; from + 1 < all.size(); from += kMost) {
        const size_t n = std::min(kMost, all.size() - from);
        if (!IsFasterAsOne(key, all[from], n)) continue;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
        groups_.emplace_back(first, first + static_cast<std::ptrdiff_t>(n));
        for (size_t i = 0; i < n; ++i) place_[all[from + i].result] = {groups_.size(), i};
      }
    }
  }

  bool IsFasterAsOne(const std::string& key, const Product& p, size_t n) {
    const auto [known, is_new] = known_.try_emplace({key, n}, false);
    if (!is_new) return known->second;
    const double separate = static_cast<double>(n) * graph_.predict(CopyAlone(p, 1)->module);
    const double together = graph_.predict(CopyAlone(p, static_cast<int64_t>(n))->module);
    known->second = together < separate * (1 - graph_.target.prediction_error);
    absl::StrAppend(&graph_.remarks, "kernelize: ", n, " products of one value: ", 1e6 * separate,
                    " us, as one ", 1e6 * together, known->second ? ": as one\n" : ": separate\n");
    return known->second;
  }

  // The values of all products of a group that are `value` in the first one.
  const UOp* Stacked(const std::vector<Product>& group, size_t value) {
    const int64_t n = static_cast<int64_t>(group.size());
    const Shape shape = graph_.shapes.Of(group[0].values[value]);
    const Shape whole = WithFirst(n, shape);
    Shape along(whole.size(), 1);
    along[0] = n;
    const UOp* place = b_.Reshape(b_.Iota(n), along);
    const UOp* out = nullptr;
    for (size_t i = group.size(); i-- > 0;) {
      const UOp* own = group[i].values[value];
      own = b_.Expand(b_.Reshape(own, WithFirst(1, shape)), whole);
      const UOp* is_own =
          out ? b_.Expand(b_.Lt(place, b_.Index(static_cast<int64_t>(i) + 1)), whole) : nullptr;
      out = out ? b_.Where(is_own, own, out) : own;
    }
    return b_.context().Make(Op::kContiguous, out->dtype, {out});
  }

  void Rewrite(UOpSpan order) {
    std::vector<const UOp*> made(groups_.size());
    NodeMap<const UOp*> map;
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* u : order) {
      const auto [number, place] = place_.Get(u);
      if (number == 0) {
        srcs.clear();
        for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
        map[u] = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
      } else {
        const std::vector<Product>& group = groups_[number - 1];
        const auto n = static_cast<int64_t>(group.size());
        const UOp*& all = made[number - 1];
        const uint32_t first = b_.context().num_nodes();
        if (!all) {
          Stack stack(b_.context(), b_.context(), graph_.shapes, n);
          const UOp* factor = group[0].factor;
          stack.Set(factor, stack.Repeated(factor, map.Get(factor)));
          for (size_t k = 0; k < group[0].values.size(); ++k) {
            stack.Set(group[0].values[k], Stacked(group, k));
          }
          all = stack.Copy(NodesOf(group[0]));
          if (const StringId origin = graph_.body.side.origin(group[0].sum)) {
            graph_.body.SetOrigin(first, origin);
          }
        }
        const Shape& shape = graph_.shapes.Of(u);
        std::vector<std::pair<Dim, Dim>> own = {
            {Dim(static_cast<int64_t>(place)), Dim(static_cast<int64_t>(place) + 1)}};
        for (const Dim& d : shape) own.emplace_back(Dim(0), d);
        map[u] = b_.Reshape(b_.Shrink(all, own), shape);
      }
      if (graph_.fused.Contains(u)) graph_.fused.Insert(map[u]);
      graph_.body.CarryOver(u, map[u]);
    }
    graph_.body.root = map.Get(graph_.body.root);
  }

  const PredictedGraph& graph_;
  Builder b_;
  FixedValues fixed_;
  NodeMap<llvm::SmallVector<const UOp*, 2>> users_;
  std::vector<std::vector<Product>> groups_;
  NodeMap<std::pair<size_t, size_t>> place_;  // of results: 1 + the group, and the place there
  std::map<std::pair<std::string, size_t>, bool> known_;
};

}  // namespace

void StackProducts(const PredictedGraph& graph, UOpSpan order) {
  if (!graph.target.HasMatrixInstructions()) return;
  Stacker(graph).Run(order);
}

}  // namespace tg::kernelize
