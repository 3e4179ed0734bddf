#include "passes/cost/kernel_nests.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::cost {
namespace {

Steps StepsOf(AxisKind kind) {
  switch (kind) {
    case AxisKind::kGlobal:
      return Steps::kGroups;
    case AxisKind::kLocal:
    case AxisKind::kGroup:
      return Steps::kItems;
    case AxisKind::kLoop:
    case AxisKind::kReduce:
    case AxisKind::kStage:
      return Steps::kSerial;
    case AxisKind::kUnroll:
    case AxisKind::kUpcast:
    case AxisKind::kVector:
      return Steps::kLanes;
  }
  TG_UNREACHABLE();
}

}  // namespace

KernelNests::KernelNests(const loop_nest::LoopNest& nest) : s_(nest) {
  for (const loop_nest::LoopAxis& axis : s_.axes) {
    const analysis::BaseAxis& base = s_.base[axis.base];
    loops_.push_back({axis.name, static_cast<double>(axis.max_size), StepsOf(axis.kind),
                      !axis.shares.empty(), base.reduce != nullptr, axis.kind == AxisKind::kVector,
                      axis.owned && base.reduce != nullptr});
    // One instruction takes all of these terms.
    for (const loop_nest::MatrixAxes& m : s_.matrices) {
      if (m.term == axis.name) loops_.back().steps = Steps::kLanes;
    }
  }
  for (size_t i = 0; i < s_.axes.size(); ++i) around_.push_back(FindAxesAround(i));
}

AxisSet KernelNests::AxesOfBases(analysis::LoopSet bases) const {
  AxisSet set = None();
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if ((bases & analysis::LoopBit(s_.axes[i].base)) != 0) set.set(static_cast<unsigned>(i));
  }
  return set;
}

const UOp* KernelNests::OwnerOf(size_t axis) const {
  const analysis::BaseAxis& base = s_.base[s_.axes[axis].base];
  return base.reduce ? base.reduce : base.staged;
}

AxisSet KernelNests::AxesOwnedBy(const UOp* owner) const {
  AxisSet set = None();
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if (OwnerOf(i) == owner) set.set(static_cast<unsigned>(i));
  }
  return set;
}

AxisSet KernelNests::AxesOfOwner(const UOp* owner) const {
  AxisSet set = None();
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if (OwnerOf(i) != owner) continue;
    set.set(static_cast<unsigned>(i));
    set |= AxesOfBases(s_.varies[s_.axes[i].base]);
  }
  return set;
}

AxisSet KernelNests::FindAxesAround(size_t axis) const {
  const UOp* owner = OwnerOf(axis);
  if (!owner) return None();
  AxisSet set = AxesOfBases(s_.varies[s_.axes[axis].base]);
  for (const unsigned i : set.set_bits()) {
    if (OwnerOf(i) == owner) set.reset(i);
  }
  return set;
}

AxisSet KernelNests::AxesOf(const analysis::Access& access) const {
  AxisSet set = None();
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const size_t base = s_.axes[i].base;
    if (access.stride[base] != 0 || access.masked[base]) set.set(static_cast<unsigned>(i));
  }
  return set;
}

AxisSet KernelNests::Closed(AxisSet axes) const {
  for (unsigned count = 0; count != axes.count();) {
    count = axes.count();
    for (const unsigned i : axes.set_bits()) axes |= around_[i];
  }
  return axes;
}

bool KernelNests::IsBroadcast(const AxisSet& axes) const {
  const AxisSet around = Closed(axes);
  bool in_owner = false;
  for (const unsigned i : axes.set_bits()) in_owner |= OwnerOf(i) != nullptr;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if (s_.axes[i].kind != AxisKind::kVector) continue;
    const auto at = static_cast<unsigned>(i);
    if (axes.test(at)) return false;
    if (around.test(at) || (!in_owner && !OwnerOf(i))) return true;
  }
  return false;
}

size_t KernelNests::DepthOf(size_t axis) const {
  AxisSet around = None();
  around.set(static_cast<unsigned>(axis));
  around = Closed(std::move(around));
  size_t depth = 0;
  for (const unsigned i : around.set_bits()) depth += OwnerOf(i) != nullptr;
  return depth;
}

bool KernelNests::IsSharedBy(size_t axis, const AxisSet& axes) const {
  for (const unsigned i : axes.set_bits()) {
    if (s_.axes[i].shares == s_.axes[axis].name) return true;
  }
  return false;
}

bool KernelNests::IsNeighbours(size_t axis) const {
  const loop_nest::LoopAxis& own = s_.axes[axis];
  const loop_nest::LoopAxis& items = own.shares.empty() ? own : s_.axes[s_.AxisNamed(own.shares)];
  return items.grid_dim == 0;
}

LoopNestOf KernelNests::NestOf(AxisSet axes) const {
  const AxisSet own_axes = axes;
  axes = Closed(std::move(axes));
  LoopNestOf nest;
  const auto owner = [&](size_t i) {
    return s_.axes[i].kind == AxisKind::kLoop ? nullptr : OwnerOf(i);
  };
  std::map<const UOp*, size_t> end;  // behind the innermost of an owner's loops that vary
  for (const unsigned i : axes.set_bits()) {
    if (loops_[i].steps == Steps::kSerial) end[owner(i)] = i + 1;
  }
  LoopList own, items;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const auto at = static_cast<uint16_t>(i);
    const bool varies = axes.test(at);
    switch (loops_[i].steps) {
      case Steps::kGroups:
        nest.loops.push_back(at);
        break;
      case Steps::kItems:
        if (varies || (!OwnerOf(i) && !IsSharedBy(i, axes))) items.push_back(at);
        break;
      case Steps::kSerial:
        if (i < end[owner(i)]) (owner(i) ? own : nest.loops).push_back(at);
        break;
      case Steps::kLanes:
        // What is the same in all copies of a body is computed in one of them.
        if (own_axes.test(at)) nest.lanes.push_back(at);
        break;
    }
  }
  llvm::stable_sort(own, [&](uint16_t a, uint16_t b) { return DepthOf(a) < DepthOf(b); });
  nest.loops.append(own);
  // Those of neighbouring work-items come last.
  std::stable_partition(items.begin(), items.end(), [&](uint16_t i) { return !IsNeighbours(i); });
  nest.loops.append(items);
  return nest;
}

bool KernelNests::IsAround(size_t axis, const loop_nest::Copy& copy) const {
  if (s_.IsCopied(copy, axis)) return false;
  const Steps steps = loops_[axis].steps;
  return steps == Steps::kGroups || (steps == Steps::kItems && !copy.is_local) ||
         (steps == Steps::kSerial && axis < StepsAround(copy));
}

size_t KernelNests::StepsAround(const loop_nest::Copy& copy) const {
  size_t end = s_.AxisNamed(copy.at) + 1;
  const auto varies = [&](size_t i) {
    return loops_[i].steps == Steps::kSerial && !s_.IsCopied(copy, i) &&
           (copy.varies & analysis::LoopBit(s_.axes[i].base)) != 0;
  };
  while (end > 0 && !varies(end - 1)) --end;
  return end;
}

LoopNestOf KernelNests::NestOfCopy(const loop_nest::Copy& copy) const {
  LoopNestOf nest;
  LoopList copied;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const auto loop = static_cast<uint16_t>(i);
    if (s_.IsCopied(copy, i)) {
      (IsLanes(i) ? nest.lanes : copied).push_back(loop);
    } else if (IsAround(i, copy)) {
      nest.loops.push_back(loop);
    }
  }
  nest.loops.append(copied);
  return nest;
}

size_t KernelNests::AroundCopy(const loop_nest::Copy& copy) const {
  size_t around = 0;
  for (size_t i = 0; i < s_.axes.size(); ++i) around += IsAround(i, copy);
  return around;
}

}  // namespace tg::cost
