// The rules for GPUs. Those of tiles and locals began as tinygrad's hand-coded ones (v0.10.3).
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/gpu_rows.h"
#include "passes/schedule/gpu_sums.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {
namespace {

const UOp* FinalReduce(const ScheduleBuilder& t) {
  for (const analysis::BaseAxis& b : t.nest().base) {
    if (const UOp* reduce = t.ReduceOf(b)) return reduce;
  }
  return nullptr;
}

// Upcasts small masked axes (the padding of a window), so that their predicates become constants.
void UpcastMasked(ScheduleBuilder& t) {
  // The limit on copies of the body is divided by the number of reduces, as each has its own
  // accumulators.
  const int64_t window = t.target().window;
  const int64_t most = window * window / static_cast<int64_t>(std::max<size_t>(1, ReducesOf(t)));
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const analysis::BaseAxis& base = t.nest().base[n];
    if (!base.IsStored() || base.size.is_symbolic() || base.max_size > window) continue;
    const bool masked = std::any_of(t.accesses().begin(), t.accesses().end(),
                                    [&](const analysis::Access& a) { return a.masked[n]; });
    if (!masked || t.nest().UpcastSize() * base.max_size > most) continue;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.nest().axes[i].base == n && t.Try<directive::Upcast>(i)) break;
    }
  }
}

// Whether tiles of `times` as many results leave enough work-items for the device, if work-items
// share the reduces of a tile (ShareReduces).
bool LeavesEnough(const ScheduleBuilder& t, int64_t times) {
  NodeMap<int64_t> terms;
  int64_t longest = 1;
  for (const analysis::BaseAxis& b : t.nest().base) {
    const UOp* reduce = t.ReduceOf(b);
    if (!reduce) continue;
    int64_t& n = terms[reduce];
    n = std::max<int64_t>(n, 1) * b.max_size;
    longest = std::max(longest, n);
  }
  const int64_t steps = longest / t.target().AccessWords();
  return t.WorkItems() / times * MaxSharingItems(t.target(), steps) >= EnoughItems(t);
}

// Upcasts an axis along which some operand is invariant, so that each load serves several results:
// by the words of an access or one less (3 or 4), `in_words` the words where both divide the axis.
// Returns false if there is no such axis.
bool UpcastReused(ScheduleBuilder& t, bool in_words) {
  const int64_t words = t.target().AccessWords();
  using Score = std::tuple<int64_t, int64_t, size_t, int64_t>;
  std::vector<Score> choices;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.HasLanes(i) || t.IsSymbolic(i)) continue;
    for (int64_t amount = std::max<int64_t>(2, words - 1); amount <= words; ++amount) {
      if (in_words && amount < words && t.Size(i) % words == 0) continue;
      // An axis that neither amount divides is padded to a multiple of the greater one, if the
      // overhead is acceptable.
      if (t.Size(i) % amount != 0) {
        const bool neither = amount == words && t.Size(i) % (words - 1) != 0;
        const bool pads = neither && t.IsTileable(i, amount);
        if (!pads || !LeavesEnough(t, amount)) continue;
      }
      bool reused = false;
      int64_t moving = 0, strides = 0;
      for (const analysis::Access& a : t.accesses()) {
        const int64_t s = t.Stride(a, i).value_or(1);
        // An axis counts only if the operand that it reuses is not already reused along an axis
        // that is upcast or unrolled.
        bool has_other = false;
        for (AxisKind kind : {AxisKind::kUpcast, AxisKind::kUnroll}) {
          for (size_t u : t.Axes(kind)) has_other |= t.Stride(a, u) == 0;
        }
        reused |= s == 0 && !has_other;
        moving += s > 0;
        strides += s;
      }
      if (reused) choices.emplace_back(moving, strides, i, amount);
    }
  }
  if (choices.empty()) return false;
  const auto [moving, strides, axis, amount] = *std::min_element(choices.begin(), choices.end());
  return t.Upcast(axis, amount);
}

// Gives a group up to `most_items` work-items along axes of results: powers of two of each or, with
// `in_rows`, the most that divide an axis, the last axis first, so that groups read whole rows.
void Locals(ScheduleBuilder& t, int64_t most_items, bool in_rows = false) {
  struct Choice {
    bool reused;
    size_t axis;
  };
  std::vector<Choice> ranked;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) continue;
    const bool reused = std::any_of(t.accesses().begin(), t.accesses().end(),
                                    [&](const analysis::Access& a) { return t.Stride(a, i) == 0; });
    ranked.push_back({reused, i});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Choice& a, const Choice& b) {
    return std::pair(a.reused, a.axis) > std::pair(b.reused, b.axis);
  });
  int64_t total = t.nest().GroupSize();
  std::vector<std::pair<size_t, int64_t>> chosen;
  const int64_t limit = std::min<int64_t>(most_items, t.target().max_group_size);
  const int64_t words = t.target().AccessWords(), least = t.target().least_group_items;
  for (const Choice& c : ranked) {
    const int64_t size = t.Size(c.axis), most = limit / total;
    int64_t n = in_rows ? GreatestDivisor(size, most)
                        : PowerOfTwoDivisor(size, std::min(most, c.axis == 0 ? 2 * least : least));
    if (n < words) n = GreatestDivisor(size, std::min(most, words));
    if (n == 1 || chosen.size() == 3) continue;
    chosen.emplace_back(c.axis, n);
    total *= n;
  }
  std::sort(chosen.begin(), chosen.end());
  // A multiprocessor holds a limited number of groups, so that small groups leave it half empty.
  // Groups are doubled while enough of them are left.
  const int64_t enough = t.target().groups_per_unit * t.target().compute_units;
  while (!chosen.empty() && total * 2 <= limit && t.WorkItems() / (total * 2) >= enough) {
    auto& [axis, n] = chosen.back();
    if (t.Size(axis) % (n * 2) != 0) break;
    n *= 2;
    total *= 2;
  }
  // A directive moves axes but does not rename them.
  std::vector<std::pair<std::string, int64_t>> named;
  for (const auto& [axis, n] : chosen) named.emplace_back(t.nest().axes[axis].name, n);
  for (const auto& [name, n] : named) {
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.nest().axes[i].name != name) continue;
      // Shared reduces may already use all of the group's local memory, so that smaller amounts are
      // tried too.
      for (int64_t some = n; some > 1 && !t.Try<directive::Local>(i, some); some /= 2) {
      }
      break;
    }
  }
}

// Proposes groups of group_items work-items, and smaller ones down to a subgroup. A group that
// shares reduces and has half of its work-items does not gain from more, since their partial
// results take local memory. Where work-items have no loop over terms, they may have whole rows.
void ProposeLocals(ScheduleBuilder& t, Proposals& to) {
  const ScheduleBuilder::State shared = t.Save();
  const int64_t items = t.nest().GroupSize();
  const bool has_loop = items > 1 || !t.Axes(AxisKind::kReduce).empty();
  for (int64_t most = t.target().group_items; most >= t.target().subgroup_size; most /= 2) {
    for (const bool in_rows : {false, true}) {
      if (in_rows && has_loop) break;
      if (items < most / 2) Locals(t, most, in_rows);
      to.Add();
      t.Restore(shared);
    }
    if (items >= most / 2) break;
  }
}

// Unrolls reduces, and proposes the results' tiles as they are, with each number of work-items that
// may share the reduces of a tile.
void ProposeShares(ScheduleBuilder& t, Proposals& to) {
  UnrollReduce(t);
  if (t.Axes(AxisKind::kUpcast).empty() && t.Axes(AxisKind::kUnroll).empty()) {
    const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
    if (!globals.empty() && !t.IsSymbolic(globals.back())) {
      const std::string last = t.nest().axes[globals.back()].name;
      // To whole groups, or if that adds too much, to whole subgroups.
      PadForItems(t, last, t.target().group_items);
      if (PadForItems(t, last, t.target().subgroup_size)) {
        t.Try<directive::Upcast>(t.nest().AxisNamed(last), t.target().AccessWords());
      }
    }
  }
  const ScheduleBuilder::State tiles = t.Save();
  const auto propose = [&](int64_t share) {
    if (share > 1 && !ShareReduces(t, share)) return false;
    ProposeLocals(t, to);
    t.Restore(tiles);
    return true;
  };
  int64_t enough = EnoughSharing(t);
  while (!propose(enough)) enough /= 2;
  for (int64_t share = 1; propose(share); share *= 2) {
  }
}

}  // namespace

bool ShareMatvec(ScheduleBuilder& t) {
  const UOp* reduce = FinalReduce(t);
  const loop_nest::AxisList reduces = t.Axes(AxisKind::kReduce);
  if (!reduce || static_cast<Op>(reduce->word()) != Op::kAdd || reduces.empty()) return false;
  const UOp* product = reduce->src(0);
  if (product->op != Op::kMul) return false;
  const size_t k = reduces[0];
  // A group computes `words` columns of `words` results, and `share` work-items each one's terms.
  const int64_t words = t.target().AccessWords();
  const int64_t share = std::max<int64_t>(2, 2 * t.target().least_group_items / words);
  std::vector<const analysis::Access*> loads;
  for (const analysis::Access& a : t.accesses()) {
    if (!a.is_store()) loads.push_back(&a);
  }
  if (loads.size() != 2 || t.Size(k) % share != 0 || t.IsSymbolic(k)) return false;
  const bool contiguous = t.Stride(*loads[0], k) == 1 || t.Stride(*loads[1], k) == 1;
  // If both operands are invariant along some axis, it is a matrix product, for which other rules
  // are better.
  const auto repeats = [&](const analysis::Access* a) {
    const auto globals = t.Axes(AxisKind::kGlobal);
    return std::any_of(globals.begin(), globals.end(),
                       [&](size_t i) { return t.Stride(*a, i) == 0; });
  };
  if (!contiguous || (repeats(loads[0]) && repeats(loads[1]))) return false;
  for (size_t g : t.Axes(AxisKind::kGlobal)) {
    if (t.Size(g) % (words * words) != 0 || t.IsSymbolic(g)) continue;
    const std::string name = t.nest().axes[g].name;
    if (!t.Try<directive::Group>(k, share)) return false;
    if (t.Try<directive::Local>(g, words)) {
      // The outer part of a split axis keeps its position in the order of axes.
      for (size_t i : t.Axes(AxisKind::kGlobal)) {
        if (t.nest().axes[i].name == name + ".0") t.Try<directive::Upcast>(i, words);
      }
    }
    return true;
  }
  return false;
}

void ProposeGpuTiles(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong()) return;
  UpcastMasked(t);
  const ScheduleBuilder::State start = t.Save();
  for (const bool in_words : {false, true}) {
    std::vector<ScheduleBuilder::State> tiles;
    size_t first = 0;  // the tile that makes the grid small, or the largest one
    bool is_large = true;
    do {
      if (is_large) first = tiles.size();
      is_large = is_large && t.WorkItems() >= t.target().small_grid;
      tiles.push_back(t.Save());
    } while (UpcastReused(t, in_words));
    std::rotate(tiles.begin(), tiles.begin() + static_cast<std::ptrdiff_t>(first), tiles.end());
    for (const ScheduleBuilder::State& tile : tiles) {
      t.Restore(tile);
      ProposeShares(t, to);
    }
    t.Restore(start);
  }
}

void ProposeGpuRows(ScheduleBuilder& t, Proposals& to) {
  const analysis::LoopSet shared = t.SharedAlong();
  if (!shared) return;
  for (const bool in_tiles : {true, false}) {
    ProposeGroups(t, to, [&] {
      ScheduleGpuRows(t, shared, in_tiles);
      if (t.nest().GroupSize() == 1) Locals(t, t.GroupItems());
      return true;
    });
  }
}

void ProposeGpuWindows(ScheduleBuilder& t, Proposals& to) {
  if (!t.SharedAlong() && NestedWindows(t)) ProposeShares(t, to);
}

void ProposeGpuGroups(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong() || !GroupReduce(t)) return;
  UnrollReduce(t);
  ProposeLocals(t, to);
}

}  // namespace tg::schedule
