#include "passes/horizontal_fusion/merge.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ir/arithmetic.h"
#include "ir/builder.h"
#include "ir/walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/horizontal_fusion/partition_grid.h"
#include "passes/horizontal_fusion/work.h"

namespace tg {
namespace {

constexpr size_t kDims = 3;

// What a kernel is launched with; 1 where it does not ask.
struct Grid {
  std::array<int64_t, kDims> groups = {1, 1, 1}, local = {1, 1, 1};
  DType id = kI32;  // of its groups' numbers
  bool is_fixed = true;

  explicit Grid(const Kernel& kernel) {
    for (const UOp* u : kernel.body.linear) {
      if (u->op != Op::kSpecial) continue;
      const auto dim = static_cast<size_t>(u->word());
      if (!IsConst(u->src(0))) {
        is_fixed = false;
      } else if (dim < kDims) {
        groups[dim] = u->src(0)->word();
        id = u->dtype;
      } else {
        local[dim - kDims] = u->src(0)->word();
      }
    }
  }

  int64_t NumGroups() const {
    return SaturatingMul(SaturatingMul(groups[0], groups[1]), groups[2]);
  }
};

struct Member {
  Member(const Kernel& k, const std::vector<int64_t>& its_slots, const Target& target)
      : kernel(&k),
        slots(&its_slots),
        grid(k),
        seconds(ArithmeticSeconds(k, target) / static_cast<double>(grid.NumGroups())) {}

  const Kernel* kernel;
  const std::vector<int64_t>* slots;
  Grid grid;
  double seconds;                // per group
  GridSlice place;               // of the merged kernel's groups
  const UOp* block = nullptr;    // the block that contains it
  std::vector<const UOp*> list;  // its nodes in the merged kernel, in order
};

class Merger {
 public:
  Merger(std::span<const Kernel* const> members, const MemberSlots& slots, const Target& target)
      : target_(target), kernel_(std::make_unique<Kernel>()), b_(*kernel_->body.context) {
    for (size_t p = 0; p < members.size(); ++p)
      members_.emplace_back(*members[p], slots[p], target);
  }

  std::unique_ptr<Kernel> Run() {
    if (!Fits()) return nullptr;
    // Those whose groups take longest go first: at the end short ones fill what is left.
    std::stable_sort(members_.begin(), members_.end(),
                     [](const Member& a, const Member& b) { return a.seconds > b.seconds; });
    size_t nodes = 0;
    for (const Member& member : members_) nodes += member.kernel->body.linear.size();
    b_.context().Reserve(nodes + nodes / 8);
    Deal();
    for (Member& member : members_) Copy(member);
    const Shared shared = FindShared();
    if (!shared.fits) return nullptr;
    return Write(shared.nodes);
  }

 private:
  // Nodes that precede the members.
  struct Shared {
    NodeSet nodes;
    bool fits = true;
  };

  bool Fits() {
    int64_t local_bytes = 0;
    for (const Member& member : members_) {
      const Grid& grid = member.grid;
      if (!grid.is_fixed || grid.local != members_[0].grid.local || grid.NumGroups() < 1)
        return false;
      num_groups_ = SaturatingAdd(num_groups_, grid.NumGroups());
      if (ByteSize(grid.id.scalar()) > ByteSize(id_.scalar())) id_ = grid.id;
      for (const UOp* u : member.kernel->body.linear) {
        if (u->op != Op::kScratch || u->dtype.space() != AddrSpace::kLocal) continue;
        local_bytes += u->dtype.size() * ByteSize(u->dtype.scalar());
      }
    }
    return num_groups_ <= std::min<int64_t>(target_.max_groups[0], INT32_MAX) &&
           local_bytes <= target_.local_memory;
  }

  // Opens the members' blocks.
  void Deal() {
    // Of the type that devectorize gave the members' own.
    const UOp* group = Add(b_.context().Make(
        Op::kSpecial, id_, {Add(b_.ConstInt(id_, num_groups_))},
        b_.context().MakeAttr(Op::kSpecial, {static_cast<int64_t>(SpecialName::kGrid0)})));
    std::vector<MemberGroups> groups;
    for (const Member& member : members_)
      groups.push_back({member.grid.NumGroups(), member.seconds});
    const std::vector<GridSlice> places =
        PartitionGrid(b_, group, groups, ChooseRuns(groups, target_.compute_units),
                      [&](const UOp* u) { Add(u); });
    for (size_t p = 0; p < members_.size(); ++p) {
      members_[p].place = places[p];
      members_[p].block = b_.context().Make(Op::kIf, kVoid, {places[p].is_own});
    }
  }

  // Puts what all groups compute before the members.
  const UOp* Add(const UOp* u) {
    if (before_.Insert(u)) kernel_->body.linear.push_back(u);
    return u;
  }

  // The member's nodes in order, its sink aside, over arguments and groups of the whole.
  void Copy(Member& member) {
    const Body& from = member.kernel->body;
    const Grid& grid = member.grid;
    std::vector<const UOp*>& list = member.list;
    NodeMap<const UOp*> made;
    made.Reserve(from.context->num_nodes());
    list.reserve(from.linear.size() + 8);
    const UOp* own = member.place.number;
    int64_t before = 1;  // groups of the dimensions that go faster
    std::array<const UOp*, kDims> place = {};
    for (size_t d = 0; d < kDims; ++d) {
      if (grid.groups[d] == 1) continue;
      const UOp* at = own;
      if (before > 1) {
        at = Append(list, b_.Alu(Op::kCDiv, {at, Append(list, b_.ConstInt(id_, before))}));
      }
      before *= grid.groups[d];
      if (before < grid.NumGroups()) {
        at = Append(list, b_.Alu(Op::kCMod, {at, Append(list, b_.ConstInt(id_, grid.groups[d]))}));
      }
      place[d] = at;
    }
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* u : from.linear) {
      if (u->op == Op::kSink) {
        for (const UOp* s : u->srcs()) roots_.push_back(made.Get(s));
        continue;
      }
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(made.Get(s));
      // Blocks of one condition in two members are two nodes.
      if (u->op == Op::kIf) srcs.push_back(member.block);
      made[u] = CopyNode(member, u, {srcs.data(), srcs.size()}, place);
      kernel_->body.side.SetLoc(made[u], from.side.loc(u));
      Append(list, made[u]);
    }
  }

  const UOp* CopyNode(const Member& member, const UOp* u, UOpSpan srcs,
                      const std::array<const UOp*, kDims>& place) {
    Context& context = b_.context();
    const Context& from = *member.kernel->body.context;
    switch (u->op) {
      case Op::kDefineGlobal:
        return b_.DefineGlobal((*member.slots)[static_cast<size_t>(u->word())], u->dtype);
      case Op::kScratch:
        return b_.Scratch(u->dtype, u->words().size() > 1 ? u->word(1) : 0);
      case Op::kRange:
        return context.Make(u->op, u->dtype, srcs, {static_cast<uint64_t>(context.NextId())});
      case Op::kSpecial:
        if (const auto dim = static_cast<size_t>(u->word()); dim < kDims) {
          const UOp* at = place[dim] ? place[dim] : b_.ConstInt(id_, 0);
          return at->dtype == u->dtype ? at : b_.Cast(at, u->dtype);
        }
        [[fallthrough]];
      default:
        return context.Rebuild(u, from, srcs);
    }
  }

  // `u`, which may be in the list already.
  static const UOp* Append(std::vector<const UOp*>& list, const UOp* u) {
    list.push_back(u);
    return u;
  }

  // The nodes that two members share, and the nodes that precede all blocks in any case.
  Shared FindShared() {
    Shared out;
    out.nodes = before_;
    NodeMap<uint32_t> owner;  // 1 + member
    owner.Reserve(b_.context().num_nodes());
    for (Member& member : members_) {
      // A group's number is made of constants that the member may have too.
      NodeSet seen;
      llvm::erase_if(member.list, [&](const UOp* u) { return !seen.Insert(u); });
      for (const UOp* u : member.list) {
        if (WritesMemory(u->op)) written_.Insert(MemoryOf(u->src(0)));
      }
    }
    for (size_t p = 0; p < members_.size(); ++p) {
      size_t depth = 0;
      for (const UOp* u : members_[p].list) {
        if (u->op == Op::kEnd) depth -= u->num_srcs - 1;
        if (u->op == Op::kEndIf) --depth;
        const auto member = static_cast<uint32_t>(p) + 1;
        uint32_t& by = owner[u];
        if (by != 0 && by != member) out.nodes.Insert(u);
        by = member;
        if (u->num_srcs == 0 && !u->dtype.is_void() && u->op != Op::kScratch) out.nodes.Insert(u);
        if (depth > 0) nested_.Insert(u);
        if (u->op == Op::kRange || u->op == Op::kIf) ++depth;
      }
    }
    llvm::SmallDenseMap<int64_t, const UOp*, 16> arguments;
    for (const Member& member : members_) {
      for (const UOp* u : member.list) {
        if (u->op == Op::kDefineGlobal) {
          out.fits &= arguments.try_emplace(u->word(), u).first->second == u;
        }
        if (out.nodes.Contains(u) && !before_.Contains(u) && !MayStandBefore(u, out.nodes))
          out.fits = false;
      }
    }
    return out;
  }

  // Whether all groups may do what some of each of two members do.
  bool MayStandBefore(const UOp* u, const NodeSet& before) const {
    if (!llvm::all_of(u->srcs(), [&](const UOp* s) { return before.Contains(s); })) return false;
    switch (u->op) {
      case Op::kLoad:
        // All groups of both members read it, so it is there to be read.
        return !nested_.Contains(u) && !written_.Contains(MemoryOf(u->src(0)));
      case Op::kSpecial:
      case Op::kIndex:
      case Op::kGep:
      case Op::kSplat:
      case Op::kVectorize:
      case Op::kCat:
        return true;
      default:
        return u->num_srcs == 0 || IsElementwise(u->op);
    }
  }

  std::unique_ptr<Kernel> Write(const NodeSet& shared) {
    for (const Member& member : members_) {
      for (const UOp* u : member.list) {
        if (shared.Contains(u)) Add(u);
      }
    }
    for (const Member& member : members_) {
      Add(member.block);
      for (const UOp* u : member.list) Add(u);
      Add(b_.context().Make(Op::kEndIf, kVoid, {member.block}));
    }
    kernel_->body.root = b_.Sink(roots_);
    kernel_->body.linear.push_back(kernel_->body.root);
    kernel_->stage = Stage::kLinear;
    kernel_->loc = members_[0].kernel->loc;
    for (const Member& member : members_) {
      for (const std::string& what : member.kernel->metadata) {
        if (!llvm::is_contained(kernel_->metadata, what)) kernel_->metadata.push_back(what);
      }
    }
    return std::move(kernel_);
  }

  std::vector<Member> members_;
  const Target& target_;
  std::unique_ptr<Kernel> kernel_;
  Builder b_;
  int64_t num_groups_ = 0;
  DType id_ = kI32;  // type of the groups' numbers
  NodeSet before_;   // the nodes that precede the members
  std::vector<const UOp*> roots_;
  NodeSet written_;  // arguments
  NodeSet nested_;   // in a loop or a block of a member
};

}  // namespace

std::unique_ptr<Kernel> MergeKernels(std::span<const Kernel* const> members,
                                     const MemberSlots& slots, const Target& target) {
  return Merger(members, slots, target).Run();
}

}  // namespace tg
