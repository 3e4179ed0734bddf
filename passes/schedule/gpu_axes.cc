#include "passes/schedule/gpu_axes.h"

#include <algorithm>
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
