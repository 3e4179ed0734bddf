#include "passes/optimize/packing.h"

#include <algorithm>

#include "ir/arithmetic.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/optimize/lanes.h"

namespace tg {
namespace {

// Each group copies for itself, so there are no more than every core needs to have its share.
int64_t FewestGroups(const Tuner& t) { return int64_t{8} * t.target().compute_units; }

// Of one load, for the lanes of one vector: what may be read again from a core's cache.
int64_t MostBytes(const Target& target) { return target.core_cache_bytes; }

}  // namespace

int64_t LaneCosts::PackedUses(size_t access, size_t axis) const {
  const Access& a = t_.accesses()[access];
  const BaseAxis& along = t_.schedule().base[t_.schedule().axes[axis].base];
  const auto stride = t_.Stride(a, axis);
  // What lies side by side is read as it is.
  if (shared_ != 0 || a.is_store() || !along.IsStored() || stride == 0 || stride == 1) return 0;
  const UOp* reduce = reduce_of_[access];
  const int64_t lanes = Along(axis);
  if (!reduce || lanes < Widest()) return 0;
  int64_t uses = 1, blocks = 1, terms = 1;
  for (size_t n = 0; n < t_.schedule().base.size(); ++n) {
    const BaseAxis& base = t_.schedule().base[n];
    if (base.size.is_symbolic()) return 0;
    const bool varies = a.stride[n] != 0;
    if (base.IsStored()) {
      (varies ? blocks : uses) *= base.max_size;
    } else if (base.reduce == reduce) {
      terms *= varies ? base.max_size : 1;
    } else if (varies) {
      return 0;
    } else if (base.reduce && VariesOver(reduce, n)) {
      uses *= base.max_size;  // the pixels of a mean
    }
  }
  for (const Access& other : t_.accesses()) {
    if (other.node == a.node && &other != &a) return 0;  // read in another way too
  }
  // Each of its elements is a term of one result along the lanes: it is no window over another.
  int64_t elements = 1;
  for (const Dim& d : t_.ShapeOf(a.node)) elements *= d.is_symbolic() ? 0 : d.value();
  if (elements != blocks * terms) return 0;
  if (terms * lanes * ByteSize(a.node->dtype.scalar()) > MostBytes(t_.target())) return 0;
  const int64_t parts = FewestGroups(t_) * lanes / blocks;
  return t_.MayPack() ? uses / std::max<int64_t>(1, parts) : 0;
}

void LoopOverPacked(Tuner& t) {
  const auto same = [&](size_t i) {
    return llvm::all_of(t.accesses(), [&](const Access& a) {
      return !llvm::is_contained(t.packed(), a.node) || t.Stride(a, i) == 0;
    });
  };
  LoopSet along = 0;
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (same(i))
      along |= LoopBit(t.schedule().axes[i].base);
    else
      groups *= t.Size(i);
  }
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const int64_t missing = (FewestGroups(t) + groups - 1) / groups;
    if (missing <= 1) break;
    if (!same(i)) continue;
    int64_t parts = std::min(missing, t.Size(i));
    while (t.Size(i) % parts != 0) ++parts;
    along &= ~LoopBit(t.schedule().axes[i].base);
    groups *= parts;
    if (parts != t.Size(i)) t.Try("loop", i, t.Size(i) / parts);
  }
  t.LoopAlong(along);
}

void StagePacked(Kernel& kernel, const Body& clone, const std::vector<const UOp*>& loads,
                 ShapeMap& shapes) {
  const std::vector<const UOp*> order = kernel.body.Order(), cloned = clone.Order();
  TG_CHECK(order.size() == cloned.size());
  NodeMap<const UOp*> only_user;  // null: there are several
  NodeSet used;
  for (const UOp* u : cloned) {
    for (const UOp* s : u->srcs()) only_user[s] = used.Insert(s) ? u : nullptr;
  }
  const auto dims = [&](const UOp* u) {
    return llvm::count_if(shapes.Of(u), [](const Dim& d) { return !d.Is(1); });
  };
  // Where what is loaded has most axes, so that the lanes have one for themselves: an argument may
  // be one long axis.
  NodeSet staged;
  for (const UOp* load : loads) {
    const UOp* best = load;
    for (const UOp* u = load; u && (u == load || u->op == Op::kReshape || u->op == Op::kPermute);) {
      if (dims(u) > dims(best)) best = u;
      u = only_user.Get(u);
    }
    staged.Insert(best);
  }
  Context& ctx = *kernel.body.context;
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (size_t n = 0; n < order.size(); ++n) {
    const UOp* u = order[n];
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* same = ctx.Make(u->op, u->dtype, srcs, u->attr);
    kernel.body.CarryOver(u, same);
    map[u] = staged.Contains(cloned[n]) ? ctx.Make(Op::kStaged, u->dtype, {same}) : same;
  }
  kernel.body.root = map.Get(kernel.body.root);
}

bool HasRoomForPacked(const Schedule& schedule, size_t loads, const Target& target) {
  int64_t lanes = 1;
  for (const ScheduledAxis& axis : schedule.axes) {
    if (axis.kind == AxisKind::kVector) lanes *= axis.max_size;
  }
  return SaturatingMul(schedule.StagedBytes(), lanes) <=
         static_cast<int64_t>(loads) * MostBytes(target);
}

}  // namespace tg
