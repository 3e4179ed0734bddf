// The heuristic for OpenCL on a CPU: one work-item a group, vectors along the axis where they cost
// least, a register tile where operands are reused, and loops inside so that groups are few.
#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/STLExtras.h"
#include "passes/optimize/blocks.h"
#include "passes/optimize/heuristic.h"
#include "passes/optimize/lanes.h"
#include "passes/optimize/packing.h"

namespace tg {
namespace {

// How well vectors along this axis read and write where no reduce does more of either: every access
// contiguous or repeated.
int Score(const Tuner& t, size_t axis) {
  int score = 0;
  const bool staged = t.schedule().axes[axis].kind == AxisKind::kStage;
  if (staged) score += t.IsInnermost(axis) ? 3 : -6;  // its own store
  for (const Access& a : t.accesses()) {
    const auto stride = t.Stride(a, axis);
    if (staged && a.is_store()) continue;  // it does not go through what is stored
    if (stride == 1)
      score += a.is_store() ? 3 : 2;
    else if (stride != 0)
      score -= a.is_store() ? 6 : 2;
    else if (a.is_store())
      score -= 6;
  }
  return score;
}

// Elements along an axis of this kind, of node `staged` if that is given, side by side.
void VectorizeBest(Tuner& t, AxisKind kind = AxisKind::kGlobal, const UOp* staged = nullptr) {
  const LaneCosts lanes(t, 0);
  size_t best = kNoAxis;
  int best_score = 0;
  for (size_t i : t.Axes(kind)) {
    if (lanes.Along(i) == 1 || t.schedule().base[t.schedule().axes[i].base].staged != staged)
      continue;
    const int score = Score(t, i);
    if (score > best_score) best = i, best_score = score;
  }
  if (best != kNoAxis) t.Try("vectorize", best, lanes.Along(best));
}

// What a kernel keeps: its elements side by side, or the terms of what they are sums of.
void VectorizeStaged(Tuner& t, const UOp* node) {
  const LaneCosts lanes(t, 0);
  std::vector<size_t> axes = t.Axes(AxisKind::kStage);
  std::erase_if(
      axes, [&](size_t i) { return t.schedule().base[t.schedule().axes[i].base].staged != node; });
  NodeSet sums;
  bool any = false;
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const auto varies = [&](size_t i) { return lanes.Varies(reduce.node, i); };
    if (std::any_of(axes.begin(), axes.end(), varies)) any |= sums.Insert(reduce.node);
  }
  if (!any) return VectorizeBest(t, AxisKind::kStage, node);
  const size_t best = lanes.Cheapest(axes, &sums);
  if (best != kNoAxis) t.Try("vectorize", best, lanes.Along(best));
}

// Some of the axis of that name as an opt of that name.
bool TryNamed(Tuner& t, std::string_view opt, const std::string& axis, int64_t amount) {
  const int i = t.schedule().FindAxis(axis);
  return i >= 0 && t.Try(opt, static_cast<size_t>(i), amount);
}

// Makes tiles: rows of a product, channels of a convolution, the pixels of its mean.
void Apply(Tuner& t, const LaneCosts::Tile& tile) {
  // Axes move as they are marked, so each is looked for by its name.
  std::vector<std::string> names;
  for (const auto& [axis, rows] : tile) names.push_back(t.schedule().axes[axis].name);
  for (size_t k = 0; k < tile.size(); ++k) {
    const int found = t.schedule().FindAxis(names[k]);
    if (found < 0) continue;
    const auto axis = static_cast<size_t>(found);
    if (t.schedule().axes[axis].kind == AxisKind::kReduce)
      t.Try("unroll", axis, tile[k].second);
    else
      t.Upcast(axis, tile[k].second);
  }
}

// Elements of a reduce around another one side by side along `best`, those of another such axis,
// and results that share what both load: as many as leave the sums in registers. The lanes come
// last.
void VectorizeInner(Tuner& t, const LaneCosts& lanes, size_t best) {
  const int64_t amount = lanes.Along(best), most = t.target().MaxAccumulators();
  size_t other = kNoAxis;
  int64_t rows = 1;
  for (size_t i : t.Axes(AxisKind::kReduce)) {
    if (i == best || !lanes.HoldsReduce(i)) continue;
    // Full vectors, and room for eight results, which go through the same elements together.
    const int64_t limit = std::max(lanes.Widest() / amount, most / amount / 8);
    const int64_t some = PowerOfTwoDivisor(t.Size(i), limit);
    if (some > 1) other = i, rows = some;
  }
  LaneCosts::Tile tile = lanes.TileBeside(best, amount * rows);
  std::erase_if(tile, [&](const auto& part) { return part.first == other; });
  if (other != kNoAxis) tile.emplace_back(other, rows);
  tile.emplace_back(best, amount);
  Apply(t, tile);
}

// Results, or elements of a reduce inside a reduce, side by side, and a tile of what shares what is
// loaded for them; false: the terms of the reduces are better.
bool VectorizeResults(Tuner& t, LoopSet shared) {
  const LaneCosts lanes(t, shared);
  std::vector<size_t> axes = t.Axes(AxisKind::kGlobal);
  for (size_t i : t.Axes(AxisKind::kReduce)) {
    if (shared == 0 && lanes.HoldsReduce(i)) axes.push_back(i);
  }
  const size_t best = lanes.Cheapest(axes);
  if (best == kNoAxis) return false;
  const BaseAxis& base = t.schedule().base[t.schedule().axes[best].base];
  if (!base.IsStored()) {
    VectorizeInner(t, lanes, best);
    return true;
  }
  std::vector<const UOp*> packed;
  for (size_t n = 0; n < t.accesses().size(); ++n) {
    const UOp* load = t.accesses()[n].node;
    if (lanes.Packs(n, best) && !llvm::is_contained(packed, load)) packed.push_back(load);
  }
  if (!t.Try("vectorize", best, lanes.Along(best))) return false;
  for (const UOp* load : packed) t.Pack(load);
  if (shared != 0) return true;
  const LaneCosts tiled(t, 0);
  const std::vector<size_t> vectors = t.Axes(AxisKind::kVector);
  Apply(t, tiled.TileBeside(vectors.back(), t.Size(vectors.back())));
  return true;
}

// The terms of reduces side by side, and of results as many as leave the sums in registers: what is
// loaded serves several of them.
void TileTerms(Tuner& t) {
  const LaneCosts lanes(t, 0);
  Apply(t, lanes.TileOfTerms());
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    // Around another reduce the lanes would be those of both, multiplied.
    if (last == kNoAxis || lanes.Along(last) == 1 || lanes.HoldsReduce(last)) continue;
    t.Try("unroll", last, lanes.Along(last));
  }
}

// Short loops over terms in one piece; longer ones too where the padding of a window or the address
// is decided in each step, which becomes constant.
void Unroll(Tuner& t) {
  constexpr int64_t kShort = 4, kWindow = 8;
  const LaneCosts lanes(t, 0);
  for (const LaneCosts::Reduce& reduce : lanes.reduces()) {
    const size_t last = lanes.LastAxis(reduce.node);
    if (last == kNoAxis || t.IsSymbolic(last) || lanes.HoldsReduce(last) || t.HasLanes(last))
      continue;
    const size_t base = t.schedule().axes[last].base;
    const bool decides = std::any_of(
        t.accesses().begin(), t.accesses().end(),
        [&](const Access& a) { return !a.is_store() && (a.masked[base] || !t.Stride(a, last)); });
    if (t.Size(last) <= (decides ? kWindow : kShort) && t.schedule().UpcastSize() <= 64) {
      t.Try("unroll", last);
    }
  }
}

// A few results that share a reduce (the window of a pooling that its gradient goes to), which are
// neighbours, in one piece.
void UpcastShort(Tuner& t, LoopSet shared) {
  constexpr int64_t kShort = 4, kMost = 64;
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool is_shared = (shared & LoopBit(t.schedule().axes[i].base)) != 0;
    if (is_shared && !t.IsSymbolic(i) && t.Size(i) <= kShort && !t.HasLanes(i))
      names.push_back(t.schedule().axes[i].name);
  }
  for (const std::string& name : names) {
    const auto axis = static_cast<size_t>(t.schedule().FindAxis(name));
    if (t.schedule().UpcastSize() * t.Size(axis) <= kMost) t.Try("upcast", axis);
  }
}

// So many that every core has its share of them, whatever a group takes.
int64_t EnoughGroups(const Tuner& t) { return int64_t{32} * t.target().compute_units; }

// A group costs some nanoseconds: enough groups, the rest as loops. `shared` axes are left alone.
void Loops(Tuner& t, LoopSet shared = 0) {
  const int64_t enough = EnoughGroups(t);
  std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  std::erase_if(globals,
                [&](size_t i) { return (shared & LoopBit(t.schedule().axes[i].base)) != 0; });
  int64_t items = 1;
  for (size_t i : globals) items *= t.Size(i);
  if (globals.empty() || items <= 4 * enough) return;
  const size_t last = globals.back();
  if (t.IsSymbolic(last)) return;
  const int64_t others = items / t.Size(last);
  if (others >= enough) {
    t.Try("loop", last);
    return;
  }
  const int64_t inner = PowerOfTwoDivisor(t.Size(last), std::max<int64_t>(1, items / enough));
  if (inner > 1) t.Try("loop", last, inner);
}

// How many groups may become one, so that each core has some; `shared` axes become loops.
int64_t SpareGroups(const Tuner& t, LoopSet shared) {
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & LoopBit(t.schedule().axes[i].base)) == 0) groups *= t.Size(i);
  }
  return std::max<int64_t>(1, groups / (2 * t.target().compute_units));
}

// What is left of a vector's axis, and how many vectors of it, at most `most`, a reduce can make
// side by side.
std::pair<size_t, int64_t> Wider(const Tuner& t, LoopSet shared, size_t axis, int64_t most) {
  const LaneCosts lanes(t, shared);
  const bool sums = llvm::any_of(lanes.reduces(), [&](const LaneCosts::Reduce& reduce) {
    return lanes.Varies(reduce.node, axis);
  });
  const int64_t width = t.Size(axis), room = t.target().MaxTile() / width;
  if (!sums) return {kNoAxis, 1};
  const bool stored = t.schedule().base[t.schedule().axes[axis].base].IsStored();
  return lanes.VectorsBeside(axis, width,
                             std::min({most, room, stored ? SpareGroups(t, shared) : most}));
}

// Rows whose results are kept inside the kernel, made side by side where they share what is loaded
// for them, as many as leave their reduces' accumulators in registers, of `terms` lanes each.
// Returns how many there are.
int64_t TileRows(Tuner& t, LoopSet shared, int64_t terms) {
  const int64_t most =
      std::min({int64_t{8}, t.target().MaxAccumulators() / terms, SpareGroups(t, shared)});
  // Two vectors of six rows are loaded with less than one of eight.
  constexpr int64_t kBesideTwo = 6;
  const bool widens = most > kBesideTwo && llvm::any_of(t.Axes(AxisKind::kVector), [&](size_t i) {
                        return Wider(t, shared, i, 2).second == 2;
                      });
  size_t best = kNoAxis;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & LoopBit(t.schedule().axes[i].base)) == 0;
    int64_t rows = t.TileAlong(i, most, PowerOfTwoDivisor(t.Size(i), most));
    if (widens && t.TileAlong(i, kBesideTwo, GreatestDivisor(t.Size(i), kBesideTwo)) == kBesideTwo)
      rows = kBesideTwo;
    const std::pair<size_t, int64_t> score = {t.ServedAlong(i), rows};
    if (!row || t.IsSymbolic(i) || rows == 1 || score.first == 0) continue;
    if (score > best_score) best = i, best_score = score;
  }
  return best != kNoAxis && t.Upcast(best, best_score.second) ? best_score.second : 1;
}

// More vectors of what reduces make in lanes, where it is made for few rows at a time: an addition
// need not wait for the one before.
void WidenVectors(Tuner& t, LoopSet shared, int64_t rows) {
  constexpr int64_t kSums = 12;
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kVector)) names.push_back(t.schedule().axes[i].name);
  for (const std::string& name : names) {
    const auto axis = static_cast<size_t>(t.schedule().FindAxis(name));
    const auto [rest, vectors] = Wider(t, shared, axis, kSums / rows);
    if (vectors > 1) t.Try("upcast", rest, vectors);
  }
}

// Rows that share a reduce: a work-item goes through a row, with the terms of each reduce side by
// side unless its results are.
void TuneRows(Tuner& t, LoopSet shared) {
  VectorizeResults(t, shared);
  const LaneCosts lanes(t, shared);
  NodeSet seen;
  LoopSet staged = 0;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* node = t.schedule().base[n].staged;
    if (!node) continue;
    staged |= LoopBit(n);
    if (seen.Insert(node)) VectorizeStaged(t, node);
  }
  LoopSet vectors = 0;  // base axes that have lanes
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= LoopBit(t.schedule().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  int64_t most_terms = 1;  // of reduces whose results are kept
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis& base = t.schedule().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = PowerOfTwoDivisor(base.max_size, lanes.Widest());
    if ((t.schedule().varies[n] & vectors) != 0 || terms <= 1) continue;
    unrolls.emplace_back(base.name, terms);
    if (t.schedule().varies[n] & staged) most_terms = std::max(most_terms, terms);
  }
  WidenVectors(t, shared, TileRows(t, shared, most_terms));
  // Innermost, as memory is.
  for (const auto& [name, terms] : unrolls) {
    TryNamed(t, "unroll", name, terms);
  }
  Unroll(t);
  UpcastShort(t, shared);
  Loops(t, shared);
  // Inside the loops over rows, so that a row's reduces stay outside of these.
  t.LoopAlong(shared);
}

// All but loops that each store has for itself.
void TuneTogether(Tuner& t) {
  if (t.Axes(AxisKind::kReduce).empty()) {
    VectorizeBest(t);
  } else if (VectorizeResults(t, 0)) {
    Unroll(t);
    if (!t.packed().empty()) return LoopOverPacked(t);
  } else {
    TileTerms(t);
    // Whatever is read lies in rows of terms: a cache has room for them in all of its sets.
    if (LoopInCache(t, EnoughGroups(t))) return;
  }
  Loops(t);
}

}  // namespace

void TuneForCpu(Tuner& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    TuneRows(t, shared);
    return;
  }
  TuneTogether(t);
  DistributeLoops(t);
  OrderGroups(t);
}

}  // namespace tg
