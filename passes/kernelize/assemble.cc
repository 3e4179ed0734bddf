#include "passes/kernelize/assemble.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/concatenate.h"
#include "passes/kernelize/online_softmax.h"
#include "passes/kernelize/prepare.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

class Assembler {
 public:
  Assembler(Module& module, Graph& graph, ShapeMap& shapes, const MaterializationPlan& plan,
            Placement& placement, std::vector<KernelDraft> drafts, WriteAfterRead order,
            KernelPool& pool, passes::PassContext& context)
      : module_(module),
        body_(graph.body),
        shapes_(shapes),
        plan_(plan),
        placement_(placement),
        drafts_(std::move(drafts)),
        order_(std::move(order)),
        pool_(pool),
        context_(context),
        b_(*body_.context) {
    for (const BufferDecl& decl : module_.buffers) buffer_names_.insert(decl.name);
    for (size_t i = 0; i < drafts_.size(); ++i) {
      for (const UOp* u : drafts_[i].nodes) draft_of_[u] = static_cast<int>(i) + 1;
    }
  }

  void Run() {
    std::vector<const UOp*> roots;
    for (const UOp* r : body_.root->srcs()) {
      Emit(r);
      roots.push_back(map_.Get(r));
    }
    body_.root = b_.Sink(roots);
    Compact(body_);
  }

 private:
  // What must be emitted before `u`.
  std::vector<const UOp*> Dependencies(const UOp* u) {
    std::vector<const UOp*> out;
    if (const int number = draft_of_.Get(u)) {
      const KernelDraft& d = drafts_[static_cast<size_t>(number) - 1];
      out = d.inputs;
      for (size_t n = 0; n < d.nodes.size(); ++n) {
        if (d.targets[n]) out.push_back(d.targets[n]);
        AppendOrdering(d.nodes[n], out);
      }
      for (const UOp* v : d.vars) out.push_back(v);
      for (size_t r : order_.drafts[static_cast<size_t>(number) - 1])
        out.push_back(drafts_[r].nodes[0]);
      return out;
    }
    out.assign(u->srcs().begin(), u->srcs().end());
    for (size_t r : order_.stored.Get(u)) out.push_back(drafts_[r].nodes[0]);
    return out;
  }

  // What an assign in the graph already waits for.
  static void AppendOrdering(const UOp* u, std::vector<const UOp*>& out) {
    if (u->op == Op::kAssign) out.insert(out.end(), u->srcs().begin() + 2, u->srcs().end());
  }

  void Emit(const UOp* root) {
    std::vector<const UOp*> stack = {root};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      if (map_.Get(u)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const UOp* d : Dependencies(u)) {
        if (!map_.Get(d)) stack.push_back(d);
      }
      if (stack.size() != before) continue;
      stack.pop_back();
      const int number = draft_of_.Get(u);
      if (number) {
        EmitDraft(static_cast<size_t>(number) - 1);
      } else {
        map_[u] = EmitStored(u);
        body_.CarryOver(u, map_[u]);
      }
    }
  }

  const UOp* EmitStored(const UOp* u) {
    std::vector<const UOp*> srcs;
    llvm::SmallPtrSet<const UOp*, 16> versions;  // one assign may write several slices
    for (const UOp* s : u->srcs()) {
      const UOp* to = map_.Get(s);
      if (u->op != Op::kAfter || versions.insert(to).second) srcs.push_back(to);
    }
    for (size_t r : order_.stored.Get(u)) {
      const UOp* reader = map_.Get(drafts_[r].nodes[0]);
      if (std::find(srcs.begin(), srcs.end(), reader) == srcs.end()) srcs.push_back(reader);
    }
    // An `after` whose tokens are all gone is its version.
    if (u->op == Op::kAfter && srcs.size() == 1) return srcs[0];
    return b_.context().Rebuild(u, b_.context(), srcs);
  }

  // The assigns that store what the draft does.
  void EmitDraft(size_t i) {
    KernelDraft& d = drafts_[i];
    const std::vector<size_t> slots = d.OutputSlots();
    std::vector<const UOp*> operands;
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      if (slots[n] < operands.size()) continue;
      operands.push_back(d.targets[n] ? Written(d.nodes[n], map_.Get(d.targets[n]))
                                      : NewBuffer(d.nodes[n]));
    }
    const UOp* k = d.copy ? EmitCopy(d) : EmitKernel(d, operands);
    const std::vector<const UOp*> targets = EmitTargets(d, slots, operands);
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      const UOp* u = d.nodes[n];
      std::vector<const UOp*> srcs = {targets[n], k};
      std::vector<const UOp*> before;
      AppendOrdering(u, before);
      for (const UOp* w : before) srcs.push_back(map_.Get(w));
      for (size_t r : order_.drafts[i]) srcs.push_back(map_.Get(drafts_[r].nodes[0]));
      map_[u] = b_.context().Make(Op::kAssign, operands[slots[n]]->dtype, srcs);
      body_.CarryOver(u, map_[u]);
    }
  }

  // For each node of the draft: the pointer that its assign writes to. Several slices of one buffer
  // that together form a larger slice are written by one assign.
  std::vector<const UOp*> EmitTargets(const KernelDraft& d, const std::vector<size_t>& slots,
                                      const std::vector<const UOp*>& operands) {
    std::vector<const UOp*> out;
    for (size_t n = 0; n < d.nodes.size(); ++n) {
      const UOp* to = operands[slots[n]];
      out.push_back(d.targets[n] ? EmitTarget(d.nodes[n]->src(0), to) : to);
    }
    for (size_t first = 0; first < d.nodes.size(); ++first) {
      const std::optional<Slice> slice = SliceOf(out[first]);
      if (!slice) continue;
      std::vector<size_t> nodes;
      std::vector<Ranges> parts;
      for (size_t n = first; n < d.nodes.size(); ++n) {
        const std::optional<Slice> other = SliceOf(out[n]);
        if (slots[n] != slots[first] || !other || other->of != slice->of) continue;
        nodes.push_back(n);
        parts.push_back(other->ranges);
      }
      if (nodes.size() < 2 || nodes[0] != first) continue;
      const std::optional<Ranges> all = UnionOf(parts);
      if (!all) continue;
      const UOp* one = b_.Shrink(slice->of, {all->begin(), all->end()});
      for (size_t n : nodes) out[n] = one;
    }
    return out;
  }

  const UOp* EmitCopy(const KernelDraft& d) {
    ++context_.statistics["kernelize.device-copies"];
    return b_.context().Make(Op::kCopy, d.copy->dtype, {map_.Get(d.inputs[0])}, d.copy->attr);
  }

  // A run of the draft's kernel. `outputs`: its first operands.
  const UOp* EmitKernel(KernelDraft& d, const std::vector<const UOp*>& outputs) {
    std::vector<const UOp*> operands = outputs;
    for (const UOp* in : d.inputs) operands.push_back(WholeBuffer(map_.Get(in)));
    JoinVersions(operands, outputs.size());
    for (const UOp* v : d.vars) operands.push_back(map_.Get(v));
    const std::string name = KernelOf(d);
    const UOp* call =
        b_.context().Make(Op::kKernel, kVoid, operands, {uint64_t{b_.context().Intern(name)}});
    if (!d.origins.empty()) body_.side.SetOrigin(call, b_.context().Intern(d.origins));
    return call;
  }

  // If a kernel reads several versions of one buffer, they have equal contents where it reads them
  // (hazards.h). So the kernel runs after all of them and reads the version that includes them all.
  // Changes the operands from `first` on.
  void JoinVersions(std::vector<const UOp*>& operands, size_t first) {
    llvm::DenseMap<const UOp*, llvm::SmallVector<const UOp*, 2>> versions;  // by buffer
    for (size_t i = first; i < operands.size(); ++i) {
      auto& known = versions[BufferOf(operands[i])];
      if (!llvm::is_contained(known, operands[i])) known.push_back(operands[i]);
    }
    for (size_t i = first; i < operands.size(); ++i) {
      const UOp* buffer = BufferOf(operands[i]);
      const auto& all = versions[buffer];
      if (all.size() > 1) operands[i] = b_.After(buffer, {all.data(), all.size()});
    }
  }

  // The name of the draft's kernel. Adds the kernel to the module unless that has an equal one.
  std::string KernelOf(KernelDraft& d) {
    std::string* known = d.key.empty() ? nullptr : &by_draft_[d.key];
    if (known && !known->empty()) {
      ++context_.statistics["kernelize.equal-kernels"];
      return *known;
    }
    BuildKernel(module_, body_, shapes_, plan_, d);
    if (context_.Flag("fuse")) RewriteOnlineSoftmax(module_, d.kernel->body, context_.target);
    std::string name = pool_.Add(std::move(d.kernel), context_);
    if (known) *known = name;
    return name;
  }

  // The operand of a kernel call must be a whole buffer. For a version that is a view, returns the
  // buffer after the same writes.
  const UOp* WholeBuffer(const UOp* version) {
    if (!IsView(version)) return version;
    llvm::SmallVector<const UOp*, 8> movement;
    return b_.After(AppendPlacement(version, movement), UOpSpan(&version, 1));
  }

  // The version of its whole buffer that an assign to `version` writes: after the other writes to
  // the buffer that the assign waits for.
  const UOp* Written(const UOp* assign, const UOp* version) {
    const UOp* whole = WholeBuffer(version);
    std::vector<const UOp*> before;
    AppendOrdering(assign, before);
    llvm::SmallVector<const UOp*, 4> writes;
    for (const UOp* u : before) {
      const UOp* w = map_.Get(u);
      if (w->op == Op::kAssign && w != version && BufferOf(w) == BufferOf(whole))
        writes.push_back(w);
    }
    return b_.After(whole, {writes.data(), writes.size()});
  }

  // An assign's target as a view of the whole buffer `version`.
  const UOp* EmitTarget(const UOp* target, const UOp* version) {
    llvm::SmallVector<const UOp*, 8> movement;
    AppendPlacement(target, movement);
    return WithMovement(b_.context(), {movement.data(), movement.size()}, version);
  }

  // A temporary buffer of the node's shape. It is one-dimensional if a declaration cannot state a
  // symbolic shape.
  const UOp* NewBuffer(const UOp* u) {
    BufferDecl decl;
    do {
      decl.name = absl::StrCat("t", next_buffer_++);
    } while (buffer_names_.contains(decl.name));
    decl.dtype = u->dtype;
    decl.role = Role::kTemp;
    decl.device = placement_.Name(placement_.Of(u));
    int64_t size = 1;
    bool stated = true;
    for (const Dim& d : shapes_.Of(u)) {
      const int64_t max = analysis::MaxExtent(module_, b_.context(), d);
      size *= max;
      if (!d.is_symbolic()) {
        decl.shape.push_back({d.value(), ""});
      } else if (d.symbol()->op == Op::kVar) {
        const auto name = static_cast<StringId>(d.symbol()->attr.bits);
        decl.shape.push_back({0, std::string(b_.context().String(name))});
      } else {
        stated = false;
      }
    }
    if (!stated) decl.shape = {{size, ""}};
    const UOp* buffer = b_.Buffer(decl.name, u->dtype);
    module_.buffers.push_back(std::move(decl));
    return buffer;
  }

  Module& module_;
  Body& body_;
  ShapeMap& shapes_;
  const MaterializationPlan& plan_;
  Placement& placement_;
  std::vector<KernelDraft> drafts_;
  WriteAfterRead order_;
  KernelPool& pool_;
  passes::PassContext& context_;
  Builder b_;
  std::unordered_map<std::string, std::string> by_draft_;  // kernels' names by key
  std::unordered_set<std::string> buffer_names_;           // of the module before this graph
  NodeMap<int> draft_of_;
  NodeMap<const UOp*> map_;
  int next_buffer_ = 0;
};

}  // namespace

void Assemble(Module& module, Graph& graph, ShapeMap& shapes, const MaterializationPlan& plan,
              Placement& placement, std::vector<KernelDraft> drafts, WriteAfterRead order,
              KernelPool& pool, passes::PassContext& context) {
  Assembler(module, graph, shapes, plan, placement, std::move(drafts), std::move(order), pool,
            context)
      .Run();
}

}  // namespace tg::kernelize
