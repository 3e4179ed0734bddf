#include "passes/kernelize/kernel_body.h"

#include <algorithm>

#include "base/check.h"
#include "ir/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/merge_reduces.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

// Whether the kernel does not compute `u` itself but loads it or receives it as an argument.
bool IsLeafOf(const std::vector<const UOp*>& realized, const MaterializationPlan& plan,
              const UOp* u) {
  return IsStored(u) || u->op == Op::kBind || u->op == Op::kVar ||
         (plan.IsRealized(u) && std::find(realized.begin(), realized.end(), u) == realized.end());
}

std::vector<const UOp*> TargetsOf(const std::vector<const UOp*>& realized) {
  std::vector<const UOp*> out;
  for (const UOp* u : realized) {
    out.push_back(u->op == Op::kAssign ? TargetVersion(u->src(0)) : nullptr);
  }
  return out;
}

// The number of terms of a reduce; -1 if it is symbolic.
int64_t TermsOf(const UOp* reduce, ShapeMap& shapes) {
  const Shape& from = shapes.Of(reduce->src(0));
  int64_t terms = 1;
  for (int64_t k : reduce->list(1)) {
    const Dim& size = from[static_cast<size_t>(k)];
    if (size.is_symbolic()) return -1;
    terms *= size.value();
  }
  return terms;
}

// The shape of the stored value with axes split as the plan says; empty if the plan splits none.
const Shape& RowsOf(const MaterializationPlan& plan, const UOp* node) { return plan.Of(node).rows; }

// Computes the key of a draft without building anything. Visits the expressions in the order of
// Drafter and appends each node, the numbers of its sources, and the slot and shape of what is
// loaded.
class Scanner {
 public:
  Scanner(ShapeMap& shapes, const MaterializationPlan& plan, std::vector<const UOp*> realized,
          DraftNumbers& numbers)
      : shapes_(shapes), plan_(plan), numbers_(numbers) {
    draft_.nodes = std::move(realized);
    numbers_.Clear();
  }

  KernelDraft Run() {
    for (const UOp* node : draft_.nodes) {
      if (node->op == Op::kAssign) known_ = false;
      Append(shapes_.Of(node));
      Append(RowsOf(plan_, node));
      AppendType(node);
      const UOp* value = ComputedValue(node);
      Visit(value);
      if (!known_) break;
      Append(numbers_.Of(value));
    }
    if (known_) {
      draft_.targets = TargetsOf(draft_.nodes);
      draft_.key.assign(reinterpret_cast<const char*>(words_.data()), 8 * words_.size());
    }
    return std::move(draft_);
  }

 private:
  void Append(uint64_t word) { words_.push_back(word); }
  void Append(const Shape& shape) {
    Append(shape.size());
    for (const Dim& d : shape) {
      if (d.is_symbolic())
        known_ = false;
      else
        Append(static_cast<uint64_t>(d.value()));
    }
  }
  void AppendType(const UOp* u) {
    Append(static_cast<uint64_t>(u->dtype.scalar()) | static_cast<uint64_t>(u->dtype.lanes()) << 8);
  }

  void Visit(const UOp* root) {
    llvm::SmallVector<const UOp*, 32> stack = {root};
    while (!stack.empty() && known_) {
      const UOp* u = stack.back();
      if (numbers_.Of(u)) {
        stack.pop_back();
        continue;
      }
      const bool leaf = IsLeafOf(draft_.nodes, plan_, u);
      const size_t before = stack.size();
      for (size_t i = leaf ? 0 : u->num_srcs; i-- > 0;) {
        if (!numbers_.Of(u->src(i))) stack.push_back(u->src(i));
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      leaf ? Leaf(u) : Computed(u);
      numbers_.Add(u);
    }
  }

  void Leaf(const UOp* u) {
    // A draft with a variable, or with a buffer that was written through a view, has no key.
    known_ &= u->op != Op::kBind && u->op != Op::kVar && !(IsVersion(u) && IsView(u));
    const auto it = std::find(draft_.inputs.begin(), draft_.inputs.end(), u);
    Append(~static_cast<uint64_t>(it - draft_.inputs.begin()));
    if (it == draft_.inputs.end()) draft_.inputs.push_back(u);
    AppendType(u);
    Append(shapes_.Of(u));
  }

  void Computed(const UOp* u) {
    if (u->op == Op::kReduceAxis) draft_.reduce_terms.push_back(TermsOf(u, shapes_));
    if (plan_.staged.count(u)) Append(static_cast<uint64_t>(Op::kStaged));
    // Attributes are interned: equal ones have equal bits.
    Append(static_cast<uint64_t>(u->op));
    AppendType(u);
    Append(u->attr.bits);
    Append(u->num_srcs);
    for (const UOp* s : u->srcs()) Append(numbers_.Of(s));
  }

  ShapeMap& shapes_;
  const MaterializationPlan& plan_;
  KernelDraft draft_;
  bool known_ = true;
  llvm::SmallVector<uint64_t, 256> words_;
  DraftNumbers& numbers_;
};

class Drafter {
 public:
  Drafter(const Module& module, const Body& graph, ShapeMap& shapes,
          const MaterializationPlan& plan, std::vector<const UOp*> realized)
      : module_(module),
        graph_(graph),
        shapes_(shapes),
        plan_(plan),
        kernel_(std::make_unique<Kernel>()),
        b_(*kernel_->body.context) {
    draft_.nodes = std::move(realized);
  }

  KernelDraft Run() {
    std::vector<const UOp*> stores;
    draft_.targets = TargetsOf(draft_.nodes);
    slots_ = draft_.OutputSlots();
    for (const UOp* node : draft_.nodes) {
      const UOp* out = Pointer(node, static_cast<int64_t>(slots_[stores.size()]));
      const UOp* value = Clone(ComputedValue(node));
      const Shape& rows = RowsOf(plan_, node);
      if (!rows.empty() && IsStatic(rows) && rows != shapes_.Of(node)) {
        out = b_.Reshape(out, rows);
        value = b_.Reshape(value, rows);
      }
      stores.push_back(b_.Store(out, value));
    }
    kernel_->body.root = b_.Sink(stores);
    RootOrder order(kernel_->body);
    MergeReduces(module_, kernel_->body, order.Get());
    kernel_->metadata = Metadata(order.Get());
    draft_.kernel = std::move(kernel_);
    return std::move(draft_);
  }

 private:
  // The node of the kernel that corresponds to `root`.
  const UOp* Clone(const UOp* root) {
    std::vector<const UOp*> stack = {root};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      if (map_.lookup(u)) {
        stack.pop_back();
        continue;
      }
      const bool leaf = IsLeaf(u);
      const size_t before = stack.size();
      if (!leaf) {
        // From the right, so that the leftmost source is done first: slots follow reading order.
        for (size_t i = u->num_srcs; i-- > 0;) {
          if (!map_.lookup(u->src(i))) stack.push_back(u->src(i));
        }
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      const UOp* copy = leaf ? Leaf(u) : Copy(u);
      map_[u] = copy;
      const StringId name = graph_.side.name(u);
      if (name && !leaf) {
        kernel_->body.side.SetName(copy, b_.context().Intern(graph_.context->String(name)));
      }
    }
    return map_.lookup(root);
  }

  bool IsLeaf(const UOp* u) const { return IsLeafOf(draft_.nodes, plan_, u); }

  const UOp* Copy(const UOp* u) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map_.lookup(s));
    if (u->op == Op::kReduceAxis) draft_.reduce_terms.push_back(TermsOf(u, shapes_));
    const UOp* copy = b_.context().Rebuild(u, *graph_.context, {srcs.data(), srcs.size()});
    if (!plan_.staged.count(u)) return copy;
    return b_.context().Make(Op::kStaged, copy->dtype, UOpSpan(&copy, 1));
  }

  const UOp* Leaf(const UOp* u) {
    if (u->op == Op::kBind || u->op == Op::kVar) {
      const UOp* var = u->op == Op::kBind ? u->src(0) : u;
      const std::string_view name = graph_.context->String(static_cast<StringId>(var->attr.bits));
      const auto known = [&](const UOp* v) {
        const UOp* w = v->op == Op::kBind ? v->src(0) : v;
        return w == var;
      };
      if (std::none_of(draft_.vars.begin(), draft_.vars.end(), known)) draft_.vars.push_back(u);
      return b_.Var(name);
    }
    return b_.Load(Pointer(u, SlotOf(u)));
  }

  int64_t SlotOf(const UOp* u) {
    const auto target = std::find(draft_.targets.begin(), draft_.targets.end(), u);
    if (target != draft_.targets.end()) {
      draft_.reads_target = true;
      return static_cast<int64_t>(slots_[static_cast<size_t>(target - draft_.targets.begin())]);
    }
    const auto it = std::find(draft_.inputs.begin(), draft_.inputs.end(), u);
    const auto outputs = static_cast<int64_t>(slots_.back()) + 1;
    if (it != draft_.inputs.end()) return outputs + (it - draft_.inputs.begin());
    draft_.inputs.push_back(u);
    return outputs + static_cast<int64_t>(draft_.inputs.size()) - 1;
  }

  // Argument `slot` as a pointer with the shape of the stored node `u`. If `u` is a version that
  // was written through views, applies their movement ops.
  const UOp* Pointer(const UOp* u, int64_t slot) {
    llvm::SmallVector<const UOp*, 8> movement;
    const UOp* shaped = IsVersion(u) ? AppendPlacement(u, movement) : u;
    const Shape& shape = shapes_.Of(shaped);
    int64_t size = 1;
    for (const Dim& d : shape) size *= analysis::MaxExtent(module_, *graph_.context, d);
    const UOp* p =
        b_.DefineGlobal(slot, DType::Pointer(u->dtype.scalar(), size, AddrSpace::kGlobal));
    Shape own;
    Dim count = 1;
    for (const Dim& d : shape) {
      own.push_back(d.is_symbolic() ? Dim(Clone(d.symbol())) : d);
      count = MulDims(b_.context(), count, own.back());
    }
    // A buffer of symbolic size is allocated for the greatest size, and its elements come first.
    if (count.is_symbolic()) p = b_.Shrink(p, {{0, count}});
    if (own != Shape{size}) p = b_.Reshape(p, own);
    for (size_t i = movement.size(); i-- > 0;) {
      const UOp* m = movement[i];
      llvm::SmallVector<const UOp*, 4> srcs = {p};
      for (size_t k = 1; k < m->num_srcs; ++k) srcs.push_back(Clone(m->src(k)));
      p = b_.context().Make(m->op, p->dtype, {srcs.data(), srcs.size()},
                            b_.context().ImportAttr(m->op, m->attr, *graph_.context));
    }
    return p;
  }

  // The names of the kernel's arithmetic ops, in order of execution, each once.
  static std::vector<std::string> Metadata(UOpSpan order) {
    std::vector<std::string> out;
    for (const UOp* u : order) {
      const bool reduce = u->op == Op::kReduceAxis;
      if (!reduce && !IsElementwise(u->op)) continue;
      std::string word(Mnemonic(reduce ? static_cast<Op>(u->word()) : u->op));
      if (reduce) word = "reduce_" + word;
      if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(std::move(word));
    }
    return out;
  }

  const Module& module_;
  const Body& graph_;
  ShapeMap& shapes_;
  const MaterializationPlan& plan_;
  std::unique_ptr<Kernel> kernel_;
  Builder b_;
  KernelDraft draft_;
  std::vector<size_t> slots_;  // by node
  // A hash map, since a kernel has few of the graph's nodes.
  llvm::DenseMap<const UOp*, const UOp*> map_;
};

}  // namespace

std::vector<size_t> KernelDraft::OutputSlots() const {
  std::vector<size_t> out;
  size_t next = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const auto same =
        std::find(targets.begin(), targets.begin() + static_cast<ptrdiff_t>(n), targets[n]);
    const auto first = static_cast<size_t>(same - targets.begin());
    out.push_back(targets[n] && first < n ? out[first] : next++);
  }
  return out;
}

std::string OriginsOf(const Body& graph, ShapeMap& shapes, const MaterializationPlan& plan,
                      const KernelDraft& draft, DraftNumbers& visited) {
  std::vector<std::pair<StringId, double>> origins;  // with the elements of their nodes
  const auto add = [&](StringId origin, double elements) {
    const auto known = std::find_if(origins.begin(), origins.end(),
                                    [&](const auto& o) { return o.first == origin; });
    auto& [id, sum] = known == origins.end() ? origins.emplace_back(origin, 0) : *known;
    sum += elements;
  };
  const auto computed = [&](const UOp* u) {
    if (IsMovement(u->op)) return 0.0;
    double elements = 1;
    for (const Dim& d : shapes.Of(u->op == Op::kReduceAxis ? u->src(0) : u)) {
      if (!d.is_symbolic()) elements *= static_cast<double>(d.value());
    }
    return elements;
  };
  std::vector<const UOp*> stack;
  const auto visit = [&](const UOp* u) {
    if (visited.Of(u) || IsLeafOf(draft.nodes, plan, u)) return;
    visited.Add(u);
    stack.push_back(u);
  };
  visited.Clear();
  for (const UOp* node : draft.nodes) visit(ComputedValue(node));
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (const StringId origin = graph.side.origin(u)) add(origin, computed(u));
    for (const UOp* s : u->srcs()) visit(s);
  }
  // A kernel that only copies has the origin of what it stores.
  for (const UOp* node : draft.nodes) {
    if (origins.empty() && graph.side.origin(node)) add(graph.side.origin(node), 0);
  }
  std::stable_sort(origins.begin(), origins.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [origin, sum] : origins) {
    if (!text.empty()) text += '\n';
    text += graph.context->String(origin);
  }
  return text;
}

KernelDraft DraftKernel(const Module& module, const Body& graph, ShapeMap& shapes,
                        const MaterializationPlan& plan, std::vector<const UOp*> realized,
                        DraftNumbers& numbers) {
  if (const UOp* copy = DeviceCopyOf(realized[0], plan)) {
    KernelDraft draft;
    draft.copy = copy;
    draft.inputs = {copy->src(0)};
    draft.targets = TargetsOf(realized);
    draft.nodes = std::move(realized);
    return draft;
  }
  KernelDraft draft = Scanner(shapes, plan, realized, numbers).Run();
  if (!draft.key.empty()) return draft;
  return Drafter(module, graph, shapes, plan, std::move(realized)).Run();
}

void BuildKernel(const Module& module, const Body& graph, ShapeMap& shapes,
                 const MaterializationPlan& plan, KernelDraft& draft) {
  if (draft.kernel) return;
  KernelDraft built = Drafter(module, graph, shapes, plan, draft.nodes).Run();
  TG_CHECK(built.inputs == draft.inputs && built.vars.empty() && built.targets == draft.targets);
  draft.kernel = std::move(built.kernel);
}

}  // namespace tg::kernelize
