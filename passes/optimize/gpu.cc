// The heuristic for GPUs: tinygrad's hand-coded rules (v0.10.3) in their order, over named axes.
#include <algorithm>
#include <tuple>

#include "passes/optimize/heuristic.h"

namespace tg {
namespace {

// The greatest of `choices` (descending) that divides n; 0 if none does.
int64_t Divisor(int64_t n, std::initializer_list<int64_t> choices, int64_t limit = INT64_MAX) {
  for (int64_t c : choices) {
    if (c <= limit && n % c == 0 && n >= c) return c;
  }
  return 0;
}

// Work-items of the largest groups that are made: larger ones leave a multiprocessor with two or
// three, which wait for each other.
int64_t MostItems(const Tuner& t) { return std::min(256, t.target().max_group_size); }

const UOp* FinalReduce(const Tuner& t) {
  for (const BaseAxis& b : t.schedule().base) {
    if (const UOp* reduce = t.ReduceOf(b)) return reduce;
  }
  return nullptr;
}

// A long row times a vector: few results, each a long sum. Several work-items share a sum.
bool Matvec(Tuner& t) {
  const UOp* reduce = FinalReduce(t);
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
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
  // Both operands repeated along some axis: a matrix product, which has better ways.
  const auto repeats = [&](const Access* a) {
    const auto globals = t.Axes(AxisKind::kGlobal);
    return std::any_of(globals.begin(), globals.end(),
                       [&](size_t i) { return t.Stride(*a, i) == 0; });
  };
  if (!contiguous || (repeats(loads[0]) && repeats(loads[1]))) return false;
  for (size_t g : t.Axes(AxisKind::kGlobal)) {
    if (t.Size(g) % 16 != 0 || t.IsSymbolic(g)) continue;
    const std::string name = t.schedule().axes[g].name;
    if (!t.Try("group", k, 8)) return false;
    if (t.Try("local", g, 4)) {
      // The outer part keeps its place in front.
      for (size_t i : t.Axes(AxisKind::kGlobal)) {
        if (t.schedule().axes[i].name == name + ".0") t.Try("upcast", i, 4);
      }
    }
    return true;
  }
  return false;
}

size_t AxisOf(const Tuner& t, std::string_view name) {
  return static_cast<size_t>(t.schedule().FindAxis(name));
}

// `name` in blocks of 4 neighbours, if there are that many for 32 work-items. The name of what is
// left.
std::string InFours(Tuner& t, std::string_view opt, const std::string& name) {
  const size_t axis = AxisOf(t, name);
  if (t.Size(axis) % 4 != 0 || t.Size(axis) < 128 || !t.Try(opt, axis, 4)) return name;
  return name + ".0";
}

// The greatest divisor of n that is at most `limit`.
int64_t GreatestDivisor(int64_t n, int64_t limit) {
  int64_t d = std::min(n, limit);
  while (n % d != 0) --d;
  return d;
}

// Work-items of a group along the last axes of a reduce, from the innermost outwards: they read
// what lies side by side. False: there are too few terms for a group.
bool GroupAlong(Tuner& t, const std::vector<size_t>& reduces) {
  constexpr int64_t kEnough = 128, kFew = 16;
  std::vector<std::string> names;
  int64_t terms = 1;
  for (size_t i : reduces) {
    if (t.IsSymbolic(i)) return false;
    names.push_back(t.schedule().axes[i].name);
    terms *= t.Size(i);
  }
  const int64_t most = MostItems(t);
  if (t.Size(reduces.back()) < 64 && terms < 8 * most) return false;
  names.back() = InFours(t, "unroll", names.back());
  int64_t items = 1;
  for (size_t k = names.size(); k-- > 0 && items < kEnough;) {
    const size_t axis = AxisOf(t, names[k]);
    const int64_t share = GreatestDivisor(t.Size(axis), most / items);
    if (items * share < kFew && k == 0) break;
    if (share > 1 && t.Try("group", axis, share)) items *= share;
  }
  return items > 1;
}

size_t ReducesOf(const Tuner& t) {
  NodeSet seen;
  size_t n = 0;
  for (const BaseAxis& b : t.schedule().base) {
    const UOp* reduce = t.ReduceOf(b);
    n += reduce && seen.Insert(reduce);
  }
  return n;
}

// Few results: a group of work-items for each.
bool GroupReduce(Tuner& t) {
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
  const int64_t items = t.WorkItems();
  if (reduces.empty() || items > 2048) return false;
  const bool one = ReducesOf(t) == 1;
  if (t.Axes(AxisKind::kGlobal).size() > 2) return one && GroupAlong(t, reduces);
  std::string group;  // the axis that the first reduce got work-items for; others share them
  NodeSet seen;
  // Once for each reduce, on its first axis.
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.schedule().base[n]);
    if (!reduce || !seen.Insert(reduce)) continue;
    const std::vector<size_t> axes = t.Axes(AxisKind::kReduce);
    const auto first = std::find_if(axes.begin(), axes.end(), [&](size_t i) {
      return t.schedule().base[t.schedule().axes[i].base].reduce == reduce;
    });
    if (first == axes.end()) continue;
    const size_t axis = *first;
    if (!group.empty() && t.TryWith("grouptop", axis, group)) continue;
    for (int64_t amount : {int64_t{256}, int64_t{16}}) {
      if ((amount == 256 && items > 32) || t.Size(axis) % amount != 0) continue;
      if (t.schedule().GroupSize() * amount > t.target().max_group_size) continue;
      const bool whole = t.Size(axis) == amount;
      const std::string name = t.schedule().axes[axis].name;
      if (!t.Try("grouptop", axis, amount)) continue;
      if (group.empty()) group = whole ? name : name + ".0";
      break;
    }
  }
  return !group.empty();
}

// Small masked axes (the padding of a window) side by side: their conditions become constants.
void UpcastMasked(Tuner& t) {
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis& base = t.schedule().base[n];
    if (!base.IsStored() || base.size.is_symbolic() || base.max_size > 7) continue;
    const bool masked = std::any_of(t.accesses().begin(), t.accesses().end(),
                                    [&](const Access& a) { return a.masked[n]; });
    if (!masked || t.schedule().UpcastSize() * base.max_size > 49) continue;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.schedule().axes[i].base == n && t.Try("upcast", i)) break;
    }
  }
}

// Axes along which some operand stays the same, by 3 or 4: each load then serves several results.
void UpcastBroadcast(Tuner& t) {
  while (t.WorkItems() >= 1024) {
    using Score = std::tuple<int64_t, int64_t, size_t, int64_t>;
    std::vector<Score> choices;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.HasLanes(i) || t.IsSymbolic(i)) continue;
      for (int64_t amount : {int64_t{3}, int64_t{4}}) {
        if (t.Size(i) % amount != 0) continue;
        bool reused = false;
        int64_t moving = 0, strides = 0;
        for (const Access& a : t.accesses()) {
          const int64_t s = t.Stride(a, i).value_or(1);
          // Reuse that another upcast of the same operand has not used up already.
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
    if (!t.Try("upcast", axis, amount)) return;
  }
}

// The last axis of each reduce; two small ones.
void UnrollReduce(Tuner& t) {
  NodeSet seen;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.schedule().base[n]);
    if (!reduce || !seen.Insert(reduce)) continue;
    const auto axes = [&](AxisKind kind) {
      std::vector<size_t> all = t.Axes(kind);
      std::erase_if(all, [&](size_t i) {
        return t.schedule().base[t.schedule().axes[i].base].reduce != reduce;
      });
      return all;
    };
    const std::vector<size_t> reduces = axes(AxisKind::kReduce);
    const int64_t upcast = t.schedule().UpcastSize();
    const bool unrolled = !axes(AxisKind::kUnroll).empty();
    if (reduces.empty() || (upcast > 4 && unrolled) || upcast >= 64) continue;
    const size_t last = reduces.back();
    if (t.IsSymbolic(last)) continue;
    const int64_t size = t.Size(last);
    if (size <= 32) {
      if (!t.Try("unroll", last)) continue;
      const std::vector<size_t> rest = axes(AxisKind::kReduce);
      if (!rest.empty() && size <= 3 && t.Size(rest.back()) <= 3) t.Try("unroll", rest.back());
    } else if (size % 4 == 0) {
      t.Try("unroll", last, 4);
    }
  }
}

void Locals(Tuner& t) {
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
  int64_t total = t.schedule().GroupSize();
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
  // Small groups leave a multiprocessor half empty: grow them while there are enough of them.
  const int64_t enough = int64_t{4} * t.target().compute_units;
  while (!chosen.empty() && total * 2 <= limit && t.WorkItems() / (total * 2) >= enough) {
    auto& [axis, n] = chosen.back();
    if (t.Size(axis) % (n * 2) != 0) break;
    n *= 2;
    total *= 2;
  }
  // Names survive the moves that each opt makes; positions do not.
  std::vector<std::pair<std::string, int64_t>> named;
  for (const auto& [axis, n] : chosen) named.emplace_back(t.schedule().axes[axis].name, n);
  for (const auto& [name, n] : named) {
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.schedule().axes[i].name != name) continue;
      t.Try("local", i, n);
      break;
    }
  }
}

// A reduce whose operands are read once each: memory decides. Along the rows of memory a group
// reads a row; across them neighbours read neighbours, and several rows of them share the terms
// where results are few.
bool Sums(Tuner& t) {
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
  if (reduces.empty() || t.IsSymbolic(reduces.back())) return false;
  if (ReducesOf(t) > 1) return false;
  bool along = false;
  for (const Access& a : t.accesses()) {
    if (a.is_store()) continue;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.Stride(a, i) == 0) return false;  // read again: a product has better ways
    }
    along |= t.Stride(a, reduces.back()) == 1;
  }
  if (along) return GroupAlong(t, reduces);
  const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  const int64_t wanted = int64_t{t.target().compute_units} * 512;
  if (globals.empty() || t.IsSymbolic(globals.back()) || t.WorkItems() >= wanted) return false;
  const int64_t neighbours = GreatestDivisor(t.Size(globals.back()), 32);
  const int64_t share =
      GreatestDivisor(t.Size(reduces[0]), std::min<int64_t>(MostItems(t) / 32, 16));
  if (neighbours < 8 || share < 2 || t.IsSymbolic(reduces[0])) return false;
  const std::string first = t.schedule().axes[reduces[0]].name;
  return t.Try("local", globals.back(), neighbours) && t.Try("group", AxisOf(t, first), share);
}

// The axes of a reduce over the results of another reduce; none where there is none.
std::vector<std::string> OuterReduceAxes(const Tuner& t) {
  NodeSet reduces;
  for (const BaseAxis& b : t.schedule().base) {
    if (const UOp* reduce = t.ReduceOf(b)) reduces.Insert(reduce);
  }
  const auto holds_another = [&](const UOp* reduce) {
    const std::vector<const UOp*> nodes = PostOrder(reduce);
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const UOp* u) { return u != reduce && reduces.Contains(u); });
  };
  std::vector<std::string> axes;
  for (const BaseAxis& b : t.schedule().base) {
    const UOp* reduce = t.ReduceOf(b);
    if (reduce && !b.size.is_symbolic() && holds_another(reduce)) axes.push_back(b.name);
  }
  return axes;
}

// A reduce over the results of another one (the pooling of a product): the work-items of a group
// compute these side by side, for a few neighbouring results, and sum them up.
bool NestedReduce(Tuner& t) {
  const std::vector<std::string> outer = OuterReduceAxes(t);
  int64_t items = 1;
  for (const std::string& name : outer) items *= t.Size(AxisOf(t, name));
  if (items < 32 || items > MostItems(t)) return false;
  for (const std::string& name : outer) {
    if (!t.Try("group", AxisOf(t, name))) return false;
  }
  const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  if (!globals.empty() && !t.IsSymbolic(globals.back()) && t.Size(globals.back()) % 4 == 0) {
    t.Try("upcast", globals.back(), 4);
  }
  UnrollReduce(t);
  return true;
}

// Rows whose results are kept inside the kernel, made together where they share what is loaded for
// them and enough groups are left: four by each work-item, and by as many work-items as there is
// memory for. How many of the latter. `steps`: what the others of a group share of a row.
int64_t TileRows(Tuner& t, LoopSet shared, int64_t steps) {
  const int64_t room = t.schedule().StagedBytes();
  if (room == 0) return 1;
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & LoopBit(t.schedule().axes[i].base)) == 0) groups *= t.Size(i);
  }
  // Each work-item has its parts of the sums that a group makes together.
  int64_t parts = 0;
  LoopSet apart = shared;  // a reduce that varies along these is one work-item's
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    if (t.schedule().base[n].staged) apart |= LoopBit(n);
  }
  NodeSet sums;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.schedule().base[n]);
    if (!reduce || (t.schedule().varies[n] & apart) != 0 || !sums.Insert(reduce)) continue;
    parts += ByteSize(reduce->dtype.scalar());
  }
  const int64_t most = MostItems(t);
  const auto fits = [&](int64_t lanes, int64_t items, int64_t left) {
    const int64_t group = items * GreatestDivisor(steps, most / items);
    const int64_t bytes = lanes * items * room + group * lanes * parts;
    return bytes <= t.target().local_memory && groups / (lanes * items) >= left;
  };
  const int64_t units = t.target().compute_units;
  size_t best = SIZE_MAX, served = 0;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & LoopBit(t.schedule().axes[i].base)) == 0;
    if (!row || t.IsSymbolic(i) || t.Size(i) % 2 != 0 || t.ServedAlong(i) <= served) continue;
    best = i;
    served = t.ServedAlong(i);
  }
  if (best == SIZE_MAX) return 1;
  const std::string name = t.schedule().axes[best].name;
  for (int64_t rows : {4, 2}) {
    if (!fits(rows, 1, 2 * units) || t.Size(best) % rows != 0 || !t.Try("upcast", best, rows))
      continue;
    const int left = t.schedule().FindAxis(name + ".0");
    if (left < 0) return 1;
    const auto axis = static_cast<size_t>(left);
    for (int64_t items : {4, 2}) {
      // Not at the price of fewer work-items along the row.
      const bool keeps =
          GreatestDivisor(steps, most / items) * items >= GreatestDivisor(steps, most);
      if (!keeps || !fits(rows, items, 3 * units / 4) || t.Size(axis) % items != 0) continue;
      if (t.Try("local", axis, items)) return items;
    }
    return 1;
  }
  return 1;
}

// Rows that share a reduce: a group goes through a row, and its work-items share the reduces. Short
// rows are left to a work-item.
void TuneRows(Tuner& t, LoopSet shared) {
  std::string row;  // the innermost long axis of a row
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool along = (shared & LoopBit(t.schedule().axes[i].base)) != 0;
    if (along && !t.IsSymbolic(i) && t.Size(i) >= 32) row = t.schedule().axes[i].name;
  }
  if (!row.empty()) row = InFours(t, "upcast", row);
  const int64_t rows = TileRows(t, shared, row.empty() ? 1 : t.Size(AxisOf(t, row)));
  std::string local;
  if (!row.empty()) {
    const size_t axis = AxisOf(t, row);
    const int64_t most = MostItems(t) / rows;
    const int64_t items = GreatestDivisor(t.Size(axis), most);
    if (items >= 16) {
      const bool whole = items == t.Size(axis);
      if (t.Try("local", axis, items)) local = whole ? row : row + ".1";
    }
  }
  t.LoopAlong(shared);
  NodeSet seen;
  LoopSet staged = 0;
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis base = t.schedule().base[n];
    if (!base.staged) continue;
    staged |= LoopBit(n);
    if (!seen.Insert(base.staged) || base.size.is_symbolic()) continue;
    const std::string rest = InFours(t, "upcast", base.name);
    if (!local.empty()) t.TryWith("group", AxisOf(t, rest), local);
  }
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis base = t.schedule().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    // The terms of what is kept are added up by the work-item that keeps it.
    if (t.schedule().varies[n] & staged) {
      if (base.max_size % 4 == 0) t.Try("unroll", AxisOf(t, base.name), 4);
      continue;
    }
    if (base.max_size <= 8 && t.Try("unroll", AxisOf(t, base.name))) continue;
    const std::string rest = InFours(t, "unroll", base.name);
    if (!local.empty()) t.TryWith("group", AxisOf(t, rest), local);
  }
}

}  // namespace

void TuneForGpu(Tuner& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    TuneRows(t, shared);
    if (t.schedule().GroupSize() == 1) Locals(t);
    return;
  }
  if (Sums(t) || NestedReduce(t) || Matvec(t)) return;
  if (!GroupReduce(t)) {
    UpcastMasked(t);
    UpcastBroadcast(t);
  }
  UnrollReduce(t);
  if (t.Axes(AxisKind::kUpcast).empty() && t.Axes(AxisKind::kUnroll).empty()) {
    const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
    const bool fits =
        !globals.empty() && !t.IsSymbolic(globals.back()) && t.Size(globals.back()) % 4 == 0;
    if (fits) t.Try("upcast", globals.back(), 4);
  }
  Locals(t);
}

}  // namespace tg
