#include "passes/kernelize/hazards.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/prepare.h"

namespace tg {
namespace {

using Conflict = WriteAfterRead::Conflict;

// The use of its target's version by which an assign's kernel writes.
UseId TargetUse(UseTable& uses, const UOp* assign) {
  UseId use = uses.Root(assign);
  for (const UOp* t = assign->src(0); IsMovement(t->op); t = t->src(0)) use = uses.Through(use, t);
  return use;
}

// Everything that a node's value depends on, itself included.
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

class Finder {
 public:
  Finder(const Body& graph, const std::vector<KernelDraft>& drafts, Placement& placement,
         UseTable& uses, const NodeMap<UseList>& read_uses)
      : drafts_(drafts), placement_(placement), uses_(uses), read_uses_(read_uses) {
    out_.drafts.resize(drafts.size());
    for (size_t i = 0; i < drafts.size(); ++i) {
      const KernelDraft& d = drafts[i];
      if (d.targets[0]) writers_.push_back({d.nodes[0], BufferOf(d.targets[0]), i});
    }
    for (const UOp* u : PostOrder(graph.root)) {
      const bool stored = u->op == Op::kAssign && IsStored(u);
      if (stored) writers_.push_back({u, BufferOf(u->src(0)), SIZE_MAX});
    }
  }

  WriteAfterRead Run() {
    for (const Writer& w : writers_) {
      for (size_t r = 0; r < drafts_.size(); ++r) {
        const KernelDraft& reader = drafts_[r];
        for (const UOp* version : reader.inputs) Order(w, r, version);
        if (reader.reads_target) Order(w, r, reader.targets[0]);
      }
    }
    if (!out_.Copies()) BreakCycle();
    return std::move(out_);
  }

 private:
  // Draft `r` reads `version`.
  void Order(const Writer& w, size_t r, const UOp* version) {
    if (!IsVersion(version) || BufferOf(version) != w.buffer) return;
    if (r == w.draft) {
      if (!ReadsWhereItWrites(drafts_[r], version)) Refuse(w, version, Conflict::kReadsElsewhere);
      return;
    }
    if (Ancestors(version).Contains(w.assign)) return;
    if (Ancestors(drafts_[r].nodes[0]).Contains(w.assign)) {
      Refuse(w, version, Conflict::kOldAndNew);
    } else if (w.draft == SIZE_MAX) {
      if (out_.stored.Get(w.assign).empty()) out_.writers.push_back(w.assign);
      Add(out_.stored[w.assign], r);
    } else {
      Add(out_.drafts[w.draft], r);
    }
  }

  // Two kernels that each overwrite what the other reads: one of them writes through a buffer. The
  // kernels' order is that of their values and of the edges found here.
  void BreakCycle() {
    NodeMap<size_t> number;  // 1 + position among the drafts
    for (size_t i = 0; i < drafts_.size(); ++i) number[drafts_[i].nodes[0]] = i + 1;
    const auto before = [&](size_t i) {
      std::vector<size_t> list = out_.drafts[i];
      // Through what only joins versions to the kernels that make them.
      NodeSet visited;
      std::vector<const UOp*> nodes = drafts_[i].inputs;
      if (drafts_[i].targets[0]) nodes.push_back(drafts_[i].targets[0]);
      while (!nodes.empty()) {
        const UOp* u = nodes.back();
        nodes.pop_back();
        if (!visited.Insert(u)) continue;
        if (const size_t n = number.Get(u)) {
          list.push_back(n - 1);
        } else {
          nodes.insert(nodes.end(), u->srcs().begin(), u->srcs().end());
        }
      }
      return list;
    };
    for (size_t w = 0; w < drafts_.size(); ++w) {
      for (size_t r : out_.drafts[w]) {
        // Does the reader wait for the writer?
        std::vector<bool> seen(drafts_.size());
        std::vector<size_t> stack = {r};
        while (!stack.empty()) {
          const size_t i = stack.back();
          stack.pop_back();
          if (i == w) {
            const UOp* target = drafts_[w].targets[0];
            return Copy({drafts_[w].nodes[0], BufferOf(target), w}, target);
          }
          if (seen[i]) continue;
          seen[i] = true;
          for (size_t k : before(i)) stack.push_back(k);
        }
      }
    }
  }

  bool ReadsWhereItWrites(const KernelDraft& d, const UOp* version) {
    if (version != d.targets[0]) return false;
    const UseId target = TargetUse(uses_, d.nodes[0]);
    for (UseId use : read_uses_.Get(version)) {
      if (uses_.KernelOf(use) == d.nodes[0] && !uses_.IsWithin(use, target)) return false;
    }
    return true;
  }

  void Refuse(const Writer& w, const UOp* version, Conflict why) {
    out_.conflicts.push_back({w.assign, w.buffer, why});
    Copy(w, version);
  }

  void Copy(const Writer& w, const UOp* version) {
    const bool can = w.draft != SIZE_MAX && w.assign->src(1)->op != Op::kContiguous &&
                     !placement_.IsOnAny(w.assign->src(1));
    std::vector<const UOp*>& list = can ? out_.copied : out_.snapshots;
    const UOp* u = can ? w.assign : version;
    if (std::find(list.begin(), list.end(), u) == list.end()) list.push_back(u);
  }

  static void Add(std::vector<size_t>& list, size_t r) {
    if (std::find(list.begin(), list.end(), r) == list.end()) list.push_back(r);
  }

  const std::vector<KernelDraft>& drafts_;
  Placement& placement_;
  UseTable& uses_;
  const NodeMap<UseList>& read_uses_;
  std::vector<Writer> writers_;
  WriteAfterRead out_;
};

}  // namespace

WriteAfterRead FindHazards(const Body& graph, const std::vector<KernelDraft>& drafts,
                           Placement& placement, UseTable& uses,
                           const NodeMap<UseList>& read_uses) {
  return Finder(graph, drafts, placement, uses, read_uses).Run();
}

absl::Status NotInPlace(const Body& graph, const WriteAfterRead& hazards) {
  const auto [assign, buffer, why] = hazards.conflicts.front();
  return absl::FailedPreconditionError(absl::StrCat(
      "kernelize: ", graph.Describe(assign), " needs a copy of ", graph.Describe(buffer), ", ",
      why == Conflict::kReadsElsewhere
          ? "which it reads elsewhere than where it writes (no contiguous view of what it writes)"
          : "whose old contents are read by what needs the new ones too (a cycle)",
      "; copies=false allows none"));
}

void CopyThroughBuffers(Body& graph, const WriteAfterRead& hazards, NodeSet& fused) {
  Builder b(*graph.context);
  NodeSet copied, snapshots;
  for (const UOp* a : hazards.copied) copied.Insert(a);
  for (const UOp* v : hazards.snapshots) snapshots.Insert(v);
  // What users of a node's value see, and the node itself as a version of its buffer.
  NodeMap<const UOp*> read, version;
  std::vector<const UOp*> kept;  // assigns that only the sink holds on to now
  llvm::SmallVector<const UOp*, 8> srcs;
  const auto rebuild = [&](const UOp* u, bool as_version) {
    srcs.clear();
    for (size_t i = 0; i < u->num_srcs; ++i) {
      // Targets, what an `after` waits for and what a kernel is run on are versions; values are
      // read.
      const bool named = as_version || u->op == Op::kAfter || u->op == Op::kSink ||
                         u->op == Op::kKernel || (u->op == Op::kAssign && i != 1);
      srcs.push_back((named ? version : read).Get(u->src(i)));
    }
    return b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
  };
  for (const UOp* u : PostOrder(graph.root)) {
    const UOp* to = rebuild(u, false);
    if (u->op == Op::kSink) {
      srcs.assign(to->srcs().begin(), to->srcs().end());
      for (const UOp* a : kept) {
        if (std::find(srcs.begin(), srcs.end(), a) == srcs.end()) srcs.push_back(a);
      }
      graph.root = b.Sink({srcs.data(), srcs.size()});
      return;
    }
    read[u] = to;
    version[u] = IsMovement(u->op) ? rebuild(u, true) : to;
    if (copied.Contains(u)) {
      srcs.assign(to->srcs().begin(), to->srcs().end());
      srcs[1] = b.context().Make(Op::kContiguous, srcs[1]->dtype, {srcs[1]});
      read[u] = srcs[1];
      version[u] = b.context().Make(Op::kAssign, u->dtype, {srcs.data(), srcs.size()});
      kept.push_back(version[u]);
    }
    if (snapshots.Contains(u)) {
      read[u] = b.context().Make(Op::kContiguous, u->dtype, {version[u]});
    }
    if (fused.Contains(u)) fused.Insert(read[u]);
    graph.CarryOver(u, version[u]);
  }
}

}  // namespace tg
