#include "passes/schedule/vectorization_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
namespace {

// For each lane of a vector: whether a predicate may change between this lane and the previous one.
// A boundary from `first` to `last` may be at any of these lanes.
std::vector<bool> BoundaryLanes(const analysis::MaskBoundaries& boundaries, int64_t lanes) {
  std::vector<bool> cut(static_cast<size_t>(lanes), boundaries.anywhere);
  for (const analysis::MaskBoundary& e : boundaries.at) {
    for (int64_t i = e.first; i <= std::min(e.last, e.first + lanes - 1); ++i) {
      cut[static_cast<size_t>(i % lanes)] = true;
    }
  }
  cut[0] = false;
  return cut;
}

// The cost of an access per element, for vectors of `lanes` elements with this stride and with
// predicates that change at `boundaries`. `line`: elements in a cache line.
double AccessCost(std::optional<int64_t> stride, const analysis::MaskBoundaries& boundaries,
                  int64_t lanes, int64_t line, bool is_store, const passes::Target& target) {
  // A lane that is accessed by itself is inserted into the vector, and its address or predicate is
  // computed. If its cache line is fetched for it alone, that line counts too, and after a store
  // once more as it is written back.
  const double insert = target.lane_instructions, predicate = target.lane_instructions;
  const double far = insert + (is_store ? target.write_traffic : 1);
  const auto all = static_cast<double>(lanes);
  if (!stride) return insert + predicate;
  // A value that all lanes share costs half a load: neighbouring terms share its cache line, and a
  // multiply-add may read it directly from memory.
  if (stride == 0) return 1 / all / (is_store ? 1 : 2);
  const std::vector<bool> cut = BoundaryLanes(boundaries, lanes);
  double pieces = 0, decided = 0;
  for (int64_t i = 0; i < lanes;) {
    int64_t run = 1;
    while (i + run < lanes && !cut[static_cast<size_t>(i + run)]) ++run;
    pieces += std::popcount(static_cast<uint64_t>(run));  // loads are powers of two
    decided += i > 0;
    i += run;
  }
  if (stride != 1) pieces = all * (std::abs(*stride) > line ? far : insert);
  return (pieces + predicate * decided) / all;
}

int64_t WidestOf(const ScheduleBuilder& t) {
  int64_t bytes = 1;
  for (const analysis::Access& a : t.accesses()) {
    bytes = std::max(bytes, ByteSize(a.node->src(0)->dtype.scalar()));
  }
  return std::max<int64_t>(1, t.target().alu_width / bytes);
}

}  // namespace

int64_t VectorizationCost::Along(size_t axis) const { return t_.LanesAlong(axis, Widest()); }

double VectorizationCost::ElementsOfVector(size_t axis) const {
  if (axis == kNoAxis) return 1;
  const int64_t size = t_.Size(axis), lanes = Along(axis);
  return static_cast<double>(size) / static_cast<double>(CeilDiv(size, lanes));
}

VectorizationCost::VectorizationCost(const ScheduleBuilder& builder, analysis::LoopSet shared)
    : t_(builder), shared_(shared), widest_(WidestOf(builder)) {
  for (const analysis::BaseAxis& b : t_.nest().base) {
    const UOp* node = t_.ReduceOf(b);
    if (node && !Find(node)) reduces_.push_back({node, 0, 0});
  }
  for (Reduce& r : reduces_) {
    r.sums = Sums(r.node);
    r.terms = r.sums;
    for (const analysis::BaseAxis& b : t_.nest().base) {
      if (b.reduce == r.node) r.terms *= static_cast<double>(b.max_size);
    }
  }
  for (const analysis::Access& a : t_.accesses()) {
    const Reduce* of = nullptr;
    for (size_t n = 0; n < t_.nest().base.size(); ++n) {
      const Reduce* r = a.stride[n] == 0 ? nullptr : Find(t_.ReduceOf(t_.nest().base[n]));
      if (r && (!of || r->terms > of->terms)) of = r;
    }
    reduce_of_.push_back(of ? of->node : nullptr);
  }
}

const VectorizationCost::Reduce* VectorizationCost::Find(const UOp* node) const {
  const auto r = std::find_if(reduces_.begin(), reduces_.end(),
                              [&](const Reduce& r) { return r.node == node; });
  return r == reduces_.end() ? nullptr : &*r;
}

size_t VectorizationCost::LastAxis(const UOp* reduce) const {
  size_t last = kNoAxis;
  for (size_t i : t_.Axes(AxisKind::kReduce)) {
    if (t_.nest().base[t_.nest().axes[i].base].reduce == reduce) last = i;
  }
  return last;
}

bool VectorizationCost::IsShort(size_t axis) const {
  const passes::Target& target = t_.target();
  if (axis == kNoAxis || t_.IsSymbolic(axis) || HoldsReduce(axis) || t_.HasLanes(axis))
    return false;
  const size_t base = t_.nest().axes[axis].base;
  const bool decides = llvm::any_of(t_.accesses(), [&](const analysis::Access& a) {
    return !a.is_store() && (a.masked[base] || !t_.Stride(a, axis));
  });
  return t_.Size(axis) <= (decides ? target.window : target.short_terms);
}

double VectorizationCost::Sums(const UOp* reduce) const {
  const loop_nest::LoopNest& s = t_.nest();
  analysis::LoopSet around = 0;
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (s.base[n].reduce == reduce) around |= s.varies[n];
  }
  double sums = 1;
  for (size_t n = 0; n < s.base.size(); ++n) {
    const auto size = static_cast<double>(s.base[n].max_size);
    const bool varies = (around & analysis::LoopBit(n)) != 0;
    const bool repeats = s.base[n].staged || t_.ReduceOf(s.base[n]);
    if (varies && repeats && s.base[n].reduce != reduce) sums *= size;
    if (!varies && (shared_ & analysis::LoopBit(n)) != 0) sums /= size;
  }
  return sums;
}

double VectorizationCost::CostAlong(const analysis::Access& a, size_t axis) const {
  const int64_t lanes = axis == kNoAxis ? 1 : Along(axis);
  if (lanes == 1) return a.is_gated ? 2 : 1;
  const int64_t line = t_.target().cache_line / ByteSize(a.node->src(0)->dtype.scalar());
  analysis::MaskBoundaries boundaries = a.boundaries[t_.nest().axes[axis].base];
  // The blocks of an axis that overlaps start anywhere.
  boundaries.anywhere |= t_.Size(axis) % lanes != 0 && !boundaries.at.empty();
  const std::optional<int64_t> stride =
      t_.IsInterleaved(a, axis) ? std::optional<int64_t>(1) : t_.Stride(a, axis);
  return AccessCost(stride, boundaries, lanes, line, a.is_store(), t_.target()) *
         static_cast<double>(lanes) / ElementsOfVector(axis);
}

bool VectorizationCost::VariesOver(const UOp* reduce, size_t base) const {
  for (size_t n = 0; n < t_.nest().base.size(); ++n) {
    if (t_.nest().base[n].reduce != reduce) continue;
    if (n == base || (t_.nest().varies[n] & analysis::LoopBit(base)) != 0) return true;
  }
  return false;
}

bool VectorizationCost::HoldsReduce(size_t axis) const {
  const UOp* own = t_.nest().base[t_.nest().axes[axis].base].reduce;
  return std::any_of(reduces_.begin(), reduces_.end(),
                     [&](const Reduce& r) { return r.node != own && Varies(r.node, axis); });
}

bool VectorizationCost::GathersAlong(size_t axis) const {
  for (size_t i = 0; i < t_.accesses().size(); ++i) {
    const auto stride = t_.Stride(t_.accesses()[i], axis);
    if (reduce_of_[i] && stride != 0 && stride != 1) return true;
  }
  return false;
}

double VectorizationCost::ReuseIn(const analysis::Access& a, const RegisterTile& tile) const {
  double served = 1;
  for (const auto& [axis, rows] : tile) {
    if (!a.is_store() && t_.Stride(a, axis) == 0) served *= static_cast<double>(rows);
  }
  return served;
}

double VectorizationCost::OfReduce(const Reduce& reduce, size_t along, bool adds_up,
                                   const RegisterTile& tile) const {
  const double lanes = ElementsOfVector(along);
  // If the lanes are terms, they are added up at the end, in log2(lanes) steps.
  double cost = reduce.terms / lanes + (adds_up ? std::log2(lanes) * reduce.sums : 0);
  // The cost of one iteration of the loop over terms, shared by a whole tile: address computations,
  // a branch, and the latency of another cache line.
  const double step = t_.target().step_instructions;
  double rows = 1;
  for (const auto& part : tile) rows *= static_cast<double>(part.second);
  if (shared_ == 0) cost += step * reduce.terms / lanes / rows;
  for (size_t i = 0; i < reduce_of_.size(); ++i) {
    if (reduce_of_[i] != reduce.node) continue;
    const analysis::Access& a = t_.accesses()[i];
    cost += reduce.terms * CostAlong(a, along) / ReuseIn(a, tile);
  }
  return cost;
}

double VectorizationCost::Of(size_t axis, const NodeSet* only) const {
  double cost = 0;
  if (!only) {
    const bool stored = axis != kNoAxis && t_.nest().base[t_.nest().axes[axis].base].IsStored();
    // The operations on the finished reduces.
    cost += stored ? 1.0 / ElementsOfVector(axis) : 1;
    for (size_t i = 0; i < reduce_of_.size(); ++i) {
      if (!reduce_of_[i]) cost += CostAlong(t_.accesses()[i], stored ? axis : kNoAxis);
    }
  }
  // Row fusion chooses its register tiles elsewhere, so that none is assumed here.
  const bool tiled = shared_ == 0 && !only;
  const RegisterTile of_results =
      tiled && axis != kNoAxis ? TileOfResults(axis, Along(axis)) : RegisterTile();
  const RegisterTile of_terms =
      tiled && axis == kNoAxis ? PlainTileOfTerms(t_.target().MaxAccumulators()) : RegisterTile();
  for (const Reduce& r : reduces_) {
    if (only && !only->Contains(r.node)) continue;
    if (axis != kNoAxis && Varies(r.node, axis)) {
      cost += OfReduce(r, axis, false, of_results);
      continue;
    }
    double least = OfReduce(r, LastAxis(r.node), true, of_terms);
    // The axis of a staged value that contains the reduce may be vectorized instead.
    for (size_t i : t_.Axes(AxisKind::kStage)) {
      if (!only && Varies(r.node, i)) least = std::min(least, OfReduce(r, i, false, {}));
    }
    cost += least;
  }
  return cost;
}

size_t VectorizationCost::Cheapest(const loop_nest::AxisList& axes, const NodeSet* only) const {
  size_t best = kNoAxis;
  double least = Of(kNoAxis, only);
  if (Candidates* candidates = t_.candidates()) {
    candidates->AddChoice("vectors of terms", least, kUnit);
  }
  for (size_t i : axes) {
    if (Along(i) == 1) continue;
    const double cost = Of(i, only);
    if (Candidates* candidates = t_.candidates()) {
      candidates->AddChoice("vectors along " + t_.nest().axes[i].name, cost, kUnit);
    }
    if (cost <= least) best = i, least = cost;
  }
  return best;
}

}  // namespace tg::schedule
