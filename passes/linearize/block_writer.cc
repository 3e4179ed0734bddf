#include "passes/linearize/block_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/masked_access.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::linearize {
namespace {

// The maximum number of stores under one `if`. The values of all of them are computed before the
// `if` and occupy registers until then.
constexpr size_t kMaxStoresPerIf = 16;

bool IsCooperative(Op op) { return op == Op::kBarrier || GroupOf(op) == OpGroup::kSubgroup; }

// The gate of a store, or null. A gate for each element is no condition of an `if`.
const UOp* GateOf(const UOp* u) {
  if (!WritesMemory(u->op)) return nullptr;
  const UOp* address = u->src(0);
  const bool has_gate = address->op == Op::kIndex && address->num_srcs == 3;
  return has_gate && !MaskOf(address) ? address->src(2) : nullptr;
}

class Writer {
 public:
  Writer(const Nest& nest, Body& body) : nest_(nest), body_(body) {
    made_.assign(nest.nodes.size(), nullptr);
  }

  void Run(const std::vector<Step>& steps) {
    FindSharedLoops();
    out_.reserve(steps.size());
    for (const Step& step : steps) {
      if (step.position >= 0) {
        // An `end` that closes loops is written by Close, where its loop ends.
        if (nest_.nodes[step.position]->op != Op::kEnd || nest_.opens[step.position] < 0) {
          Emit(Remade(step.position));
        }
      } else {
        Close(step.closes);
      }
    }
    Flush();
    body_.linear = std::move(out_);
    body_.root = body_.linear.back();
    TG_CHECK(body_.root->op == Op::kSink);
  }

 private:
  // If a loop has a single end, that end closes it (with the inner loops that it names). Otherwise
  // the loop, and every loop that shares an end with it, gets a separate end.
  void FindSharedLoops() {
    own_end_.assign(nest_.loops.size(), 0);
    closer_.assign(nest_.loops.size(), nullptr);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t l = 1; l < nest_.loops.size(); ++l) {
        const Loop& loop = nest_.loops[l];
        bool own = loop.ends.size() != 1;
        for (int e : loop.ends) {
          for (const UOp* r : nest_.nodes[e]->srcs().subspan(1)) {
            own |= own_end_[nest_.opens[nest_.at(r)]] != 0;
          }
        }
        if (own && !own_end_[l]) {
          own_end_[l] = 1;
          changed = true;
        }
      }
    }
  }

  const UOp* Remade(int position) {
    for (int s : nest_.sources(static_cast<size_t>(position))) {
      if (made_[s] != nest_.nodes[s]) return made_[position] = WithMadeSources(position);
    }
    return made_[position] = nest_.nodes[position];
  }
  const UOp* WithMadeSources(int position) {
    const UOp* u = nest_.nodes[position];
    llvm::SmallVector<const UOp*, 8> srcs;
    for (int s : nest_.sources(static_cast<size_t>(position))) {
      srcs.push_back(made_[s]);
      TG_CHECK(srcs.back());
    }
    const UOp* made =
        body_.context->Make(u->op, u->dtype, UOpSpan(srcs.data(), srcs.size()), u->attr);
    body_.CarryOver(u, made);
    return made;
  }

  void Close(int l) {
    const Loop& loop = nest_.loops[l];
    if (!own_end_[l]) {
      const int e = loop.ends[0];
      // An end that closes several loops is written once, when the outermost of them ends.
      if (nest_.opens[e] == l) Emit(Remade(e));
      return;
    }
    // What the loop's new end waits for: the effect of each `end` of which this is the innermost
    // loop, and the new end of the loop inside this one for each other `end`.
    llvm::SmallVector<const UOp*, 4> tokens;
    for (int e : loop.ends) {
      const UOp* end = nest_.nodes[e];
      const UOp* token = nullptr;
      int inner = 0;
      for (const UOp* r : end->srcs().subspan(1)) {
        const int other = nest_.opens[nest_.at(r)];
        if (nest_.loops[other].depth == loop.depth + 1) inner = other;
      }
      token = inner ? closer_[inner] : made_[nest_.at(end->src(0))];
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    const UOp* effect = tokens[0];
    if (tokens.size() > 1) {
      effect = body_.context->Make(Op::kNoop, kVoid, UOpSpan(tokens.data(), tokens.size()));
      Emit(effect);
    }
    closer_[l] = body_.context->Make(Op::kEnd, kVoid, {effect, made_[nest_.at(loop.range)]});
    for (int e : loop.ends) {
      if (nest_.opens[e] == l) made_[e] = closer_[l];
    }
    Emit(closer_[l]);
  }

  // The output is `out_`, then the open block `if gate {stores}`, then `late_`: nodes that were
  // emitted after these stores and do not depend on them. If another store joins the block, they
  // are moved before it.
  void Emit(const UOp* u) {
    if (const UOp* gate = GateOf(u)) {
      EmitStore(u, gate);
    } else if (gate_) {
      EmitLate(u);
    } else {
      out_.push_back(u);
    }
  }
  void EmitStore(const UOp* u, const UOp* gate) {
    if (gate != gate_ || stores_.size() == kMaxStoresPerIf) {
      Flush();
      gate_ = gate;
    }
    out_.insert(out_.end(), late_.begin(), late_.end());
    late_.clear();
    stores_.push_back(u);
  }
  void EmitLate(const UOp* u) {
    bool movable = !u->dtype.is_void() && u->op != Op::kRange;
    for (const UOp* s : u->srcs()) {
      movable &= std::find(stores_.begin(), stores_.end(), s) == stores_.end();
    }
    late_.push_back(u);
    if (!movable) Flush();
  }

  void Flush() {
    if (!gate_) return;
    // Two blocks with the same gate must be different nodes, so that a second one also names its
    // first address.
    const UOp* open = body_.context->Make(Op::kIf, kVoid, {gate_});
    if (!ifs_.Insert(open)) {
      open = body_.context->Make(Op::kIf, kVoid, {gate_, stores_[0]->src(0)});
      ifs_.Insert(open);
    }
    out_.push_back(open);
    out_.insert(out_.end(), stores_.begin(), stores_.end());
    out_.push_back(body_.context->Make(Op::kEndIf, kVoid, {open}));
    out_.insert(out_.end(), late_.begin(), late_.end());
    gate_ = nullptr;
    stores_.clear();
    late_.clear();
  }

  const Nest& nest_;
  Body& body_;
  std::vector<const UOp*> made_;    // by position: the node as it is in the result
  std::vector<char> own_end_;       // by loop: whether it gets a separate end
  std::vector<const UOp*> closer_;  // by loop: the separate end that was made for it
  std::vector<const UOp*> out_, stores_, late_;
  const UOp* gate_ = nullptr;
  NodeSet ifs_;
};

}  // namespace

absl::Status CheckBarriers(const Nest& nest) {
  const size_t n = nest.nodes.size();
  const auto cooperates = [](const UOp* u) { return IsCooperative(u->op); };
  if (std::none_of(nest.nodes.begin(), nest.nodes.end(), cooperates)) return absl::OkStatus();
  std::vector<char> varies(n, 0);  // by position: may differ between the work-items of a group
  for (size_t p = 0; p < n; ++p) {
    const UOp* u = nest.nodes[p];
    if (u->op == Op::kSpecial) {
      varies[p] = IsLocalId(u);
    } else if (u->op == Op::kLoad) {
      const DType t = MemoryOf(u->src(0))->dtype;
      varies[p] =
          t.is_pointer() && (t.space() == AddrSpace::kPrivate || t.space() == AddrSpace::kReg);
    }
    for (int s : nest.sources(p)) varies[p] |= varies[s] && !nest.nodes[s]->dtype.is_void();
  }
  for (size_t p = 0; p < n; ++p) {
    if (!IsCooperative(nest.nodes[p]->op)) continue;
    for (int l = nest.block[p]; l > 0; l = nest.loops[l].parent) {
      const UOp* range = nest.loops[l].range;
      if (!varies[nest.at(range->src(0))]) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "a ", std::string(Mnemonic(nest.nodes[p]->op)), " stands in the loop of range #",
          range->word(), ", whose size differs between the work-items of a group"));
    }
  }
  return absl::OkStatus();
}

void WriteBlocks(const Nest& nest, const std::vector<Step>& steps, Body& body) {
  Writer(nest, body).Run(steps);
}

}  // namespace tg::linearize
