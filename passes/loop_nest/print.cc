#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::loop_nest {
namespace {

std::string Steps(const LoopAxis& axis) {
  return absl::StrCat(axis.name, " : ", axis.size.is_symbolic() ? "up to " : "", axis.max_size);
}

std::string Binding(const LoopAxis& axis) {
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
    absl::StrAppend(&out, indent, "for ", Steps(axis), "  // ", Binding(axis));
    if (nest.padded[axis.base]) absl::StrAppend(&out, ", padded");
    if (const int64_t block = nest.overlap[axis.base]) {
      absl::StrAppend(&out, ", blocks of ", block, " that overlap");
    }
    const auto has_axis = [&](const MatrixAxes& m) {
      const std::string* const own[] = {&m.row, &m.row_lane, &m.column_lane, &m.column, &m.term};
      return llvm::any_of(own, [&](const std::string* name) { return *name == axis.name; });
    };
    if (llvm::any_of(nest.matrices, has_axis)) absl::StrAppend(&out, ", of a matrix instruction");
    absl::StrAppend(&out, "\n");
    indent += "  ";
    for (size_t n = 0; n < nest.packed.size(); ++n) {
      const analysis::PackedValue& value = nest.packed[n];
      if (value.at != axis.name) continue;
      absl::StrAppend(&out, indent, "copy p", n, " of ");
      bool first = true;
      for (size_t k = 0; k < nest.axes.size(); ++k) {
        if (!nest.IsCopied(value, k)) continue;
        absl::StrAppend(&out, first ? "" : ", ", nest.axes[k].name);
        first = false;
      }
      absl::StrAppend(&out, value.is_local ? "  // local memory" : "  // a work-item's memory",
                      value.buffers > 2   ? absl::StrCat(", ", value.buffers, " buffers")
                      : value.buffers > 1 ? ", two buffers"
                                          : "",
                      value.ahead ? ", ahead" : "", "\n");
    }
  }
  if (nest.in_output) {
    absl::StrAppend(&out, indent, "stage ", nest.base[*nest.in_output].name, " in the output\n");
  }
  return out;
}

}  // namespace tg::loop_nest
