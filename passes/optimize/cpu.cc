// The heuristic for OpenCL on a CPU: one work-item a group, vectors along the axis that memory is
// contiguous in, a register tile where operands are reused, and loops inside so that groups are
// few.
#include <algorithm>
#include <cstdlib>

#include "passes/optimize/heuristic.h"

namespace tg {
namespace {

int64_t PowerOfTwoDivisor(int64_t n, int64_t limit) {
  int64_t d = 1;
  while (d * 2 <= limit && n % (d * 2) == 0) d *= 2;
  return d;
}

int64_t WidestLanes(const Tuner& t) {
  int64_t bytes = 1;
  for (const Access& a : t.accesses()) {
    bytes = std::max(bytes, ByteSize(a.node->src(0)->dtype.scalar()));
  }
  return std::max<int64_t>(1, t.target().alu_width / bytes);
}

// How well vectors along this axis read and write: every access contiguous or repeated. Loads of a
// reduce are made for each of its terms, from as many cache lines as there are lanes where they are
// far apart.
int Score(const Tuner& t, size_t axis) {
  int score = 0;
  const bool reduces = !t.Axes(AxisKind::kReduce).empty();
  const bool staged = t.schedule().axes[axis].kind == AxisKind::kStage;
  if (staged) score += t.IsInnermost(axis) ? 3 : -6;  // its own store
  for (const Access& a : t.accesses()) {
    const auto stride = t.Stride(a, axis);
    if (staged && a.is_store()) continue;  // it does not go through what is stored
    if (stride == 1)
      score += a.is_store() ? 3 : 2;
    else if (stride != 0)
      score -= a.is_store() ? 6 : reduces && std::abs(stride.value_or(0)) > 16 ? 4 : 2;
    else if (a.is_store())
      score -= 6;
  }
  return score;
}

// Returns whether results along an axis of this kind, of node `staged` if that is given, stand side
// by side in vectors.
bool Vectorize(Tuner& t, AxisKind kind = AxisKind::kGlobal, const UOp* staged = nullptr) {
  size_t best = SIZE_MAX;
  int best_score = 0;
  for (size_t i : t.Axes(kind)) {
    if (t.IsSymbolic(i) || t.Size(i) % 2 != 0) continue;
    if (t.schedule().base[t.schedule().axes[i].base].staged != staged) continue;
    const int score = Score(t, i);
    if (score > best_score) best = i, best_score = score;
  }
  if (best == SIZE_MAX) return false;
  return t.Try("vectorize", best, PowerOfTwoDivisor(t.Size(best), WidestLanes(t)));
}

// Results along another axis share what is loaded: rows of a product, channels of a convolution.
void Tile(Tuner& t) {
  const std::vector<size_t> vectors = t.Axes(AxisKind::kVector);
  if (vectors.empty() || t.Axes(AxisKind::kReduce).empty()) return;
  size_t best = SIZE_MAX;
  int64_t best_rows = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.IsSymbolic(i) || t.schedule().axes[i].base == t.schedule().axes[vectors[0]].base)
      continue;
    const bool reused = std::any_of(t.accesses().begin(), t.accesses().end(), [&](const Access& a) {
      return !a.is_store() && t.Stride(a, i) == 0 && t.Stride(a, vectors[0]) != 0;
    });
    const int64_t rows = PowerOfTwoDivisor(t.Size(i), 8);
    if (reused && rows > best_rows) best = i, best_rows = rows;
  }
  if (best != SIZE_MAX) t.Try("upcast", best, best_rows);
}

// A reduce whose results do not vectorise: its terms side by side.
void Unroll(Tuner& t, bool vectors) {
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
  if (reduces.empty()) return;
  const size_t last = reduces.back();
  if (t.IsSymbolic(last)) return;
  if (!vectors) {
    const int64_t n = PowerOfTwoDivisor(t.Size(last), WidestLanes(t));
    if (n > 1) t.Try("unroll", last, n);
  } else if (t.Size(last) <= 4 && t.schedule().UpcastSize() <= 64) {
    t.Try("unroll", last);
  }
}

// A group costs some nanoseconds: enough groups for every core to share evenly, the rest as loops.
// `shared` axes are left alone.
void Loops(Tuner& t, LoopSet shared = 0) {
  const int64_t enough = int64_t{32} * t.target().compute_units;
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

// Rows whose results are kept inside the kernel, made side by side where they share what is loaded
// for them, as many as leave their reduces' accumulators in registers, of `terms` lanes each.
void TileRows(Tuner& t, LoopSet shared, int64_t terms) {
  const int64_t most = std::min<int64_t>(8, t.target().alu_width / terms);
  size_t best = SIZE_MAX;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & LoopBit(t.schedule().axes[i].base)) == 0;
    const int64_t rows = PowerOfTwoDivisor(t.Size(i), most);
    const std::pair<size_t, int64_t> score = {t.ServedAlong(i), rows};
    if (!row || t.IsSymbolic(i) || rows == 1 || score.first == 0) continue;
    if (score > best_score) best = i, best_score = score;
  }
  if (best != SIZE_MAX) t.Try("upcast", best, best_score.second);
}

// Rows that share a reduce: a work-item goes through a row, with the terms of each reduce side by
// side unless its results are.
void TuneRows(Tuner& t, LoopSet shared) {
  Vectorize(t);
  NodeSet seen;
  LoopSet staged = 0;
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* node = t.schedule().base[n].staged;
    if (!node) continue;
    staged |= LoopBit(n);
    if (seen.Insert(node)) Vectorize(t, AxisKind::kStage, node);
  }
  LoopSet vectors = 0;  // base axes that have lanes
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= LoopBit(t.schedule().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  int64_t most_terms = 1;  // of reduces whose results are kept
  for (size_t n = t.schedule().base.size(); n-- > 0;) {
    const BaseAxis& base = t.schedule().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = PowerOfTwoDivisor(base.max_size, WidestLanes(t));
    if ((t.schedule().varies[n] & vectors) != 0 || terms <= 1) continue;
    unrolls.emplace_back(base.name, terms);
    if (t.schedule().varies[n] & staged) most_terms = std::max(most_terms, terms);
  }
  TileRows(t, shared, most_terms);
  // Innermost, as memory is.
  for (const auto& [name, terms] : unrolls) {
    t.Try("unroll", static_cast<size_t>(t.schedule().FindAxis(name)), terms);
  }
  Loops(t, shared);
  // Inside the loops over rows, so that a row's reduces stay outside of these.
  t.LoopAlong(shared);
}

}  // namespace

void TuneForCpu(Tuner& t) {
  if (const LoopSet shared = t.SharedAlong()) {
    TuneRows(t, shared);
    return;
  }
  const bool vectors = Vectorize(t);
  Tile(t);
  Unroll(t, vectors);
  Loops(t);
}

}  // namespace tg
