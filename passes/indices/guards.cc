// The part of IndexLowering that decides where an access needs a predicate because its position may
// be out of bounds.
#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/predicates.h"

namespace tg::indices {
namespace {

// The counter of a loop, of work-items or of lanes.
bool IsCounter(const UOp* u) {
  return u->op == Op::kRange || u->op == Op::kSpecial || u->op == Op::kUnroll;
}

bool Varies(const UOp* u) { return llvm::any_of(PostOrder(u), IsCounter); }

}  // namespace

const UOp* IndexLowering::InStored(analysis::LoopSet axes) {
  const UOp* valid = where_.valid;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
    if (!base.IsStored() || (axes & analysis::LoopBit(i)) == 0) continue;
    valid = InLoopsOver(i, PartsOfAxis(i, where_.axis), valid);
    if (!NeedsGuard(i)) continue;
    const UOp* value = BaseAxisValue(b_, nest_, i, where_.axis, simplify_);
    valid = simplify_(analysis::Both(b_, valid, Guard(base, value)));
  }
  return valid;
}

const UOp* IndexLowering::InShape(const std::vector<const UOp*>& index, const Shape& shape,
                                  const UOp* valid) {
  for (size_t k = 0; k < shape.size(); ++k) {
    // An index of the results is at least 0, also where bounds do not tell.
    const bool counts = llvm::is_contained(results_.index, index[k]);
    const UOp* below = b_.Lt(index[k], b_.Index(shape[k]));
    for (const UOp* part : {counts ? below : b_.Lt(b_.Index(-1), index[k]), below}) {
      part = simplify_(part);
      if (!IsConst(part) || part->word() == 0) valid = analysis::Both(b_, valid, part);
    }
  }
  return valid ? simplify_(valid) : nullptr;
}

const UOp* IndexLowering::ValidToRead(const analysis::Position& at, const Shape* masked) {
  NodeSet guards;
  bool any = false, of_pad = false;
  const auto depend_on = [&](const UOp* value) {
    // Does not look at the trip count of a loop, since other loops may have the same, nor, if the
    // value changes in a loop, at variables, which other values may have too.
    const bool in_loop = Varies(value);
    NodeSet seen, leaves;
    std::vector<const UOp*> stack = {value};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (!seen.Insert(u)) continue;
      const bool is_loop = IsCounter(u);
      if (in_loop ? is_loop : !IsConst(u)) leaves.Insert(u);
      if (!is_loop) stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
    }
    return llvm::any_of(at.index, [&](const UOp* index) {
      return llvm::any_of(PostOrder(index), [&](const UOp* u) { return leaves.Contains(u); });
    });
  };
  for (size_t i = 0; at.valid && i < nest_.base.size(); ++i) {
    if (!nest_.base[i].IsStored()) continue;
    // Nor are the results of an empty axis stored.
    if (const UOp* some = Nonempty(i); some && !depend_on(some)) any |= guards.Insert(some);
    if (!nest_.maps[i].IsPadded()) continue;
    const auto [value, guard] = CountedAlong(i);
    if (!depend_on(value)) any |= guards.Insert(guard);
  }
  if (at.valid && (!padded_terms_.empty() || masked)) {
    const std::vector<const UOp*> parts = PartsOf(at.valid);
    for (const auto& [guard, value] : padded_terms_) {
      if (llvm::is_contained(parts, guard) && !depend_on(value)) any |= guards.Insert(guard);
    }
    // A predicate that no loop changes may say that the index is in bounds at all.
    for (const UOp* part : parts) {
      if (masked && of_pads_.Contains(part) && Varies(part) && !depend_on(part)) {
        of_pad |= guards.Insert(part);
      }
    }
  }
  if (!any && !of_pad) return at.valid;
  const UOp* rest = Without(b_, at.valid, [&](const UOp* part) { return guards.Contains(part); });
  return of_pad ? InShape(at.index, *masked, rest) : rest;
}

bool IndexLowering::IsClamped(size_t base) const {
  return clamped_ && nest_.base[base].IsStored() && nest_.maps[base].IsPadded() &&
         nest_.base[base].size.is_symbolic();
}

IndexLowering::Counted IndexLowering::CountedAlong(size_t base) {
  const UOp* value = BaseAxisValue(b_, nest_, base, where_.axis, simplify_);
  return {value, simplify_(Guard(nest_.base[base], value))};
}

const UOp* IndexLowering::WithoutReadablePadding(const UOp* element, const UOp* ptr,
                                                 const UOp* valid) {
  if (!valid || ptr->dtype.is_image() || !IsStatic(shapes_.Of(ptr))) return valid;
  // What is read in the padding may be what another work-item writes.
  if (nest_.IsInPlace()) return valid;
  const std::vector<const UOp*> parts = PartsOf(valid);
  llvm::SmallVector<size_t, 2> guarded;  // base axes whose predicates are still needed
  NodeSet dropped;
  for (const size_t i : nest_.PaddedResults()) {
    if (nest_.base[i].size.is_symbolic()) continue;
    if (llvm::is_contained(parts, CountedAlong(i).guard)) guarded.push_back(i);
  }
  const UOp* size = b_.Index(NumElements(shapes_.Of(ptr)));
  const auto is_inside = [&](llvm::ArrayRef<size_t> limited) {
    const UOp* at = Limited(element, limited);
    for (const UOp* inside : {b_.Lt(b_.Index(-1), at), b_.Lt(at, size)}) {
      inside = simplify_(inside);
      if (!IsConst(inside) || inside->word() == 0) return false;
    }
    return true;
  };
  for (size_t n = 0; n < guarded.size();) {
    llvm::SmallVector<size_t, 2> others = guarded;
    others.erase(others.begin() + n);
    if (!is_inside(others)) {
      ++n;
      continue;
    }
    dropped.Insert(CountedAlong(guarded[n]).guard);
    guarded = std::move(others);
  }
  return Without(b_, valid, [&](const UOp* part) { return dropped.Contains(part); });
}

const UOp* IndexLowering::Limited(const UOp* index, llvm::ArrayRef<size_t> bases) {
  NodeMap<const UOp*> changed;
  for (const size_t i : bases) {
    const UOp* counter = b_.Range(b_.Index(nest_.base[i].max_size));
    for (const loop_nest::Digit& d : nest_.maps[i].digits) {
      if (IsConst(where_.axis[d.axis])) continue;  // of an axis of one step
      const UOp* digit = b_.Alu(Op::kFloorDiv, {counter, b_.Index(d.stride)});
      changed[where_.axis[d.axis]] =
          simplify_(b_.Alu(Op::kFloorMod, {digit, b_.Index(nest_.axes[d.axis].max_size)}));
    }
  }
  return Replaced(index, changed);
}

void IndexLowering::FirstRowInPadding(const UOp*& element, const UOp*& valid) {
  for (const size_t i : nest_.PaddedResults()) {
    if (!valid) return;
    const analysis::BaseAxis& base = nest_.base[i];
    const Counted counted = CountedAlong(i);
    const UOp* guard = counted.guard;
    const UOp* rest = Without(b_, valid, [&](const UOp* part) { return part == guard; });
    if (rest == valid) continue;
    // If no local id occurs in the predicate, it is the same for all work-items of a group. A gate
    // then costs one predicate, but a select would cost registers and an instruction per address in
    // every iteration.
    const auto is_local = [&](const UOp* u) { return llvm::is_contained(locals_, u); };
    if (!locals_.empty() && llvm::none_of(PostOrder(guard), is_local)) continue;
    const auto in_row = [&](const UOp* u, llvm::function_ref<const UOp*(const UOp*)> number) {
      NodeMap<const UOp*> rows;
      for (const loop_nest::Digit& d : nest_.maps[i].digits) {
        const UOp* row = where_.axis[d.axis];
        if (nest_.axes[d.axis].kind == AxisKind::kUpcast) rows[row] = number(row);
      }
      return Replaced(u, rows);
    };
    const auto first = [&](const UOp*) { return b_.Index(0); };
    const auto second = [&](const UOp*) { return b_.Index(1); };
    const UOp* exists = simplify_(Guard(base, in_row(counted.coordinate, first)));
    if (!IsConst(exists) || exists->word() == 0) continue;
    // Otherwise the select would have to be computed for each address, or a gate remains in any
    // case.
    const UOp* step = simplify_(b_.Sub(in_row(element, second), in_row(element, first)));
    if (!IsConst(step) || step->word() == 1 || (rest && in_row(rest, first) != rest)) continue;
    element = in_row(element, [&](const UOp* row) { return b_.Where(guard, row, b_.Index(0)); });
    valid = rest;
  }
}

const UOp* IndexLowering::ValidInLoops(const UOp* element, const UOp* valid) {
  if (nonempty_.empty() || !valid) return valid;
  NodeSet below;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(&element, 1), below, order);
  return Without(b_, valid, [&](const UOp* part) {
    return llvm::any_of(nonempty_, [&](const auto& known) {
      return known.first == part && below.Contains(known.second);
    });
  });
}

bool IndexLowering::NeedsGuard(size_t base) const {
  // An axis of at most one iteration has no loop, only the coordinate 0, so that a symbolic one
  // needs a check whether it is empty.
  const analysis::BaseAxis& axis = nest_.base[base];
  return nest_.maps[base].IsPadded() || (axis.size.is_symbolic() && axis.max_size <= 1);
}

const UOp* IndexLowering::Nonempty(size_t base) {
  const Dim& size = nest_.base[base].size;
  if (!size.is_symbolic()) return nullptr;
  const UOp* any = simplify_(b_.Lt(b_.Index(0), b_.Index(size)));
  return IsConst(any) && any->word() != 0 ? nullptr : any;
}

const UOp* IndexLowering::InLoopsOver(size_t base, const std::vector<const UOp*>& parts,
                                      const UOp* valid) {
  // The loops over a padded axis may have steps where the axis has none.
  const UOp* any = nest_.maps[base].IsPadded() ? nullptr : Nonempty(base);
  if (!any) return valid;
  bool loops = false;
  for (const UOp* part : parts) {
    if (part->op != Op::kRange) continue;
    // The range of a loop of at most one step is 0, so that no address needs to depend on it.
    if (nest_.base[base].max_size > 1) nonempty_.emplace_back(any, part);
    loops = true;
  }
  return loops ? simplify_(analysis::Both(b_, valid, any)) : valid;
}

std::vector<const UOp*> IndexLowering::PartsOfAxis(size_t base,
                                                   const std::vector<const UOp*>& axis) const {
  std::vector<const UOp*> out;
  for (const loop_nest::Digit& d : nest_.maps[base].digits) out.push_back(axis[d.axis]);
  return out;
}

const UOp* IndexLowering::Guard(const analysis::BaseAxis& base, const UOp* value) {
  // Compares 0 for an axis of at most one iteration: `i < size` would be taken as always true for a
  // loop index i. A padded one has more.
  const auto number = static_cast<size_t>(&base - nest_.base.data());
  const bool is_padded = nest_.maps[number].IsPadded();
  const bool at_most_one = base.size.is_symbolic() && base.max_size <= 1 && !is_padded;
  return b_.Lt(at_most_one ? b_.Index(0) : value, b_.Index(base.size));
}

bool IndexLowering::ZeroOutside(const UOp* v, const UOp* valid, int depth) {
  if (IsConst(v)) return v->word() == 0;
  if (v->op == Op::kLoad) {
    // The load gives 0 where its own predicate is false, so that it must imply this one.
    const UOp* own = packed_valid_.Get(v);
    if (!own && v->num_srcs == 1 && v->src(0)->num_srcs > 2) own = v->src(0)->src(2);
    if (!own) return false;
    return llvm::is_contained(PartsOf(own), valid) ||
           simplify_(analysis::Both(b_, own, valid)) == own;
  }
  if (depth == 0 || !MapsZeroToZero(v->op)) return false;
  if (v->op == Op::kNeg && v->dtype.is_float()) return false;  // -0.0
  return std::all_of(v->srcs().begin(), v->srcs().end(),
                     [&](const UOp* s) { return ZeroOutside(s, valid, depth - 1); });
}

const UOp* IndexLowering::ForWholeGroup(const UOp* reduce, const analysis::Position& at) {
  std::vector<const UOp*> shared;  // ids of work-items that share the terms
  for (size_t i : nest_.AxesOf(reduce)) {
    // This includes the reduce's own group axis: another reduce that reads its result may share it.
    if (nest_.axes[i].kind == AxisKind::kGroup) shared.push_back(where_.axis[i]);
  }
  if (shared.empty() || !at.valid) return at.valid;
  const UOp* valid = Without(b_, at.valid, [&](const UOp* part) {
    return llvm::any_of(PostOrder(part),
                        [&](const UOp* u) { return llvm::is_contained(shared, u); });
  });
  if (valid == at.valid) return valid;
  // The dropped predicates may have kept indices in bounds, so that bounds are checked here.
  return InShape(at.index, shapes_.Of(reduce), valid);
}

}  // namespace tg::indices
