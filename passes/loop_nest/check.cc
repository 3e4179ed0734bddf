// What holds for any loop nest that can run on a target.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {
namespace {

template <typename... Parts>
absl::Status Illegal(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// A grid and a group have at most three dimensions. Axes that share a dimension must not be group
// axes, must not be bound to a dimension by a directive and must not be lanes of a matrix
// instruction.
absl::Status CheckDimensions(const LoopNest& nest) {
  int groups = 0, locals = 0, bound = 0, free = 0;
  for (const LoopAxis& a : nest.axes) {
    // A local or group axis that is bound to a dimension, or whose work-items other axes share, has
    // one for itself.
    const bool local = a.kind == AxisKind::kLocal || a.kind == AxisKind::kGroup;
    const bool shared =
        local && (nest.IsMatrixLane(a.name) || a.grid_dim >= 0 ||
                  llvm::any_of(nest.axes, [&](const LoopAxis& g) { return g.shares == a.name; }));
    groups += (a.kind == AxisKind::kGroup && a.HasItems()) || shared;
    locals += a.kind == AxisKind::kLocal && !shared;
    if (a.kind == AxisKind::kGlobal) ++(a.grid_dim >= 0 ? bound : free);
  }
  if (groups + (locals > 0) > 3) return Illegal("a group has three dimensions");
  if (bound + (free > 0) > 3) return Illegal("the grid has three dimensions");
  return absl::OkStatus();
}

absl::Status CheckGroup(const LoopNest& nest, const passes::Target& target) {
  const int64_t size = nest.GroupSize();
  if (size > 1 && !target.has_local) return Illegal("target ", target.name, " has no local memory");
  if (size > target.max_group_size) {
    return Illegal("a group of ", size, " work-items; target ", target.name, " allows ",
                   target.max_group_size);
  }
  const int64_t bytes = nest.LocalBytes();
  if (bytes > target.local_memory) {
    return Illegal("a group needs ", bytes, " bytes of local memory; target ", target.name, " has ",
                   target.local_memory);
  }
  return absl::OkStatus();
}

absl::Status CheckCopies(const LoopNest& nest, const passes::Target& target) {
  for (const Copy& copy : nest.copies) {
    for (size_t i = 0; i < nest.axes.size(); ++i) {
      if (!nest.IsCopied(copy, i)) continue;
      const LoopAxis& axis = nest.axes[i];
      const char* why = axis.size.is_symbolic() ? "is symbolic"
                        : axis.shares.empty() || (axis.owned && !nest.matrices.empty())
                            ? nullptr
                            : "shares the work-items of another axis";
      if (why) return Illegal("a packed value varies along axis ", axis.name, ", which ", why);
    }
  }
  for (const Copy& copy : nest.copies) {
    if (copy.buffers < 2) continue;
    const LoopAxis& axis = nest.axes[nest.AxisNamed(copy.at)];
    if (axis.kind != AxisKind::kReduce) continue;
    // The reduce's loop may run again. If its number of steps is even, the last step of one run and
    // the first step of the next use different buffers, and need no barrier between them.
    if (!copy.ahead && !axis.size.is_symbolic() && axis.max_size % 2 == 0) continue;
    // Otherwise a barrier, or with `ahead` the first step's copy, is in front of the reduce's loop.
    // This loop must then be directly in the loops over results.
    const size_t base = axis.base;
    const auto is_in = [&](const Copy& other) {
      return llvm::is_contained(PostOrder(other.node->src(0)), nest.base[base].reduce);
    };
    if (!nest.IsOutermost(base) || llvm::any_of(nest.copies, is_in)) {
      return Illegal("the reduce of axis ", copy.at, " is computed in loops of another value");
    }
  }
  const int64_t bytes = nest.PackedBytes();
  if (bytes <= target.private_memory) return absl::OkStatus();
  return Illegal("packed values need ", bytes, " bytes; target ", target.name, " has ",
                 target.private_memory);
}

// A value that is staged in the output needs its results' axes to be the innermost loops.
absl::Status CheckOutputStaging(const LoopNest& nest) {
  if (!nest.in_output) return absl::OkStatus();
  const analysis::LoopSet along = nest.held_by_output[*nest.in_output];
  const auto illegal = [&](const auto&... why) {
    return Illegal(nest.base[*nest.in_output].name, " is staged in the output: ", why...);
  };
  for (const AxisMap& map : nest.maps) {
    if (map.IsPadded()) return illegal("no axis may be padded");
    if (map.Overlaps()) return illegal("no axis may overlap");
  }
  if (nest.GroupSize() > 1) return illegal("work-items of a group would share it");
  bool inside = false;
  for (size_t i = 0; i < nest.axes.size(); ++i) {
    const LoopAxis& a = nest.axes[i];
    const bool own = (along & analysis::LoopBit(a.base)) != 0;
    if (own && a.kind == AxisKind::kGlobal) return illegal("axis ", a.name, " must be a loop");
    if (a.kind != AxisKind::kLoop) continue;
    if (nest.IsReduceLoop(i)) return illegal("no loop may be around results");
    // The value would be computed again in each step of this loop, over results stored before.
    if (inside && !own) return illegal("loop ", a.name, " is inside of its loops");
    inside |= own;
  }
  return absl::OkStatus();
}

// Checks loops over blocks of a reduce's terms that are around the loops over results. Between the
// blocks, the output holds the partial results.
absl::Status CheckReduceLoops(const LoopNest& nest) {
  const UOp* reduce = nullptr;
  for (size_t i = 0; i < nest.axes.size(); ++i) {
    if (!nest.IsReduceLoop(i)) continue;
    const LoopAxis& axis = nest.axes[i];
    const UOp* own = nest.base[axis.base].reduce;
    if (reduce && own != reduce) return Illegal("blocks of another reduce are around the results");
    reduce = own;
    if (!nest.accumulates[axis.base]) {
      return Illegal("the results of the reduce of axis ", axis.name,
                     " are not what the kernel stores, each once, in its type");
    }
    if (axis.size.is_symbolic() || axis.max_size == 0) {
      return Illegal("axis ", axis.name, " may have no iterations");
    }
    const auto is_group = [](const LoopAxis& a) { return a.kind == AxisKind::kGroup; };
    if (llvm::any_of(nest.axes, is_group)) {
      return Illegal("work-items of a group share a reduce, and axis ", axis.name,
                     " is a loop around results");
    }
  }
  return absl::OkStatus();
}

// Results that are computed twice must be the same both times.
absl::Status CheckOverlap(const LoopNest& nest) {
  for (size_t i = 0; i < nest.base.size(); ++i) {
    if (!nest.maps[i].Overlaps() || !nest.base[i].IsStored()) continue;
    for (size_t k = 0; k < nest.axes.size(); ++k) {
      if (!nest.IsReduceLoop(k)) continue;
      return Illegal("results along ", nest.base[i].name, " overlap, and each step of axis ",
                     nest.axes[k].name, " adds to them");
    }
    if (nest.IsInPlace()) {
      return Illegal("results along ", nest.base[i].name,
                     " overlap, and the kernel reads an argument that it writes");
    }
  }
  return absl::OkStatus();
}

// The axes of matrix instructions stay as directive `matrix` binds them, and the 32 work-items of a
// subgroup act together.
absl::Status CheckMatrix(const LoopNest& nest) {
  for (const MatrixAxes& m : nest.matrices) {
    llvm::SmallVector<std::pair<const std::string*, AxisKind>, 8> axes = {
        {&m.row, AxisKind::kUpcast},
        {&m.row_lane, AxisKind::kLocal},
        {&m.column_lane, AxisKind::kLocal},
        {&m.column, AxisKind::kUpcast},
        {&m.term, AxisKind::kReduce}};
    if (m.IsWarpgroup()) axes.emplace_back(&m.unit, AxisKind::kLocal);
    for (const std::string& name : m.columns) axes.emplace_back(&name, AxisKind::kUpcast);
    for (const auto& [name, kind] : axes) {
      const int at = nest.FindAxis(*name);
      if (at < 0 || nest.axes[static_cast<size_t>(at)].kind != kind) {
        return Illegal("axis ", *name, " is one of a matrix instruction");
      }
    }
  }
  for (const LoopAxis& axis : nest.axes) {
    const bool divides = axis.kind == AxisKind::kGroup && (!axis.owned || axis.HasItems());
    if (divides && !nest.matrices.empty()) {
      return Illegal("axis ", axis.name,
                     " divides a sum among work-items, and so does a matrix "
                     "instruction");
    }
  }
  return absl::OkStatus();
}

constexpr int64_t kShuffledBytes = 64;  // a vector of 16 words

// Work-items that combine parts of a reduce by shuffles are neighbours in a subgroup: their axis is
// dimension 0 of the group, which has whole subgroups. Matrix instructions number the work-items
// themselves.
absl::Status CheckShuffles(const LoopNest& nest, const passes::Target& target) {
  if (!nest.matrices.empty()) return absl::OkStatus();
  const LoopAxis* first = nullptr;  // dimension 0: what `neighbours` says, or the last one
  for (const LoopAxis& a : nest.axes) {
    if (a.HasItems() && (!first || first->grid_dim < 0)) first = &a;
  }
  for (const LoopAxis& a : nest.axes) {
    if (!a.owned || !nest.base[a.base].reduce) continue;
    const LoopAxis& items = a.HasItems() ? a : nest.axes[nest.AxisNamed(a.shares)];
    if (&items != first) return Illegal("the work-items along ", items.name, " are no neighbours");
    if (target.subgroup_size % items.max_size != 0) {
      return Illegal("a subgroup has no parts of ", items.max_size, " work-items");
    }
    int64_t bytes = ByteSize(nest.base[a.base].reduce->dtype.scalar());
    for (const LoopAxis& lanes : nest.axes) {
      const bool copies = lanes.kind == AxisKind::kUpcast || lanes.kind == AxisKind::kVector;
      const bool varies = (nest.varies[a.base] & analysis::LoopBit(lanes.base)) != 0;
      if (copies && varies) bytes = SaturatingMul(bytes, lanes.max_size);
    }
    if (bytes > kShuffledBytes) {
      return Illegal("shuffles would move ", bytes, " bytes of a work-item at once");
    }
    if (nest.GroupSize() % target.subgroup_size != 0) {
      return Illegal("a group of ", nest.GroupSize(), " work-items has no whole subgroups");
    }
  }
  return absl::OkStatus();
}

// The terms of a tuple are combined in one loop of each work-item, each once; what is combined
// along its inner axes has an element for each index.
absl::Status CheckTuples(const LoopNest& nest) {
  const auto is_tuple = [](const UOp* u) { return u && u->op == Op::kReduceTuple; };
  for (const LoopAxis& axis : nest.axes) {
    const analysis::BaseAxis& base = nest.base[axis.base];
    const bool terms = is_tuple(base.reduce);
    if (!terms && !is_tuple(base.staged)) continue;
    const AxisMap& map = nest.maps[axis.base];
    if (map.Overlaps()) return Illegal("axis ", axis.name, " of a tuple overlaps");
    if (!terms && map.IsPadded()) return Illegal("axis ", axis.name, " of a tuple is padded");
    if (terms ? axis.kind != AxisKind::kReduce : axis.Exchanges()) {
      return Illegal("axis ", axis.name, " is of a tuple, and ",
                     std::string(AxisKindName(axis.kind)));
    }
  }
  return absl::OkStatus();
}

// With a group axis, a loop over blocks of terms, a packed value or one staged in the output,
// elements may be read after other results are stored. Then the kernel must not write what it
// reads.
absl::Status CheckInPlace(const LoopNest& nest) {
  const auto is_late = [&](size_t i) {
    return nest.axes[i].kind == AxisKind::kGroup || nest.IsReduceLoop(i);
  };
  bool late = nest.in_output.has_value() || !nest.copies.empty();
  for (size_t i = 0; i < nest.axes.size(); ++i) late |= is_late(i);
  if (!late || !nest.IsInPlace()) return absl::OkStatus();
  return Illegal("the kernel reads an argument that it writes");
}

}  // namespace

absl::Status LoopNest::Check(const passes::Target& target) const {
  if (absl::Status s = CheckInPlace(*this); !s.ok()) return s;
  if (absl::Status s = CheckReduceLoops(*this); !s.ok()) return s;
  if (absl::Status s = CheckOverlap(*this); !s.ok()) return s;
  if (absl::Status s = CheckTuples(*this); !s.ok()) return s;
  if (absl::Status s = CheckMatrix(*this); !s.ok()) return s;
  if (absl::Status s = CheckShuffles(*this, target); !s.ok()) return s;
  if (absl::Status s = CheckDimensions(*this); !s.ok()) return s;
  if (absl::Status s = CheckGroup(*this, target); !s.ok()) return s;
  if (absl::Status s = CheckCopies(*this, target); !s.ok()) return s;
  return CheckOutputStaging(*this);
}

}  // namespace tg::loop_nest
