#include "passes/directives/part.h"

#include "llvm/ADT/STLExtras.h"

namespace tg::directive {

absl::Status FindAxis(const LoopNest& nest, const std::string& name, size_t& at) {
  if (const int found = nest.FindAxis(name); found >= 0) {
    at = static_cast<size_t>(found);
    return absl::OkStatus();
  }
  std::string names;
  for (const LoopAxis& a : nest.axes) absl::StrAppend(&names, names.empty() ? "" : ", ", a.name);
  return Illegal("no axis '", name, "'; there are: ", names.empty() ? "none" : names);
}

absl::Status CheckUnused(const LoopNest& nest, size_t axis) {
  const LoopAxis& whole = nest.axes[axis];
  if (!whole.shares.empty()) return Illegal("axis ", whole.name, " shares axis ", whole.shares);
  for (const LoopAxis& a : nest.axes) {
    if (a.shares == whole.name) return Illegal("group axis ", a.name, " shares the axis");
  }
  for (size_t n = 0; n < nest.packed.size(); ++n) {
    if (nest.packed[n].at == whole.name) return Illegal("p", n, " is packed in steps of the axis");
  }
  return absl::OkStatus();
}

absl::Status CheckSplit(const LoopNest& nest, size_t axis, int64_t size) {
  const LoopAxis& whole = nest.axes[axis];
  if (size < 2) return Illegal("the amount must be at least 2");
  if (absl::Status s = CheckUnused(nest, axis); !s.ok()) return s;
  if (whole.size.is_symbolic()) return Illegal("the axis is symbolic");
  if (whole.max_size == 0) return Illegal("the axis has no iterations");
  if (whole.max_size % size != 0) {
    return Illegal(size, " does not divide the axis's size ", whole.max_size, " (padto first)");
  }
  return absl::OkStatus();
}

absl::Status Part::CheckOf(const LoopNest& nest, std::initializer_list<AxisKind> kinds,
                           int64_t limit, bool symbolic) const {
  size_t at = 0;
  if (absl::Status s = FindAxis(nest, axis, at); !s.ok()) return s;
  const LoopAxis& whole = nest.axes[at];
  if (!llvm::is_contained(kinds, whole.kind) || nest.IsReduceLoop(at)) {
    return Illegal("axis ", whole.name, " is ", std::string(AxisKindName(whole.kind)));
  }
  if (size && *size != 0 && *size != whole.max_size) {
    if (absl::Status s = CheckSplit(nest, at, *size); !s.ok()) return s;
  } else {
    if (absl::Status s = CheckUnused(nest, at); !s.ok()) return s;
    if (whole.size.is_symbolic() && !symbolic) return Illegal("the axis is symbolic");
  }
  const int64_t steps = size.value_or(0) != 0 ? *size : whole.max_size;
  if (steps > limit) return Illegal("the amount ", steps, " is over ", limit);
  return absl::OkStatus();
}

size_t Part::Bind(LoopNest& nest, AxisKind kind, bool is_outer) const {
  auto at = static_cast<size_t>(nest.FindAxis(axis));
  const int64_t whole = nest.axes[at].max_size;
  if (size && *size != 0 && *size != whole) {
    if (is_outer) {
      nest.Split(at, *size, whole / *size);
    } else {
      nest.Split(at, whole / *size, *size);
      ++at;
    }
  }
  return nest.Bind(at, kind);
}

}  // namespace tg::directive
