#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

// The number in "p3"; nullopt for other names and for numbers of no packed value.
std::optional<size_t> NumberOf(const loop_nest::LoopNest& nest, const std::string& name) {
  size_t number = nest.packed.size();
  if (name[0] == 'p') std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool exists = number < nest.packed.size() && name == absl::StrCat("p", number);
  return exists ? std::optional(number) : std::nullopt;
}

// Fails if what is read of the value in a step of a reduce's axis is not known before the step.
absl::Status CheckInReduce(const loop_nest::LoopNest& nest, const analysis::PackedValue& value,
                           const loop_nest::LoopAxis& axis) {
  if ((value.varies & analysis::LoopBit(axis.base)) == 0) {
    return Illegal("the value does not vary along axis ", axis.name);
  }
  const UOp* const reduce = nest.base[axis.base].reduce;
  const bool is_tuple = reduce->op == Op::kReduceTuple;
  const std::vector<const UOp*> terms = is_tuple ? PostOrder(reduce) : std::vector<const UOp*>();
  for (size_t n = 0; n < nest.base.size(); ++n) {
    const analysis::BaseAxis& base = nest.base[n];
    // What a tuple combines is made in the loop over its terms.
    const bool inside = base.IsStored() || base.reduce == reduce ||
                        llvm::is_contained(terms, base.reduce ? base.reduce : base.staged);
    if (inside || (value.varies & analysis::LoopBit(n)) == 0) continue;
    return Illegal("the value varies along axis ", nest.base[n].name, ", one of another loop");
  }
  return absl::OkStatus();
}

// Fails if an element of the value is computed in a loop or from another copy. The work-items that
// fill a copy in local memory compute several elements at once, without a loop for each.
absl::Status CheckElementwise(const analysis::PackedValue& value) {
  for (const UOp* u : PostOrder(value.node->src(0))) {
    if (u->op != Op::kReduceAxis && u->op != Op::kStaged && u->op != Op::kPacked) continue;
    return Illegal("loops make the value, or copies of other values");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Pack::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  const std::optional<size_t> number = NumberOf(nest, value);
  if (!number) return Illegal("no packed value ", value, "; there are ", nest.packed.size());
  const analysis::PackedValue& packed = nest.packed[*number];
  const auto is_same = [&](const loop_nest::Copy& copy) { return copy.number == *number; };
  if (llvm::any_of(nest.copies, is_same)) return Illegal("it is packed already");
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  const loop_nest::LoopAxis& loop = nest.axes[at];
  if (place.is_local) {
    if (!target.has_local) return Illegal("target ", target.name, " has no local memory");
    if (absl::Status s = CheckElementwise(packed); !s.ok()) return s;
  }
  if (place.is_local && loop.kind == AxisKind::kReduce) {
    if (absl::Status s = CheckInReduce(nest, packed, loop); !s.ok()) return s;
  } else if (loop.kind != AxisKind::kGlobal && loop.kind != AxisKind::kLoop) {
    return Illegal("axis ", loop.name, " is no loop around all results");
  }
  if (place.ahead && (loop.kind != AxisKind::kReduce || nest.base[loop.base].min_size < 1)) {
    return Illegal("axis ", loop.name, " is no loop of a reduce that always runs");
  }
  if (place.buffers > 1 && loop.kind == AxisKind::kGlobal) {
    return Illegal("axis ", loop.name, " has no steps that follow each other");
  }
  return absl::OkStatus();
}

void Pack::Apply(loop_nest::LoopNest& nest) const {
  const size_t number = *NumberOf(nest, value);
  loop_nest::Copy copy{nest.packed[number]};
  copy.number = number;
  copy.at = axis;
  copy.is_local = place.is_local;
  copy.buffers = place.buffers;
  copy.ahead = place.ahead;
  const auto behind = llvm::find_if(
      nest.copies, [&](const loop_nest::Copy& other) { return other.number > number; });
  nest.copies.insert(behind, std::move(copy));
}

}  // namespace tg::directive
