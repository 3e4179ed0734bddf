#include "passes/indices/assign_loops.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "base/check.h"
#include "ir/shape.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::indices {
namespace {

// Axes that share one dimension of the grid or of a group, the outermost first.
struct Dimension {
  std::vector<size_t> axes;
  int64_t max_size = 1;
  bool fixed = false;  // must not be merged with another dimension
};

// Merges adjacent dimensions that no directive has fixed, the pair with the smallest product first,
// until at most `limit` are left.
bool Merge(std::vector<Dimension>& dims, size_t limit) {
  while (dims.size() > limit) {
    size_t outer = SIZE_MAX, best_outer = SIZE_MAX, best_inner = SIZE_MAX;
    double best_size = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].fixed) continue;
      if (outer != SIZE_MAX) {
        const double size =
            static_cast<double>(dims[outer].max_size) * static_cast<double>(dims[i].max_size);
        if (best_outer == SIZE_MAX || size < best_size) {
          best_outer = outer, best_inner = i, best_size = size;
        }
      }
      outer = i;
    }
    if (best_outer == SIZE_MAX) return false;
    Dimension& a = dims[best_outer];
    const Dimension& c = dims[best_inner];
    a.axes.insert(a.axes.end(), c.axes.begin(), c.axes.end());
    a.max_size *= c.max_size;
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(best_inner));
  }
  return true;
}

}  // namespace

Dim StepsOf(Builder& b, const loop_nest::LoopNest& nest, const loop_nest::LoopAxis& a) {
  const loop_nest::AxisMap& map = nest.maps[a.base];
  if (!a.size.is_symbolic() || map.block == 1) return a.size;
  const UOp* begun = b.Add(b.Index(a.size), b.Index(map.block - 1));
  const UOp* blocks = b.Alu(Op::kFloorDiv, {begun, b.Index(map.block)});
  const int64_t steps = map.OuterStepsOfBlock();
  return steps == 1 ? blocks : b.Mul(blocks, b.Index(steps));
}

namespace {

class Maker {
 public:
  Maker(Builder& b, const loop_nest::LoopNest& s, const passes::Target& target,
        analysis::SimplifyFn simplify)
      : b_(b), s_(s), target_(target), simplify_(simplify) {}

  absl::StatusOr<Coordinates> Make() {
    out_.axis.resize(s_.axes.size());
    std::vector<Dimension> grid, local;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      const loop_nest::LoopAxis& a = s_.axes[i];
      switch (a.kind) {
        case AxisKind::kGlobal:
          grid.push_back({{i}, a.max_size, a.grid_dim >= 0});
          break;
        case AxisKind::kLocal:
          local.push_back({{i}, a.max_size, IsShared(a.name) || IsLane(a.name) || a.grid_dim >= 0});
          break;
        case AxisKind::kGroup:
          if (a.HasItems()) local.push_back({{i}, a.max_size, true});
          break;
        case AxisKind::kUnroll:
        case AxisKind::kUpcast:
        case AxisKind::kVector:
          out_.axis[i] = b_.Unroll(static_cast<int64_t>(i), a.max_size);
          break;
        case AxisKind::kLoop:
          out_.axis[i] = b_.Range(simplify_(b_.Index(StepsOf(b_, s_, a))));
          break;
        case AxisKind::kReduce:
        case AxisKind::kStage:
          break;
      }
    }
    // A matrix instruction numbers its work-items by the innermost dimensions.
    const auto rank = [&](const Dimension& d) {
      const std::string& name = s_.axes[d.axes[0]].name;
      if (!s_.IsMatrixLane(name)) return s_.IsMatrixUnit(name) ? 1 : 0;
      return name == s_.matrices[0].row_lane ? 2 : 3;
    };
    std::stable_sort(local.begin(), local.end(),
                     [&](const Dimension& a, const Dimension& b) { return rank(a) < rank(b); });
    if (absl::Status s = Assign(grid, SpecialName::kGrid0, target_.max_groups); !s.ok()) return s;
    const int64_t max_local[] = {target_.max_local[0], target_.max_local[1], target_.max_local[2]};
    if (absl::Status s = Assign(local, SpecialName::kLocal0, max_local); !s.ok()) return s;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (s_.axes[i].shares.empty()) continue;
      out_.axis[i] = out_.axis[s_.AxisNamed(s_.axes[i].shares)];
    }
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (s_.axes[i].kind == AxisKind::kLoop) out_.loops.push_back(out_.axis[i]);
    }
    return std::move(out_);
  }

 private:
  bool IsLane(const std::string& name) const { return s_.IsMatrixLane(name); }
  bool IsShared(const std::string& name) const {
    return std::any_of(s_.axes.begin(), s_.axes.end(),
                       [&](const loop_nest::LoopAxis& a) { return a.shares == name; });
  }

  absl::Status Assign(std::vector<Dimension>& dims, SpecialName first, const int64_t* limits) {
    if (!Merge(dims, 3)) {
      return absl::InvalidArgumentError("more than three group axes or grid dimensions");
    }
    // Fixed dimensions first, then the rest from the last to the first.
    std::vector<Dimension*> order(3, nullptr);
    for (Dimension& d : dims) {
      const int want = s_.axes[d.axes[0]].grid_dim;
      if (want >= 0) order[static_cast<size_t>(want)] = &d;
    }
    size_t next = 0;
    for (size_t i = dims.size(); i-- > 0;) {
      if (s_.axes[dims[i].axes[0]].grid_dim >= 0) continue;
      while (order[next]) ++next;
      order[next] = &dims[i];
    }
    // A dimension that is too large continues in a free one (see Place) only in the grid, and only
    // if there is one. Otherwise dimensions are exchanged.
    const bool may_carry = first == SpecialName::kGrid0 && llvm::is_contained(order, nullptr);
    if (!may_carry) Exchange(order, limits);
    // A dimension number must not be skipped: the missing ones have size 1 and are left out.
    for (size_t d = 0; d < 3; ++d) {
      if (!order[d]) continue;
      const auto name = static_cast<SpecialName>(static_cast<size_t>(first) + d);
      if (absl::Status s = Place(*order[d], name, limits, d, order); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // Whether the work-items along the dimension must be neighbours in a subgroup, as those of a
  // matrix instruction or of a reduce whose parts shuffles combine.
  bool InSubgroup(const Dimension& dim) const {
    return llvm::any_of(dim.axes, [&](size_t i) {
      const std::string& items = s_.axes[i].name;
      return IsLane(items) || llvm::any_of(s_.axes, [&](const loop_nest::LoopAxis& a) {
               return a.owned && (a.HasItems() ? a.name : a.shares) == items;
             });
    });
  }

  // Exchanges the numbers of two dimensions if one exceeds the limit of its number and neither does
  // afterwards.
  void Exchange(std::vector<Dimension*>& order, const int64_t* limits) const {
    const auto is_free = [&](size_t d) {
      return order[d] && s_.axes[order[d]->axes[0]].grid_dim < 0 && !InSubgroup(*order[d]);
    };
    for (size_t d = 0; d < order.size(); ++d) {
      if (!is_free(d) || order[d]->max_size <= limits[d]) continue;
      for (size_t e = 0; e < order.size(); ++e) {
        if (!is_free(e) || order[d]->max_size > limits[e] || order[e]->max_size > limits[d])
          continue;
        std::swap(order[d], order[e]);
        break;
      }
    }
  }

  absl::Status Place(const Dimension& dim, SpecialName name, const int64_t* limits, size_t d,
                     std::vector<Dimension*>& order) {
    Dim size = 1;
    for (size_t i : dim.axes) size = MulDims(b_.context(), size, StepsOf(b_, s_, s_.axes[i]));
    const UOp* id = nullptr;
    if (dim.max_size <= limits[d]) {
      id = b_.Special(name, simplify_(b_.Index(size)));
    } else {
      // Too large for the device: carry into a dimension that is free, and guard the overhang.
      size_t spare = 0;
      while (spare < 3 && (order[spare] || limits[spare] < 2)) ++spare;
      const bool grid = name <= SpecialName::kGrid2;
      if (!grid || spare == 3 || size.is_symbolic() ||
          CeilDiv(dim.max_size, limits[d]) > limits[spare]) {
        return absl::InvalidArgumentError(absl::StrCat("dimension of ", dim.max_size,
                                                       " does not fit target ", target_.name,
                                                       ", which allows ", limits[d]));
      }
      const int64_t high = CeilDiv(dim.max_size, limits[d]);
      const int64_t low = CeilDiv(dim.max_size, high);
      static Dimension taken;
      order[spare] = &taken;
      const auto high_name =
          static_cast<SpecialName>(static_cast<size_t>(SpecialName::kGrid0) + spare);
      id = b_.Add(b_.Mul(b_.Special(high_name, b_.Index(high)), b_.Index(low)),
                  b_.Special(name, b_.Index(low)));
      if (high * low != dim.max_size) {
        out_.valid = analysis::Both(b_, out_.valid, b_.Lt(id, b_.Index(dim.max_size)));
      }
      if (spare < d) return absl::InternalError("a free dimension below a used one");
    }
    Shape shape;
    for (size_t i : dim.axes) shape.push_back(StepsOf(b_, s_, s_.axes[i]));
    const std::vector<const UOp*> parts = analysis::Unflatten(b_, shape, id, simplify_);
    for (size_t k = 0; k < parts.size(); ++k) {
      const bool down = s_.axes[dim.axes[k]].goes_down;
      const UOp* last = b_.Sub(b_.Index(shape[k]), b_.Index(1));
      out_.axis[dim.axes[k]] = down ? simplify_(b_.Sub(last, parts[k])) : parts[k];
    }
    return absl::OkStatus();
  }

  Builder& b_;
  const loop_nest::LoopNest& s_;
  const passes::Target& target_;
  analysis::SimplifyFn simplify_;
  Coordinates out_;
};

}  // namespace

absl::StatusOr<Coordinates> AssignLoops(Builder& b, const loop_nest::LoopNest& nest,
                                        const passes::Target& target,
                                        analysis::SimplifyFn simplify) {
  return Maker(b, nest, target, simplify).Make();
}

namespace {

// An iteration of an axis that overlaps, which is divided into blocks: the first iteration of its
// block, and its distance from that.
struct InBlock {
  const UOp *start, *within;
};

const UOp* StepOf(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                  const std::vector<const UOp*>& axis) {
  const UOp* sum = nullptr;
  for (const loop_nest::Digit& digit : nest.maps[base].digits) {
    const UOp* a = axis[digit.axis];
    TG_CHECK(a != nullptr);
    const UOp* term = digit.stride == 1 ? a : b.Mul(a, b.Index(digit.stride));
    sum = sum ? b.Add(sum, term) : term;
  }
  return sum;
}

InBlock FindInBlock(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                    const std::vector<const UOp*>& axis, analysis::SimplifyFn simplify) {
  const UOp* step = StepOf(b, nest, base, axis);
  const UOp* within = simplify(b.Alu(Op::kFloorMod, {step, b.Index(nest.maps[base].block)}));
  return {simplify(b.Sub(step, within)), within};
}

}  // namespace

const UOp* BaseAxisValue(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                         const std::vector<const UOp*>& axis, analysis::SimplifyFn simplify) {
  if (!nest.maps[base].Overlaps()) return simplify(StepOf(b, nest, base, axis));
  const InBlock in = FindInBlock(b, nest, base, axis, simplify);
  const UOp* last = b.Index(nest.base[base].max_size - nest.maps[base].block);
  return simplify(b.Add(b.Alu(Op::kMin, {in.start, last}), in.within));
}

const UOp* IsFirstTime(Builder& b, const loop_nest::LoopNest& nest, size_t base,
                       const std::vector<const UOp*>& axis, analysis::SimplifyFn simplify) {
  const InBlock in = FindInBlock(b, nest, base, axis, simplify);
  const UOp* last = b.Index(nest.base[base].max_size - nest.maps[base].block);
  const UOp* repeated = b.Alu(Op::kMax, {b.Sub(in.start, last), b.Index(0)});
  return simplify(b.Not(b.Lt(in.within, simplify(repeated))));
}

}  // namespace tg::indices
