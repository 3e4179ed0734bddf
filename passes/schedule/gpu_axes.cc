#include "passes/schedule/gpu_axes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {

int64_t EnoughItems(const ScheduleBuilder& t) {
  return int64_t{2} * t.target().compute_units * t.target().items_per_unit;
}

bool PadForItems(ScheduleBuilder& t, const std::string& name, int64_t most) {
  const size_t axis = t.nest().AxisNamed(name);
  const int64_t words = t.target().AccessWords(), size = t.Size(axis);
  const int64_t lanes = size % words == 0 ? words : 1, block = most * lanes;
  const bool is_uneven = GreatestDivisor(size / lanes, most) < 2 * t.target().least_group_items;
  if (is_uneven && t.PaddingIsAcceptable(size, block)) {
    t.Try<directive::PadTo>(axis, block);
  }
  return lanes != 1;
}

void UnrollReduce(ScheduleBuilder& t) {
  const int64_t words = t.target().AccessWords();
  NodeSet seen;
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.nest().base[n]);
    if (!reduce || !seen.Insert(reduce)) continue;
    const auto axes = [&](AxisKind kind) {
      loop_nest::AxisList all = t.Axes(kind);
      llvm::erase_if(
          all, [&](size_t i) { return t.nest().base[t.nest().axes[i].base].reduce != reduce; });
      return all;
    };
    const loop_nest::AxisList reduces = axes(AxisKind::kReduce);
    const int64_t upcast = t.nest().UpcastSize();
    if (reduces.empty() || upcast >= ScheduleBuilder::kMostCopies) continue;
    const size_t last = reduces.back();
    if (t.IsSymbolic(last)) continue;
    const int64_t size = t.Size(last);
    if (size <= directive::Unroll::kMost) {
      if (!t.Try<directive::Unroll>(last)) continue;
      const loop_nest::AxisList rest = axes(AxisKind::kReduce);
      if (!rest.empty() && size < words && t.Size(rest.back()) < words)
        t.Try<directive::Unroll>(rest.back());
    } else if (size % words == 0 && upcast * words <= ScheduleBuilder::kMostCopies) {
      t.Try<directive::Unroll>(last, words);
    }
  }
}

size_t ReducesOf(const ScheduleBuilder& t) {
  NodeSet seen;
  size_t n = 0;
  for (const analysis::BaseAxis& b : t.nest().base) {
    const UOp* reduce = t.ReduceOf(b);
    n += reduce && seen.Insert(reduce);
  }
  return n;
}

std::vector<loop_nest::AxisList> AxesByReduce(const ScheduleBuilder& t) {
  std::vector<loop_nest::AxisList> out;
  NodeMap<size_t> number;  // 1 + the index in `out`, by reduce
  for (size_t i : t.Axes(AxisKind::kReduce)) {
    size_t& n = number[t.nest().base[t.nest().axes[i].base].reduce];
    if (n == 0) {
      out.emplace_back();
      n = out.size();
    }
    out[n - 1].push_back(i);
  }
  return out;
}

void UpcastFewRows(ScheduleBuilder& t) {
  const loop_nest::AxisList results = t.Axes(AxisKind::kGlobal);
  if (results.empty()) return;
  const size_t last = results.back();
  std::vector<std::string> rows;
  int64_t total = 1;
  for (const size_t i : results) {
    if (i == last) continue;
    const bool repeats = llvm::all_of(t.accesses(), [&](const analysis::Access& a) {
      return a.is_store() || t.Stride(a, last) == 0 || t.Stride(a, i) == 0;
    });
    if (!repeats || t.IsSymbolic(i)) return;
    total *= t.Size(i);
    rows.push_back(t.nest().axes[i].name);
  }
  if (total > 2 * t.target().tile_side) return;
  for (const std::string& row : rows) t.Try<directive::Upcast>(t.nest().AxisNamed(row));
}

std::optional<double> ElementsOfTerm(const ScheduleBuilder& t, const analysis::Access& a,
                                     size_t axis) {
  const std::optional<int64_t> stride = t.Stride(a, axis);
  if (stride) return *stride == 1 ? std::optional(1.0) : std::nullopt;
  const int64_t words = t.target().AccessWords();
  const std::optional<double> distance =
      a.DistanceOf(t.nest().axes[axis].base, words, t.Size(axis) / words);
  const bool is_dense = distance && *distance > 0 && *distance <= static_cast<double>(words);
  return is_dense ? std::optional(*distance / static_cast<double>(words)) : std::nullopt;
}

bool Nests(const ScheduleBuilder& t) {
  const std::vector<analysis::BaseAxis>& base = t.nest().base;
  for (size_t n = 0; n < base.size(); ++n) {
    if (!t.ReduceOf(base[n])) continue;
    for (size_t m = 0; m < base.size(); ++m) {
      const bool other = t.ReduceOf(base[m]) && base[m].reduce != base[n].reduce;
      if (other && (t.nest().varies[n] & analysis::LoopBit(m)) != 0) return true;
    }
  }
  return false;
}

}  // namespace tg::schedule
