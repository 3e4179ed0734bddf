#include "passes/schedule/gpu_rows.h"

#include <algorithm>
#include <string>

#include "passes/schedule/gpu_axes.h"

namespace tg::schedule {
namespace {

// The number of rows, that is, of results along all axes but those in `shared`.
int64_t Rows(const ScheduleBuilder& t, analysis::LoopSet shared) {
  int64_t rows = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & analysis::LoopBit(t.nest().axes[i].base)) == 0) rows *= t.Size(i);
  }
  return rows;
}

// Lets a group compute several rows if they stage results and share loads: each work-item up to
// Target::tile_side, and up to as many work-items different rows, while local memory suffices and
// enough groups are left. Returns the number of work-items along the rows. `steps` is the number of
// iterations of a row that work-items share.
int64_t TileRows(ScheduleBuilder& t, analysis::LoopSet shared, int64_t steps) {
  const int64_t staged_bytes = t.nest().StagedBytes();
  if (staged_bytes == 0) return 1;
  const int64_t groups = Rows(t, shared);
  // Bytes of local memory per work-item for the partial results of reduces that the group shares.
  int64_t parts = 0;
  analysis::LoopSet varied =
      shared;  // a reduce that varies along these is computed by one work-item
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    if (t.nest().base[n].staged) varied |= analysis::LoopBit(n);
  }
  NodeSet sums;
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.nest().base[n]);
    if (!reduce || (t.nest().varies[n] & varied) != 0 || !sums.Insert(reduce)) continue;
    parts += ByteSize(reduce->dtype.scalar());
  }
  const int64_t most = t.MostItems();
  const auto fits = [&](int64_t lanes, int64_t items, int64_t left) {
    const int64_t group = items * GreatestDivisor(steps, most / items);
    const int64_t bytes = lanes * items * staged_bytes + group * lanes * parts;
    return bytes <= t.target().local_memory && groups / (lanes * items) >= left;
  };
  const int64_t units = t.target().compute_units;
  size_t best = SIZE_MAX, served = 0;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & analysis::LoopBit(t.nest().axes[i].base)) == 0;
    if (!row || t.IsSymbolic(i) || t.Size(i) % 2 != 0 || t.ReuseAlong(i) <= served) continue;
    best = i;
    served = t.ReuseAlong(i);
  }
  if (best == SIZE_MAX) return 1;
  const std::string name = t.nest().axes[best].name;
  for (int64_t rows = t.target().tile_side; rows > 1; rows /= 2) {
    if (!fits(rows, 1, 2 * units) || t.Size(best) % rows != 0 ||
        !t.Try<directive::Upcast>(best, rows))
      continue;
    const int left = t.nest().FindAxis(name + ".0");
    if (left < 0) return 1;
    const auto axis = static_cast<size_t>(left);
    for (int64_t items = t.target().tile_side; items > 1; items /= 2) {
      // Adding rows must not reduce the number of work-items that share a row, and must leave
      // groups for three quarters of the units.
      const bool keeps =
          GreatestDivisor(steps, most / items) * items >= GreatestDivisor(steps, most);
      if (!keeps || !fits(rows, items, 3 * units / 4) || t.Size(axis) % items != 0) continue;
      if (t.Try<directive::Local>(axis, items)) return items;
    }
    return 1;
  }
  return 1;
}

// Unrolls a reduce by the words of an access and, if the work-items along axis `local` compute a
// row (not if it is empty), shares its terms among them. Where they do not divide the terms, these
// are padded, since otherwise each work-item computes all of them.
void ShareTerms(ScheduleBuilder& t, const std::string& terms, const std::string& local,
                int64_t most) {
  const ScheduleBuilder::State before = t.Save();
  const std::string rest = InAccessesPadded<directive::Unroll>(t, terms, most);
  if (local.empty()) return;
  const int64_t items = t.Size(t.nest().AxisNamed(local));
  const size_t axis = t.nest().AxisNamed(rest);
  const bool is_even = t.Size(axis) % items == 0;
  if (t.TryWith<directive::Group>(axis, local) || is_even || t.Size(axis) < items) return;
  const ScheduleBuilder::State alone = t.Save();
  t.Restore(before);
  const int64_t words = t.target().AccessWords();
  if (t.Try<directive::PadTo>(t.nest().AxisNamed(terms), items * words) &&
      t.Try<directive::Unroll>(t.nest().AxisNamed(terms), words) &&
      t.TryWith<directive::Group>(t.nest().AxisNamed(terms + ".0"), local)) {
    return;
  }
  t.Restore(alone);
}

}  // namespace

void ScheduleGpuRows(ScheduleBuilder& t, analysis::LoopSet shared, bool in_tiles) {
  std::string row;  // the innermost long axis of a row, or that of a block of a symbolic number
  int64_t least = 2 * t.target().least_group_items;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & analysis::LoopBit(t.nest().axes[i].base)) == 0) continue;
    if (t.IsSymbolic(i)) {
      least = t.target().least_group_items;
    } else if (t.Size(i) >= least) {
      row = t.nest().axes[i].name;
    }
  }
  int64_t most = t.MostItems();
  if (!row.empty()) {
    if (t.nest().StagedBytes() == 0) {
      most = t.MostItems(Rows(t, shared), t.Size(t.nest().AxisNamed(row)));
    }
    row = InAccessesPadded<directive::Upcast>(t, row, most);
  }
  const int64_t steps = row.empty() ? 1 : t.Size(t.nest().AxisNamed(row));
  const int64_t rows = in_tiles ? TileRows(t, shared, steps) : 1;
  std::string local;
  if (!row.empty()) {
    const size_t axis = t.nest().AxisNamed(row);
    const int64_t items = GreatestDivisor(t.Size(axis), most / rows);
    if (items >= t.target().least_group_items) {
      const bool whole = items == t.Size(axis);
      if (t.Try<directive::Local>(axis, items)) local = whole ? row : row + ".1";
    }
  }
  t.LoopAlong(shared);
  NodeSet seen;
  analysis::LoopSet staged = 0;
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const analysis::BaseAxis base = t.nest().base[n];
    if (!base.staged) continue;
    staged |= analysis::LoopBit(n);
    if (!seen.Insert(base.staged) || base.size.is_symbolic()) continue;
    const std::string rest = InAccesses<directive::Upcast>(t, base.name);
    if (!local.empty()) t.TryWith<directive::Group>(t.nest().AxisNamed(rest), local);
  }
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const analysis::BaseAxis base = t.nest().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    // A reduce that a staged value depends on is not shared: the work-item that stages an element
    // computes its reduce.
    if (t.nest().varies[n] & staged) {
      const int64_t words = t.target().AccessWords();
      const size_t axis = t.nest().AxisNamed(base.name);
      if (base.max_size % words == 0) t.Try<directive::Unroll>(axis, words);
      continue;
    }
    const bool is_short = base.max_size <= t.target().window;
    if (is_short && t.Try<directive::Unroll>(t.nest().AxisNamed(base.name))) continue;
    ShareTerms(t, base.name, local, most);
  }
}

}  // namespace tg::schedule
