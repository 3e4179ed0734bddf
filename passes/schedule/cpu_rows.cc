// Row fusion on a CPU: a kernel in which some reduce, such as a softmax's sum, is invariant along
// an axis of the results.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/packing.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

// Where vectors may run: along an axis of results or of a staged value, by its name, or, if that is
// empty, along the terms of reduces.
struct Choice {
  const UOp* staged = nullptr;  // null: of the results
  std::vector<std::string> axes;
  size_t chosen = 0;
};

// Whether a staged value with these axes is made of sums.
bool IsMadeOfSums(const VectorAxes& lanes, const loop_nest::AxisList& axes) {
  return llvm::any_of(lanes.reduces(), [&](const UOp* reduce) {
    return llvm::any_of(axes, [&](size_t i) { return lanes.Varies(reduce, i); });
  });
}

// What is chosen for the results and for each staged value. First comes, of axes along which no
// terms are gathered, the one of the most contiguous accesses; and the terms, if there is none.
std::vector<Choice> ChoicesOf(const ScheduleBuilder& t) {
  const VectorAxes lanes(t);
  std::vector<Choice> choices;
  const auto add = [&](const UOp* staged, const loop_nest::AxisList& axes, bool terms) {
    Choice choice = {.staged = staged};
    const std::vector<size_t> ranked = lanes.ByContiguity(axes);
    for (const bool gathers : {false, true}) {
      for (size_t i : ranked) {
        if (lanes.GathersAlong(i) == gathers) choice.axes.push_back(t.nest().axes[i].name);
      }
      if (!gathers && terms) choice.axes.emplace_back();
    }
    if (!choice.axes.empty()) choices.push_back(std::move(choice));
  };
  add(nullptr, t.Axes(AxisKind::kGlobal), true);
  NodeSet seen;
  for (const analysis::BaseAxis& base : t.nest().base) {
    if (!base.staged || !seen.Insert(base.staged)) continue;
    loop_nest::AxisList axes = t.Axes(AxisKind::kStage);
    llvm::erase_if(
        axes, [&](size_t i) { return t.nest().base[t.nest().axes[i].base].staged != base.staged; });
    add(base.staged, axes, IsMadeOfSums(lanes, axes));
  }
  return choices;
}

void Vectorize(ScheduleBuilder& t, const Choice& choice) {
  const std::string& name = choice.axes[choice.chosen];
  const int axis = name.empty() ? -1 : t.nest().FindAxis(name);
  if (axis < 0) return;
  const auto at = static_cast<size_t>(axis);
  const VectorAxes lanes(t);
  const bool sums =
      llvm::any_of(lanes.reduces(), [&](const UOp* reduce) { return lanes.Varies(reduce, at); });
  if (choice.staged && !sums) {
    VectorizeBlocks(t, at);
  } else if (lanes.Along(at) > 1) {
    t.TryBlock<directive::Vectorize>(at, lanes.Along(at));
  }
}

// The number of work-groups that may be merged into one so that each core still has two. Axes in
// `shared` do not count, as they will become loops.
int64_t SpareGroups(const ScheduleBuilder& t, analysis::LoopSet shared) {
  int64_t groups = 1;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((shared & analysis::LoopBit(t.nest().axes[i].base)) == 0) groups *= t.Size(i);
  }
  return std::max<int64_t>(1, groups / (2 * t.target().compute_units));
}

// The part of a vectorized axis that is outside of the vector, and the amount by which to upcast it
// when each work-item computes `rows` rows.
std::pair<size_t, int64_t> Wider(const ScheduleBuilder& t, analysis::LoopSet shared, size_t axis,
                                 int64_t rows) {
  const VectorAxes lanes(t);
  const bool sums =
      llvm::any_of(lanes.reduces(), [&](const UOp* reduce) { return lanes.Varies(reduce, axis); });
  if (!sums) return {kNoAxis, 1};
  const int64_t width = t.Size(axis), most = lanes.MaxAccumulatorVectors(width) / rows;
  const bool is_stored = t.nest().base[t.nest().axes[axis].base].IsStored();
  return lanes.VectorsAlong(axis, width, is_stored ? std::min(most, SpareGroups(t, shared)) : most);
}

// For each of these staged sums with vectorized terms: the name of the innermost staged axis
// without lanes along which the sum varies, if some load does not vary along it, so that sums share
// it. Each name once; names, since directives change the positions of axes.
std::vector<std::string> Columns(const ScheduleBuilder& t,
                                 const std::vector<const UOp*>& in_terms) {
  const VectorAxes lanes(t);
  std::vector<std::string> names;
  for (const UOp* reduce : in_terms) {
    size_t last = kNoAxis;
    for (size_t i : t.Axes(AxisKind::kStage)) {
      if (!t.IsSymbolic(i) && !t.HasLanes(i) && lanes.Varies(reduce, i)) last = i;
    }
    if (last == kNoAxis) continue;
    const std::string& name = t.nest().axes[last].name;
    const bool shares = llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() && t.Stride(a, last) == 0;
    });
    if (shares && !llvm::is_contained(names, name)) names.push_back(name);
  }
  return names;
}

// Staged sums with vectorized terms: how many lanes the terms have, and the names of the axes along
// which such sums share loads (the columns of a register tile).
struct Sums {
  int64_t terms = 1;
  std::vector<std::string> columns;
};

// Upcasts the axis of rows if the rows stage results and share loads, as long as the accumulators
// of their reduces fit into registers. Returns the number of upcast rows.
int64_t TileRows(ScheduleBuilder& t, analysis::LoopSet shared, const Sums& sums) {
  const int64_t most =
      std::min({RowsTogether(t.target()), t.target().MaxAccumulators() / sums.terms,
                SpareGroups(t, shared)});
  size_t best = kNoAxis;
  std::pair<size_t, int64_t> best_score = {0, 1};
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const bool row = (shared & analysis::LoopBit(t.nest().axes[i].base)) == 0;
    const int64_t rows = t.TileAlong(i, most, PowerOfTwoDivisor(t.Size(i), most));
    const std::pair<size_t, int64_t> score = {t.ReuseAlong(i), rows};
    if (!row || t.IsSymbolic(i) || rows == 1 || score.first == 0) continue;
    if (score > best_score) best = i, best_score = score;
  }
  if (best == kNoAxis) return 1;
  const int64_t rows = best_score.second;
  if (t.Size(best) % rows != 0 && !t.Try<directive::PadTo>(best, rows)) return 1;
  return t.Try<directive::Upcast>(best, rows) ? rows : 1;
}

// If a reduce is computed for few rows at a time, upcasts the rest of the vectorized axis, so that
// consecutive additions go to different accumulators. Does the same for the columns of staged sums.
void WidenVectors(ScheduleBuilder& t, analysis::LoopSet shared, const Sums& sums, int64_t rows) {
  std::vector<std::string> names;
  for (size_t i : t.Axes(AxisKind::kVector)) names.push_back(t.nest().axes[i].name);
  for (const std::string& name : names) {
    const auto axis = t.nest().AxisNamed(name);
    const auto [rest, vectors] = Wider(t, shared, axis, rows);
    if (vectors > 1) t.Try<directive::Upcast>(rest, vectors);
  }
  const int64_t side = t.target().tile_side;
  const int64_t most = std::min(side * side, t.target().MaxTile() / sums.terms) / rows;
  for (const std::string& name : sums.columns) {
    const auto axis = t.nest().AxisNamed(name);
    const int64_t columns = GreatestDivisor(t.Size(axis), most);
    if (columns > 1) t.Try<directive::Upcast>(axis, columns);
  }
}

// By how much to unroll a reduce with vectorized terms that is computed for one row at a time: by
// several vectors, so that consecutive additions go to different accumulators. The blocks may
// overlap if that repeats few terms.
int64_t AcrossLatency(const ScheduleBuilder& t, const std::string& axis, int64_t lanes) {
  const auto i = t.nest().AxisNamed(axis);
  const int64_t size = t.Size(i);
  const int64_t most = t.target().LatencyCycles() * lanes;
  for (int64_t terms = std::min(most, directive::Unroll::kMost); terms > lanes; terms /= 2) {
    const bool fits = size % terms == 0 || (t.MayOverlap(i) && t.RepeatsFew(size, terms));
    if (size >= terms && fits) return terms;
  }
  return lanes;
}

// Keeps a staged value in the memory of the output if that is legal. The cache lines of the output
// are then fetched while the value is computed, instead of all at once when the results are stored.
void StageInOutput(ScheduleBuilder& t) {
  for (size_t i = t.nest().axes.size(); i-- > 0;) {
    const bool staged = t.nest().base[t.nest().axes[i].base].staged != nullptr;
    if (staged && t.StageInOutput(i)) return;
  }
}

// Completes a schedule of rows whose vectors are chosen.
void ScheduleRows(ScheduleBuilder& t, analysis::LoopSet shared,
                  const std::vector<Choice>& choices) {
  for (const Choice& choice : choices) Vectorize(t, choice);
  const VectorAxes lanes(t);
  NodeSet seen;
  analysis::LoopSet staged = 0;
  for (size_t n = 0; n < t.nest().base.size(); ++n) {
    const UOp* node = t.nest().base[n].staged;
    if (!node) continue;
    staged |= analysis::LoopBit(n);
    seen.Insert(node);
  }
  analysis::LoopSet vectors = 0;  // base axes that are vectorized
  for (size_t i : t.Axes(AxisKind::kVector)) vectors |= analysis::LoopBit(t.nest().axes[i].base);
  std::vector<std::pair<std::string, int64_t>> unrolls;
  Sums sums;
  std::vector<const UOp*> in_terms;  // reduces whose results are staged
  for (size_t n = t.nest().base.size(); n-- > 0;) {
    const analysis::BaseAxis& base = t.nest().base[n];
    if (!t.ReduceOf(base) || !seen.Insert(base.reduce) || base.size.is_symbolic()) continue;
    const int64_t terms = t.LanesAlong(t.nest().AxisNamed(base.name), lanes.Widest());
    if ((t.nest().varies[n] & vectors) != 0 || terms <= 1) continue;
    unrolls.emplace_back(base.name, terms);
    if ((t.nest().varies[n] & staged) == 0) continue;
    sums.terms = std::max(sums.terms, terms);
    in_terms.push_back(base.reduce);
  }
  sums.columns = Columns(t, in_terms);
  const int64_t rows = TileRows(t, shared, sums);
  WidenVectors(t, shared, sums, rows);
  // The innermost axis is unrolled: it is the contiguous one.
  for (const auto& [name, terms] : unrolls) {
    t.TryBlock<directive::Unroll>(t.nest().AxisNamed(name),
                                  rows > 1 ? terms : AcrossLatency(t, name, terms));
  }
  UnrollShort(t);
  if (!LoopOverStaged(t, shared)) LoopOverRest(t, shared);
  // The loops along the axes `shared` become the innermost ones, so that the reduces of a row are
  // invariant in them.
  t.LoopAlong(shared);
  if (rows == 1) StageInOutput(t);
}

}  // namespace

void ProposeCpuRows(ScheduleBuilder& t, Proposals& to) {
  const analysis::LoopSet shared = t.SharedAlong();
  if (!shared) return;
  const ScheduleBuilder::State plain = t.Save();
  std::vector<Choice> choices = ChoicesOf(t);
  const auto propose = [&] {
    ScheduleRows(t, shared, choices);
    to.Add();
    const bool is_best = to.IsBest();
    t.Restore(plain);
    return is_best;
  };
  propose();
  // One choice after the other, given the best of those before.
  for (Choice& choice : choices) {
    size_t best = choice.chosen;
    for (choice.chosen = 1; choice.chosen < choice.axes.size(); ++choice.chosen) {
      if (propose()) best = choice.chosen;
    }
    choice.chosen = best;
  }
}

}  // namespace tg::schedule
