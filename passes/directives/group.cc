#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

// Fails if the work-items along the axis at `at` cannot share the reduce or staged value of the
// axis at `axis`. It must be invariant along a local axis; along the group axis of another reduce
// or staged value, neither of the two may vary along the other's axis.
absl::Status CheckShared(const loop_nest::LoopNest& nest, size_t axis, size_t at) {
  const loop_nest::LoopAxis& with = nest.axes[at];
  const bool group = with.kind == AxisKind::kGroup;
  if (!with.HasItems()) {
    return Illegal("axis ", with.name, " is ", std::string(AxisKindName(with.kind)), ", not local");
  }
  const size_t base = nest.axes[axis].base;
  const analysis::BaseAxis& own = nest.base[base];
  const char* what = own.staged ? "what is staged" : "the reduce";
  if (!group && (nest.varies[base] & analysis::LoopBit(with.base))) {
    return Illegal(what, " varies along axis ", with.name);
  }
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.shares != with.name && a.name != with.name) continue;
    if (nest.base[a.base].reduce == own.reduce && nest.base[a.base].staged == own.staged) {
      return Illegal("axis ", a.name, " of ", what, " shares it already");
    }
    // Work-items with different indices along one axis cannot share a term of the other.
    if ((nest.varies[base] & analysis::LoopBit(a.base)) ||
        (nest.varies[a.base] & analysis::LoopBit(base))) {
      return Illegal("axis ", a.name, ", one inside the other, shares it");
    }
  }
  return absl::OkStatus();
}

BindPart PartOf(const loop_nest::LoopNest& nest, const Group& group) {
  if (const auto* items = std::get_if<int64_t>(&group.items)) return {group.axis, *items};
  const auto* with = std::get_if<std::string>(&group.items);
  if (!with) return {group.axis, std::nullopt};
  return {group.axis, nest.axes[nest.AxisNamed(*with)].max_size};
}

}  // namespace

void Group::Bind(loop_nest::LoopNest& nest, bool owned, bool in_blocks) const {
  const auto* with = std::get_if<std::string>(&items);
  PartOf(nest, *this)
      .Bind(nest,
            {.kind = AxisKind::kGroup, .shares = with ? *with : std::string(), .owned = owned},
            in_blocks);
}

absl::Status Group::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  if (!target.has_local) return Illegal("target ", target.name, " has no local memory");
  if (const auto* with = std::get_if<std::string>(&items)) {
    size_t own = 0, at = 0;
    if (absl::Status s = FindAxis(nest, axis, own); !s.ok()) return s;
    if (absl::Status s = FindAxis(nest, *with, at); !s.ok()) return s;
    if (absl::Status s = CheckShared(nest, own, at); !s.ok()) return s;
    const auto kinds = {AxisKind::kReduce, AxisKind::kStage};
    return PartOf(nest, *this).CheckOf(nest, kinds, INT64_MAX);
  }
  return PartOf(nest, *this).CheckOf(nest, {AxisKind::kReduce}, INT64_MAX);
}

void Group::Apply(loop_nest::LoopNest& nest) const {
  Bind(nest, /*owned=*/false, /*in_blocks=*/false);
}

absl::Status GroupTop::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  if (absl::Status s = Group::Check(nest, target); !s.ok()) return s;
  // A block would have an unknown number of terms.
  const bool is_symbolic = nest.axes[nest.AxisNamed(axis)].size.is_symbolic();
  return is_symbolic ? Illegal("axis ", axis, " is symbolic") : absl::OkStatus();
}

void GroupTop::Apply(loop_nest::LoopNest& nest) const {
  Bind(nest, /*owned=*/false, /*in_blocks=*/true);
}

absl::Status Own::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  size_t own = 0, at = 0;
  if (absl::Status s = FindAxis(nest, axis, own); !s.ok()) return s;
  if (absl::Status s = FindAxis(nest, items, at); !s.ok()) return s;
  const loop_nest::LoopAxis &whole = nest.axes[own], &with = nest.axes[at];
  for (const loop_nest::LoopAxis& a : nest.axes) {
    if (a.shares != with.name && a.name != with.name) continue;
    if ((nest.varies[whole.base] & analysis::LoopBit(a.base)) == 0) continue;
    return Illegal(nest.base[whole.base].staged ? "what is staged" : "the reduce",
                   " varies along axis ", a.name);
  }
  if (whole.kind != AxisKind::kReduce && whole.kind != AxisKind::kStage) {
    return Illegal("axis ", axis, " is ", std::string(AxisKindName(whole.kind)));
  }
  if (with.kind != AxisKind::kLocal) return Illegal("axis ", items, " is not local");
  if (absl::Status s = CheckUnused(nest, own); !s.ok()) return s;
  if (whole.max_size != with.max_size || whole.size.is_symbolic()) {
    return Illegal("axis ", axis, " has ", whole.max_size, " steps, and axis ", items, " ",
                   with.max_size);
  }
  const bool is_reduce = whole.kind == AxisKind::kReduce;
  if (is_reduce && nest.maps[whole.base].IsPadded()) return Illegal("axis ", axis, " is padded");
  if (is_reduce && !(nest.IsMatrixLane(items) && nest.matrices[0].column_lane == items)) {
    return Illegal("parts of a reduce are combined by the four neighbours of a matrix's columns");
  }
  return is_reduce && !target.inline_ptx ? Illegal("target ", target.name, " has no shuffles")
                                         : absl::OkStatus();
}

void Own::Apply(loop_nest::LoopNest& nest) const {
  nest.Bind(nest.AxisNamed(axis), {.kind = AxisKind::kGroup, .shares = items, .owned = true});
}

}  // namespace tg::directive
