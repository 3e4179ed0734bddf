// The heuristic for GPUs: tinygrad's hand-coded rules (v0.10.3) in their order, over named axes.
#include <algorithm>
#include <tuple>

#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/gpu_matvec.h"
#include "passes/schedule/gpu_rows.h"
#include "passes/schedule/gpu_sums.h"
#include "passes/schedule/schedule_builder.h"

namespace tg {
namespace {

// The greatest of `choices` (descending) that divides n; 0 if none does.
int64_t Divisor(int64_t n, std::initializer_list<int64_t> choices, int64_t limit = INT64_MAX) {
  for (int64_t c : choices) {
    if (c <= limit && n % c == 0 && n >= c) return c;
  }
  return 0;
}

const UOp* FinalReduce(const ScheduleBuilder& t) {
  for (const BaseAxis& b : t.nest().base) {
    if (const UOp* reduce = t.ReduceOf(b)) return reduce;
  }
  return nullptr;
}

// A row-major matrix times a vector: few results, each a long sum that several work-items share.
bool Matvec(ScheduleBuilder& t) {
  const UOp* reduce = FinalReduce(t);
  const AxisList reduces = t.Axes(AxisKind::kReduce);
  if (!reduce || static_cast<Op>(reduce->word()) != Op::kAdd || reduces.empty()) return false;
  const UOp* product = reduce->src(0);
  if (product->op != Op::kMul) return false;
  const size_t k = reduces[0];
  std::vector<const Access*> loads;
  for (const Access& a : t.accesses()) {
    if (!a.is_store()) loads.push_back(&a);
  }
  if (loads.size() != 2 || t.Size(k) % 8 != 0 || t.IsSymbolic(k)) return false;
  const bool contiguous = t.Stride(*loads[0], k) == 1 || t.Stride(*loads[1], k) == 1;
  // If both operands are invariant along some axis, it is a matrix product, for which other rules
  // are better.
  const auto repeats = [&](const Access* a) {
    const auto globals = t.Axes(AxisKind::kGlobal);
    return std::any_of(globals.begin(), globals.end(),
                       [&](size_t i) { return t.Stride(*a, i) == 0; });
  };
  if (!contiguous || (repeats(loads[0]) && repeats(loads[1]))) return false;
  for (size_t g : t.Axes(AxisKind::kGlobal)) {
    if (t.Size(g) % 16 != 0 || t.IsSymbolic(g)) continue;
    const std::string name = t.nest().axes[g].name;
    if (!t.Try<directive::Group>(k, 8)) return false;
    if (t.Try<directive::Local>(g, 4)) {
      // The outer part of a split axis keeps its position in the order of axes.
      for (size_t i : t.Axes(AxisKind::kGlobal)) {
        if (t.nest().axes[i].name == name + ".0") t.Try<directive::Upcast>(i, 4);
      }
    }
    return true;
  }
  return false;
}

// Upcasts small masked axes (the padding of a window), so that their predicates become constants.
void UpcastMasked(ScheduleBuilder& t) {
  // The limit on copies of the body is divided by the number of reduces, as each has its own
  // accumulators.
  const int64_t most = 49 / static_cast<int64_t>(std::max<size_t>(1, ReducesOf(t)));
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const BaseAxis& base = t.nest().base[n];
    if (!base.IsStored() || base.size.is_symbolic() || base.max_size > 7) continue;
    const bool masked = std::any_of(t.accesses().begin(), t.accesses().end(),
                                    [&](const Access& a) { return a.masked[n]; });
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
  for (const BaseAxis& b : t.nest().base) {
    const UOp* reduce = t.ReduceOf(b);
    if (!reduce) continue;
    int64_t& n = terms[reduce];
    n = std::max<int64_t>(n, 1) * b.max_size;
    longest = std::max(longest, n);
  }
  constexpr int64_t kUnrolled = 4;
  return t.WorkItems() / times * MaxSharingItems(longest / kUnrolled) >= EnoughItems(t);
}

// Upcasts axes along which some operand is invariant, by 3 or 4: each load then serves several
// results.
void UpcastBroadcast(ScheduleBuilder& t) {
  while (t.WorkItems() >= 1024) {
    using Score = std::tuple<int64_t, int64_t, size_t, int64_t>;
    std::vector<Score> choices;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.HasLanes(i) || t.IsSymbolic(i)) continue;
      for (int64_t amount : {int64_t{3}, int64_t{4}}) {
        // An axis that neither 3 nor 4 divides is padded to a multiple of 4, if the overhead is
        // acceptable.
        if (t.Size(i) % amount != 0) {
          const bool pads = amount == 4 && t.Size(i) % 3 != 0 && t.IsTileable(i, amount);
          if (!pads || !LeavesEnough(t, amount)) continue;
        }
        bool reused = false;
        int64_t moving = 0, strides = 0;
        for (const Access& a : t.accesses()) {
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
    if (choices.empty()) return;
    const auto [moving, strides, axis, amount] = *std::min_element(choices.begin(), choices.end());
    if (!t.Upcast(axis, amount)) return;
  }
}

void Locals(ScheduleBuilder& t) {
  struct Choice {
    bool reused;
    size_t axis;
  };
  std::vector<Choice> ranked;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i)) continue;
    const bool reused = std::any_of(t.accesses().begin(), t.accesses().end(),
                                    [&](const Access& a) { return t.Stride(a, i) == 0; });
    ranked.push_back({reused, i});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Choice& a, const Choice& b) {
    return std::pair(a.reused, a.axis) > std::pair(b.reused, b.axis);
  });
  int64_t total = t.nest().GroupSize();
  std::vector<std::pair<size_t, int64_t>> chosen;
  const int64_t limit = std::min(128, t.target().max_group_size);
  for (const Choice& c : ranked) {
    const int64_t first = c.axis == 0 ? 32 : 16;
    const int64_t n = Divisor(t.Size(c.axis), {first, 16, 8, 4, 3, 2}, limit / total);
    if (n == 0 || chosen.size() == 3) continue;
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

}  // namespace

void ScheduleForGpu(ScheduleBuilder& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    ScheduleGpuRows(t, shared);
    if (t.nest().GroupSize() == 1) Locals(t);
    return;
  }
  if (Sums(t) || ScheduleGpuMatvec(t) || ShareBlocks(t)) return;
  const bool windows = NestedWindows(t);
  if (!windows && (NestedReduce(t) || Matvec(t))) return;
  const bool grouped = !windows && GroupReduce(t);
  if (!windows && !grouped) {
    UpcastMasked(t);
    UpcastBroadcast(t);
  }
  UnrollReduce(t);
  if (t.Axes(AxisKind::kUpcast).empty() && t.Axes(AxisKind::kUnroll).empty()) {
    const AxisList globals = t.Axes(AxisKind::kGlobal);
    const bool fits =
        !globals.empty() && !t.IsSymbolic(globals.back()) && t.Size(globals.back()) % 4 == 0;
    if (fits) t.Try<directive::Upcast>(globals.back(), 4);
  }
  if (!grouped) ShareReduces(t);
  // A group of at least this size that shares reduces does not gain from more work-items, since
  // their partial results take local memory.
  constexpr int64_t kFullGroup = 64;
  if (t.nest().GroupSize() < kFullGroup) Locals(t);
}

}  // namespace tg
