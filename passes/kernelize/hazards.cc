#include "passes/kernelize/hazards.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/versions.h"
#include "passes/kernelize/waits.h"

namespace tg::kernelize {
namespace {

using Conflict = WriteAfterRead::Conflict;

// The use by which an assign's kernel writes its target, as a use of the target's version.
UseId TargetUse(UseTable& uses, const UOp* assign) {
  UseId use = uses.Root(assign);
  for (const UOp* t = assign->src(0); IsMovement(t->op); t = t->src(0)) use = uses.Through(use, t);
  return use;
}

struct BufferWriter {
  const UOp* assign;
  const UOp* buffer;
  size_t draft;       // SIZE_MAX: an assign that was there already
  size_t previous;    // the writer of the version that it overwrites, if it comes before it in the
                      // list; else SIZE_MAX
  size_t number = 0;  // among its buffer's
};

class Finder {
 public:
  Finder(const std::vector<KernelDraft>& drafts, Placement& placement, UseTable& uses,
         const NodeMap<UseList>& read_uses, UOpSpan order, const MayJoin& may_join)
      : drafts_(drafts),
        placement_(placement),
        uses_(uses),
        read_uses_(read_uses),
        order_(order),
        may_join_(may_join) {
    out_.drafts.resize(drafts.size());
    for (size_t i = 0; i < drafts.size(); ++i) {
      const KernelDraft& d = drafts[i];
      for (size_t n = 0; n < d.nodes.size(); ++n) {
        if (d.targets[n]) AddWriter(d.nodes[n], i);
      }
      for (const UOp* version : d.inputs) AddReader(i, version);
      if (d.reads_target) AddReader(i, d.targets[0]);
    }
    for (const UOp* u : order_) {
      const bool stored = u->op == Op::kAssign && IsStored(u);
      if (stored) AddWriter(u, SIZE_MAX);
    }
  }

  WriteAfterRead Run() {
    FindFollowing();
    std::vector<const UOp*> assigns;
    for (const BufferWriter& w : writers_) assigns.push_back(w.assign);
    std::vector<std::vector<bool>> old(writers_.size());  // by writer and reader of its buffer
    for (size_t first = 0; first < assigns.size(); first += kBatch) {
      const size_t end = std::min(first + kBatch, assigns.size());
      const NodeMap<uint64_t> needs = NeedsOf(UOpSpan(assigns).subspan(first, end - first));
      for (size_t w = first; w < end; ++w) {
        const uint64_t bit = uint64_t{1} << (w - first);
        const size_t previous = writers_[w].previous;
        for (const auto& [r, version] : readers_.Get(writers_[w].buffer)) {
          // Readers of contents that the previous writer overwrites run before that writer, and so
          // before this one too.
          const bool waits = previous != SIZE_MAX && old[previous][old[w].size()];
          const bool unaffected =
              (needs.Get(version) & bit) != 0 || WritesElsewhere(writers_[w], version);
          old[w].push_back(!unaffected);
          const bool needs_new = llvm::any_of(
              drafts_[r].nodes, [&](const UOp* u) { return (needs.Get(u) & bit) != 0; });
          Order(w, r, version, unaffected, needs_new, waits);
        }
      }
    }
    if (!reads_.empty() && !out_.Copies()) BreakCycles();
    return std::move(out_);
  }

 private:
  // Draft `reader` must read `version` before `writer` overwrites it.
  struct Read {
    size_t writer;
    size_t reader;
    const UOp* version;
  };

  void AddWriter(const UOp* assign, size_t draft) {
    const UOp* target = TargetVersion(assign->src(0));
    const size_t previous = writer_of_.Get(target) - 1;
    writers_.push_back({assign, BufferOf(target), draft, previous});
    writer_of_[assign] = writers_.size();
  }

  void AddReader(size_t r, const UOp* version) {
    if (IsVersion(version)) readers_[BufferOf(version)].emplace_back(r, version);
  }

  static constexpr size_t kBatch = 64;

  // For each node: the set of these assigns that its value depends on, itself included. Bit i is
  // assign i.
  NodeMap<uint64_t> NeedsOf(UOpSpan assigns) const {
    NodeMap<uint64_t> needs;
    for (size_t k = 0; k < assigns.size(); ++k) needs[assigns[k]] |= uint64_t{1} << k;
    for (const UOp* u : order_) {
      uint64_t all = needs.Get(u);
      for (const UOp* s : u->srcs()) all |= needs.Get(s);
      if (all != 0) needs[u] = all;
    }
    return needs;
  }

  // Fills following_.
  void FindFollowing() {
    NodeMap<std::vector<const UOp*>> assigns;  // by buffer: the assigns that write it
    for (BufferWriter& w : writers_) {
      w.number = assigns[w.buffer].size();
      assigns[w.buffer].push_back(w.assign);
    }
    std::vector<const UOp*> parts;
    NodeSet listed;
    for (const BufferWriter& w : writers_) {
      if (assigns.Get(w.buffer).size() < 2 || !listed.Insert(w.buffer)) continue;
      for (const auto& [r, version] : readers_.Get(w.buffer)) {
        const bool part = version->op == Op::kAssign && IsView(version);
        if (part && listed.Insert(version)) parts.push_back(version);
      }
    }
    for (size_t first = 0; first < parts.size(); first += kBatch) {
      const size_t end = std::min(first + kBatch, parts.size());
      const NodeMap<uint64_t> needs = NeedsOf(UOpSpan(parts).subspan(first, end - first));
      for (size_t k = first; k < end; ++k) {
        for (const UOp* w : assigns.Get(BufferOf(parts[k]))) {
          following_[parts[k]].push_back(needs.Get(w) >> (k - first) & 1);
        }
      }
    }
  }

  // Whether `version` was written by an assign to a part of the buffer from which no path leads to
  // `writer`. If no path leads back either, the two write disjoint parts (V404).
  bool WritesElsewhere(const BufferWriter& writer, const UOp* version) const {
    const std::vector<bool>& following = following_.Get(version);
    return !following.empty() && !following[writer.number];
  }

  // Records that draft `r` reads `version` of the buffer that writer `w` writes. `unaffected`: the
  // version already includes the write, or the write is to other elements. `needs_new`: the draft
  // also needs what is written. `waits`: the writer waits for the draft in any case.
  void Order(size_t w, size_t r, const UOp* version, bool unaffected, bool needs_new, bool waits) {
    const BufferWriter& writer = writers_[w];
    if (r == writer.draft) {
      if (!ReadsWhereItWrites(drafts_[r], version)) {
        Refuse(writer, version, Conflict::kReadsElsewhere);
      }
      return;
    }
    if (unaffected) return;
    if (needs_new) return Refuse(writer, version, Conflict::kOldAndNew);
    if (waits) return;
    reads_.push_back({w, r, version});
    std::vector<size_t>& list =
        writer.draft == SIZE_MAX ? out_.stored[writer.assign] : out_.drafts[writer.draft];
    if (list.empty() && writer.draft == SIZE_MAX) out_.writers.push_back(writer.assign);
    if (list.empty() || list.back() != r) list.push_back(r);
  }

  // Breaks all cycles of kernels that each overwrite what the next one reads: in each cycle one
  // kernel writes through a separate buffer. Strongly connected components are split until none is
  // left.
  void BreakCycles() {
    const Waits waits(drafts_);
    by_writer_.resize(waits.before().size());
    for (size_t i = 0; i < reads_.size(); ++i) {
      const size_t v = waits.VertexOf(writers_[reads_[i].writer].assign);
      if (v != Waits::kNone) by_writer_[v].push_back(i);
    }
    gone_.resize(reads_.size());
    std::vector<std::vector<size_t>> parts(1);
    for (size_t v = 0; v < by_writer_.size(); ++v) parts[0].push_back(v);
    std::vector<size_t> local(by_writer_.size(), SIZE_MAX);  // by vertex: its number in the part
    while (!parts.empty()) {
      std::vector<size_t> part = std::move(parts.back());
      parts.pop_back();
      for (size_t k = 0; k < part.size(); ++k) local[part[k]] = k;
      std::vector<std::vector<size_t>> before(part.size());
      const auto add = [&](size_t k, size_t vertex) {
        if (local[vertex] != SIZE_MAX) before[k].push_back(local[vertex]);
      };
      for (size_t k = 0; k < part.size(); ++k) {
        for (size_t vertex : waits.before()[part[k]]) add(k, vertex);
        for (size_t i : by_writer_[part[k]]) {
          if (!gone_[i]) add(k, reads_[i].reader);
        }
      }
      for (size_t v : part) local[v] = SIZE_MAX;
      std::vector<std::vector<size_t>> components = Components(before);
      if (components.size() == 1 && part.size() > 1) {
        if (!JoinAll(waits, part) && !BreakOne(part)) return;
        parts.push_back(std::move(part));
        continue;
      }
      // Handles components that others wait for first, since a copy made there may resolve the
      // later ones.
      for (size_t c = components.size(); c-- > 0;) {
        if (components[c].size() == 1) continue;
        for (size_t& v : components[c]) v = part[v];
        parts.push_back(std::move(components[c]));
      }
    }
  }

  // Puts the drafts of a strongly connected component into one kernel, which reads before it
  // writes. Returns false if that is not possible.
  bool JoinAll(const Waits& waits, const std::vector<size_t>& part) {
    const auto is_in = [&](size_t v) {
      return std::find(part.begin(), part.end(), v) != part.end();
    };
    for (size_t v : part) {
      const std::vector<size_t>& before = waits.before()[v];
      if (v >= drafts_.size() || std::any_of(before.begin(), before.end(), is_in)) return false;
    }
    if (!may_join_(part)) return false;
    for (size_t v : part) {
      for (size_t i : by_writer_[v]) gone_[i] = gone_[i] || is_in(reads_[i].reader);
      std::erase_if(out_.drafts[v], is_in);
    }
    out_.together.push_back(part);
    return true;
  }

  // Removes read edges from a strongly connected component of kernels. Returns false if none can be
  // removed.
  bool BreakOne(const std::vector<size_t>& part) {
    const UOp* stuck = nullptr;
    NodeSet readers;
    for (size_t v : part) {
      if (v < drafts_.size()) readers.Insert(drafts_[v].nodes[0]);
    }
    for (size_t v : part) {
      for (size_t i : by_writer_[v]) {
        const Read& read = reads_[i];
        const UOp* reader = drafts_[read.reader].nodes[0];
        if (gone_[i] || !readers.Contains(reader)) continue;
        const BufferWriter& writer = writers_[read.writer];
        if (!stuck) stuck = writer.assign;
        // A node that is already a copy of the version is not copied again.
        const bool writes = CanCopy(writer);
        if (!writes && reader->op == Op::kContiguous && reader->src(0) == read.version) continue;
        Refuse(writer, read.version, Conflict::kCycle);
        // No draft waits for the copy to the buffer, and its source is read instead of the version.
        if (writes) {
          for (size_t k : by_writer_[v]) gone_[k] = true;
        }
        const UOp* version = writes ? writer.assign : read.version;
        for (size_t k = 0; k < reads_.size(); ++k) {
          if (reads_[k].version == version) gone_[k] = true;
        }
        return true;
      }
    }
    out_.endless = stuck;
    return false;
  }

  bool ReadsWhereItWrites(const KernelDraft& d, const UOp* version) {
    if (version != d.targets[0]) return false;
    const UseId target = TargetUse(uses_, d.nodes[0]);
    for (UseId use : read_uses_.Get(version)) {
      if (uses_.KernelOf(use) == d.nodes[0] && !uses_.IsWithin(use, target)) return false;
    }
    return true;
  }

  void Refuse(const BufferWriter& w, const UOp* version, Conflict why) {
    out_.conflicts.push_back({w.assign, w.buffer, why});
    Copy(w, version);
  }

  // Whether the assign can write through a buffer. One that does so already cannot again.
  bool CanCopy(const BufferWriter& w) {
    return w.draft != SIZE_MAX && w.assign->src(1)->op != Op::kContiguous &&
           !placement_.IsOnAny(w.assign->src(1));
  }

  void Copy(const BufferWriter& w, const UOp* version) {
    const bool can = CanCopy(w);
    const UOp* u = can ? w.assign : version;
    if ((can ? copied_ : snapshots_).Insert(u)) (can ? out_.copied : out_.snapshots).push_back(u);
  }

  const std::vector<KernelDraft>& drafts_;
  Placement& placement_;
  UseTable& uses_;
  const NodeMap<UseList>& read_uses_;
  const UOpSpan order_;
  const MayJoin& may_join_;
  std::vector<BufferWriter> writers_;
  NodeMap<size_t> writer_of_;  // by assign: 1 + position in writers_
  // By buffer: drafts that read it, and the version.
  NodeMap<std::vector<std::pair<size_t, const UOp*>>> readers_;
  // For each assign to a part of a buffer that is read: for each assign to the same buffer, whether
  // it depends on that one.
  NodeMap<std::vector<bool>> following_;
  std::vector<Read> reads_;
  std::vector<std::vector<size_t>> by_writer_;  // positions in reads_, by vertex of Waits
  std::vector<bool> gone_;                      // by position in reads_: copies made it void
  NodeSet copied_, snapshots_;                  // what is in out_
  WriteAfterRead out_;
};

}  // namespace

WriteAfterRead FindHazards(const std::vector<KernelDraft>& drafts, Placement& placement,
                           UseTable& uses, const NodeMap<UseList>& read_uses, UOpSpan order,
                           const MayJoin& may_join) {
  return Finder(drafts, placement, uses, read_uses, order, may_join).Run();
}

absl::Status CheckCopies(const Body& graph, const WriteAfterRead& hazards, bool copies,
                         bool cycles) {
  if (hazards.endless) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernelize: ", graph.Describe(hazards.endless),
                     " waits for itself: it overwrites ", graph.Describe(BufferOf(hazards.endless)),
                     ", whose old contents are to be read behind writes that wait for this one"));
  }
  for (const auto& [assign, buffer, why] : hazards.conflicts) {
    const bool is_cycle = why == Conflict::kCycle;
    const bool by_copies = !copies && !is_cycle;
    if (!by_copies && (cycles || why == Conflict::kReadsElsewhere)) continue;
    absl::string_view reason =
        is_cycle ? "which a kernel reads that this one waits for in turn (a cycle)"
        : why == Conflict::kOldAndNew
            ? "whose old contents are read by what needs the new ones too (a cycle)"
            : "which it reads elsewhere than where it writes (no contiguous view of what it "
              "writes)";
    return absl::FailedPreconditionError(absl::StrCat(
        "kernelize: ", graph.Describe(assign), " needs a copy of ", graph.Describe(buffer), ", ",
        reason, by_copies ? "; copies" : "; cycles", "=false allows none"));
  }
  return absl::OkStatus();
}

void CopyThroughBuffers(Body& graph, const WriteAfterRead& hazards, NodeSet& fused) {
  Builder b(*graph.context);
  NodeSet copied, snapshots;
  for (const UOp* a : hazards.copied) copied.Insert(a);
  for (const UOp* v : hazards.snapshots) snapshots.Insert(v);
  // For each node: the value that its users read, and the node itself as a version of its buffer.
  NodeMap<const UOp*> read, version;
  std::vector<const UOp*> sink_only;  // assigns that only the sink holds on to now
  llvm::SmallVector<const UOp*, 8> srcs;
  const auto rebuild = [&](const UOp* u, bool as_version) {
    srcs.clear();
    for (size_t i = 0; i < u->num_srcs; ++i) {
      // Targets of assigns, tokens of `after` and operands of kernels are versions; all other
      // sources are read as values.
      const bool named = as_version || u->op == Op::kAfter || u->op == Op::kSink || IsCall(u->op) ||
                         (u->op == Op::kAssign && i != 1);
      srcs.push_back((named ? version : read).Get(u->src(i)));
    }
    return b.context().Rebuild(u, b.context(), {srcs.data(), srcs.size()});
  };
  for (const UOp* u : PostOrder(graph.root)) {
    const UOp* to = rebuild(u, false);
    if (u->op == Op::kSink) {
      srcs.assign(to->srcs().begin(), to->srcs().end());
      NodeSet held;
      for (const UOp* r : srcs) held.Insert(r);
      for (const UOp* a : sink_only) {
        if (held.Insert(a)) srcs.push_back(a);
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
      sink_only.push_back(version[u]);
    }
    if (snapshots.Contains(u)) {
      read[u] = b.context().Make(Op::kContiguous, u->dtype, {version[u]});
    }
    if (fused.Contains(u)) fused.Insert(read[u]);
    graph.CarryOver(u, version[u]);
  }
}

}  // namespace tg::kernelize
