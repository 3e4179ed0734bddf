#include "passes/kernelize/hazards.h"

#include <algorithm>

#include "ir/builder.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/prepare.h"

namespace tg {
namespace {

// The use of its target's buffer by which an assign's kernel writes.
UseId TargetUse(UseTable& uses, const UOp* assign) {
  UseId use = uses.Root(assign);
  for (const UOp* t = assign->src(0); IsMovement(t->op); t = t->src(0)) use = uses.Through(use, t);
  return use;
}

// Everything that a node's value depends on, kernels' inputs included.
NodeSet Ancestors(const UOp* u) {
  NodeSet seen;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&u, 1), seen, order);
  return seen;
}

struct Writer {
  const UOp* assign;
  const UOp* buffer;
  size_t draft;  // SIZE_MAX: an assign that was there already
};

}  // namespace

WriteAfterRead FindHazards(const Body& graph, const std::vector<KernelDraft>& drafts,
                           UseTable& uses, const NodeMap<std::vector<UseId>>& read_uses) {
  WriteAfterRead out;
  out.drafts.resize(drafts.size());
  std::vector<Writer> writers;
  for (size_t i = 0; i < drafts.size(); ++i) {
    const KernelDraft& d = drafts[i];
    if (!d.target) continue;
    writers.push_back({d.node, d.target, i});
    if (!d.reads_target) continue;
    const UseId target = TargetUse(uses, d.node);
    for (UseId use : read_uses.Get(d.target)) {
      if (uses.KernelOf(use) == d.node && use != target) {
        out.copied.push_back(d.node);
        break;
      }
    }
  }
  for (const UOp* u : PostOrder(graph.root)) {
    const bool stored = u->op == Op::kAssign && IsStored(u);
    if (stored) writers.push_back({u, TargetBuffer(u->src(0)), SIZE_MAX});
  }
  for (const Writer& w : writers) {
    for (size_t r = 0; r < drafts.size(); ++r) {
      const KernelDraft& reader = drafts[r];
      if (r == w.draft) continue;
      const bool reads =
          (reader.target == w.buffer && reader.reads_target) ||
          std::find(reader.inputs.begin(), reader.inputs.end(), w.buffer) != reader.inputs.end();
      if (!reads) continue;
      if (Ancestors(reader.node).Contains(w.assign)) {
        // The reader wants both the old contents and something made from the new ones.
        if (w.draft != SIZE_MAX) out.copied.push_back(w.assign);
      } else if (w.draft == SIZE_MAX) {
        out.stored[w.assign].push_back(r);
      } else {
        out.drafts[w.draft].push_back(r);
      }
    }
  }
  return out;
}

void CopyThroughBuffers(Body& graph, const std::vector<const UOp*>& assigns) {
  Builder b(*graph.context);
  NodeSet copied;
  for (const UOp* a : assigns) copied.Insert(a);
  NodeMap<const UOp*> read, write;  // what users see; the assign itself
  std::vector<const UOp*> kept;     // assigns that only the sink holds on to now
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : PostOrder(graph.root)) {
    srcs.clear();
    const bool ends = u->op == Op::kSink || u->op == Op::kAfter;
    for (size_t i = 0; i < u->num_srcs; ++i) {
      srcs.push_back(ends && i + 1 > (u->op == Op::kAfter) ? write.Get(u->src(i))
                                                           : read.Get(u->src(i)));
    }
    if (u->op == Op::kSink) {
      for (const UOp* a : kept) {
        if (std::find(srcs.begin(), srcs.end(), a) == srcs.end()) srcs.push_back(a);
      }
      graph.root = b.Sink({srcs.data(), srcs.size()});
      return;
    }
    if (copied.Contains(u)) {
      const UOp* value = srcs[1]->op == Op::kContiguous
                             ? srcs[1]
                             : b.context().Make(Op::kContiguous, srcs[1]->dtype, {srcs[1]});
      srcs[1] = value;
      const UOp* a = b.context().Make(Op::kAssign, u->dtype, {srcs.data(), srcs.size()});
      graph.CarryOver(u, a);
      read[u] = value;
      write[u] = a;
      kept.push_back(a);
      continue;
    }
    const UOp* to = b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
    graph.CarryOver(u, to);
    read[u] = to;
    write[u] = to;
  }
}

}  // namespace tg
