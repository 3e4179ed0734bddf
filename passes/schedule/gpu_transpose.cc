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

// The contiguous axes of the store and of the loads, where they differ, and the bytes of what is
// stored.
struct Transpose {
  std::string stored, loaded;
  int64_t bytes = 1;
};
std::optional<Transpose> FindTranspose(const ScheduleBuilder& t) {
  if (ReducesOf(t) != 0 || t.nest().StagedBytes() != 0) return std::nullopt;
  std::optional<size_t> to, from;
  int64_t bytes = 1;
  for (const analysis::Access& a : t.accesses()) {
    const std::optional<size_t> axis = ContiguousAxis(t, a);
    if (a.is_store()) {
      if (to || !axis) return std::nullopt;
      to = axis;
      bytes = ByteSize(a.node->src(1)->dtype.scalar());
    } else if (axis && !from) {
      from = axis;
    }
  }
  if (!to || !from || *to == *from) return std::nullopt;
  return Transpose{t.nest().axes[*to].name, t.nest().axes[*from].name, bytes};
}

// Squares of an access's words for each work-item.
bool ScheduleSquares(ScheduleBuilder& t, const Transpose& of) {
  const std::string columns = UpcastWords(t, of.stored), rows = UpcastWords(t, of.loaded);
  if (columns.empty() || rows.empty()) return false;
  // Along the stored axis two sectors; along the loaded one, and the axis around it, what remains.
  const int64_t words = t.target().AccessWords();
  const int64_t sectors = std::max<int64_t>(1, 2 * t.target().FetchedBytes() / (words * of.bytes));
  int64_t items = 1;
  const auto divide = [&](const std::string& name, int64_t most) {
    const size_t axis = t.nest().AxisNamed(name);
    const int64_t size = GreatestDivisor(t.Size(axis), most);
    if (size > 1 && t.Try<directive::Local>(axis, size)) items *= size;
  };
  const bool whole = t.Size(t.nest().AxisNamed(columns)) <= sectors;
  divide(columns, sectors);
  const std::string neighbours = whole ? columns : columns + ".1";
  divide(rows, t.GroupItems() / items);
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  const size_t base = t.nest().axes[t.nest().AxisNamed(of.loaded + ".1")].base;
  for (size_t n = globals.size(); n-- > 0;) {
    const size_t axis = globals[n];
    if (t.nest().axes[axis].base + 1 != base || t.IsSymbolic(axis)) continue;
    divide(t.nest().axes[axis].name, t.GroupItems() / items);
    break;
  }
  // Neighbours store whole sectors.
  const int axis = t.nest().FindAxis(neighbours);
  if (axis >= 0) t.Neighbours(static_cast<size_t>(axis));
  return true;
}

// Neighbouring work-items store a few sectors, and each takes some steps along the loaded axis, so
// that the line that it reads serves the next steps.
bool ScheduleStrips(ScheduleBuilder& t, const Transpose& of, int64_t items, int64_t steps) {
  // The greatest divisor that is not much less, or blocks that overlap.
  const auto size_of = [&](const std::string& name, int64_t most) {
    const int64_t divisor = GreatestDivisor(t.Size(t.nest().AxisNamed(name)), most);
    return divisor * 2 > most ? divisor : most;
  };
  return t.TryBlock<directive::Local>(t.nest().AxisNamed(of.stored), size_of(of.stored, items)) &&
         t.TryBlock<directive::Loop>(t.nest().AxisNamed(of.loaded), size_of(of.loaded, steps));
}

}  // namespace

void ProposeGpuTranspose(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong()) return;
  const std::optional<Transpose> of = FindTranspose(t);
  if (!of) return;
  bool has_squares = false;
  ProposeGroups(t, to, [&] {
    const bool has_form = ScheduleSquares(t, *of);
    has_squares |= has_form;
    return has_form;
  });
  if (has_squares) return;
  const ScheduleBuilder::State start = t.Save();
  const int64_t sector = t.target().FetchedBytes() / of->bytes;
  for (int64_t items = 4 * sector; items > sector; items /= 2) {
    for (int64_t steps = 2 * sector; steps <= t.target().MostItems(); steps *= 4) {
      if (ScheduleStrips(t, *of, items, steps)) to.Add();
      t.Restore(start);
    }
  }
}

}  // namespace tg::schedule
