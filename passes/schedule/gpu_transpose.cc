// A kernel without reduces whose load and store have different contiguous axes, such as one that
// puts the channels of an image last.
#include <algorithm>
#include <optional>
#include <string>

#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

// The long axis along which an access is contiguous.
std::optional<size_t> ContiguousAxis(const ScheduleBuilder& t, const analysis::Access& a) {
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool is_long = !t.IsSymbolic(i) && t.Size(i) >= 2 * t.target().AccessWords();
    if (is_long && t.Stride(a, i) == 1) return i;
  }
  return std::nullopt;
}

// Upcasts the axis by the words of an access, or by half of them. Returns the rest of the axis;
// empty if neither divides it.
std::string UpcastWords(ScheduleBuilder& t, const std::string& name) {
  for (int64_t words = t.target().AccessWords(); words > 1; words /= 2) {
    const size_t axis = t.nest().AxisNamed(name);
    if (t.Size(axis) % words == 0 && t.Try<directive::Upcast>(axis, words)) return name + ".0";
  }
  return "";
}

}  // namespace

bool ScheduleGpuTranspose(ScheduleBuilder& t) {
  if (ReducesOf(t) != 0 || t.nest().StagedBytes() != 0) return false;
  std::optional<size_t> to, from;
  int64_t bytes = 1;
  for (const analysis::Access& a : t.accesses()) {
    const std::optional<size_t> axis = ContiguousAxis(t, a);
    if (a.is_store()) {
      if (to || !axis) return false;
      to = axis;
      bytes = ByteSize(a.node->src(1)->dtype.scalar());
    } else if (axis && !from) {
      from = axis;
    }
  }
  if (!to || !from || *to == *from) return false;
  const std::string stored = t.nest().axes[*to].name, loaded = t.nest().axes[*from].name;
  const std::string columns = UpcastWords(t, stored), rows = UpcastWords(t, loaded);
  if (columns.empty() || rows.empty()) return false;
  // Along the stored axis two sectors; along the loaded one, and the axis around it, what remains.
  const int64_t words = t.target().AccessWords();
  const int64_t sectors = std::max<int64_t>(1, 2 * t.target().FetchedBytes() / (words * bytes));
  int64_t items = 1;
  const auto divide = [&](const std::string& name, int64_t most) {
    const size_t axis = t.nest().AxisNamed(name);
    const int64_t size = GreatestDivisor(t.Size(axis), most);
    if (size > 1 && t.Try<directive::Local>(axis, size)) items *= size;
  };
  const bool whole = t.Size(t.nest().AxisNamed(columns)) <= sectors;
  divide(columns, sectors);
  const std::string neighbours = whole ? columns : columns + ".1";
  divide(rows, t.target().group_items / items);
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  const size_t base = t.nest().axes[t.nest().AxisNamed(loaded + ".1")].base;
  for (size_t n = globals.size(); n-- > 0;) {
    const size_t axis = globals[n];
    if (t.nest().axes[axis].base + 1 != base || t.IsSymbolic(axis)) continue;
    divide(t.nest().axes[axis].name, t.target().group_items / items);
    break;
  }
  // Neighbours store whole sectors.
  const int axis = t.nest().FindAxis(neighbours);
  if (axis >= 0) t.Neighbours(static_cast<size_t>(axis));
  return true;
}

}  // namespace tg::schedule
