#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {
namespace {

std::string Steps(const LoopAxis& axis) {
  return absl::StrCat(axis.name, " : ", axis.size.is_symbolic() ? "up to " : "", axis.max_size);
}

std::string BindingText(const LoopAxis& axis) {
  std::string out(AxisKindName(axis.kind));
  if (axis.grid_dim >= 0) absl::StrAppend(&out, ", dimension ", axis.grid_dim);
  if (axis.goes_down) out += " down";
  if (!axis.shares.empty())
    absl::StrAppend(&out, ", the work-items of ", axis.shares, axis.owned ? ", each its own" : "");
  return out;
}

}  // namespace

std::string PrintLoopNest(const LoopNest& nest) {
  std::string out, indent = "  ";
  for (size_t i = 0; i < nest.axes.size(); ++i) {
    const LoopAxis& axis = nest.axes[i];
    absl::StrAppend(&out, indent, "for ", Steps(axis), "  // ", BindingText(axis));
    const AxisMap& map = nest.maps[axis.base];
    if (map.IsPadded()) absl::StrAppend(&out, ", padded");
    if (map.Overlaps()) absl::StrAppend(&out, ", blocks of ", map.block, " that overlap");
    const auto has_axis = [&](const MatrixAxes& m) {
      const std::string* const own[] = {&m.row,    &m.row_lane, &m.column_lane,
                                        &m.column, &m.term,     &m.unit};
      return llvm::any_of(own, [&](const std::string* name) { return *name == axis.name; }) ||
             llvm::is_contained(m.columns, axis.name);
    };
    if (llvm::any_of(nest.matrices, has_axis)) absl::StrAppend(&out, ", of a matrix instruction");
    absl::StrAppend(&out, "\n");
    indent += "  ";
    for (const Copy& copy : nest.copies) {
      if (copy.at != axis.name) continue;
      absl::StrAppend(&out, indent, "copy p", copy.number, " of ");
      bool first = true;
      for (size_t k = 0; k < nest.axes.size(); ++k) {
        if (!nest.IsCopied(copy, k)) continue;
        absl::StrAppend(&out, first ? "" : ", ", nest.axes[k].name);
        first = false;
      }
      absl::StrAppend(&out, copy.is_local ? "  // local memory" : "  // a work-item's memory",
                      copy.buffers > 2   ? absl::StrCat(", ", copy.buffers, " buffers")
                      : copy.buffers > 1 ? ", two buffers"
                                         : "",
                      copy.ahead ? ", ahead" : "", "\n");
    }
  }
  if (nest.in_output) {
    absl::StrAppend(&out, indent, "stage ", nest.base[*nest.in_output].name, " in the output\n");
  }
  return out;
}

}  // namespace tg::loop_nest
