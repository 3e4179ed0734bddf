// Masked accesses: consecutive elements, each under its own gate. Along an axis that is padded to
// whole vectors, the gate of lane l is `i + l < n`; at the edges of a window also `0 < i + l`. As a
// vector it is a comparison of i with constants.
#include <algorithm>
#include <bit>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "passes/devectorize/memory_cutter.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {
namespace {

// The clauses of a gate, each once; none if it always holds.
llvm::SmallVector<const UOp*, 4> ClausesOf(const UOp* gate) {
  llvm::SmallVector<const UOp*, 4> clauses, stack;
  if (gate) stack.push_back(gate);
  while (!stack.empty()) {
    const UOp* u = stack.pop_back_val();
    if (u->op == Op::kAnd) {
      stack.append(u->srcs().begin(), u->srcs().end());
    } else if (!llvm::is_contained(clauses, u)) {
      clauses.push_back(u);
    }
  }
  return clauses;
}

// The accesses of at most `widest` elements, a power of two, that move all runs.
size_t PiecesOfRuns(std::span<const ElementRun> runs, size_t widest) {
  size_t pieces = 0;
  for (const ElementRun& run : runs) {
    pieces += run.size() / widest + static_cast<size_t>(std::popcount(run.size() % widest));
  }
  return pieces;
}

// Each `size` neighbouring lanes as a run, if their elements are neighbours too. The lanes of
// different windows do not share elements then: loading these again costs less than moving them
// from lane to lane. Empty if the lanes are not such vectors.
std::vector<ElementRun> RunsOfVectors(std::span<const LaneAccess> lanes, size_t size) {
  std::vector<ElementRun> runs;
  if (size < 2 || lanes.size() % size != 0) return runs;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const LaneAccess& first = lanes[i / size * size];
    if (i % size == 0) runs.emplace_back(first.address, nullptr);
    if (lanes[i].address.terms != first.address.terms ||
        lanes[i].address.constant != first.address.constant + static_cast<int64_t>(i % size)) {
      return {};
    }
    runs.back().Add(lanes[i].lane);
    runs.back().gates.push_back(lanes[i].gate);
  }
  return runs;
}

// Comparisons, one for each of some elements, whose sides differ by constants: element k's holds
// where `terms` < bound[k].
struct Comparison {
  AffineExpr::Terms terms;
  std::vector<int64_t> bound;
};

constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();

// Splits gates, by element, into clauses that are the same for all elements and comparisons.
// Returns false if a clause is neither.
bool SplitGates(AffineBuilder& linear, std::span<const UOp* const> gates,
                llvm::SmallVector<const UOp*, 4>& same, std::vector<Comparison>& different) {
  NodeMap<size_t> times;
  for (const UOp* gate : gates) {
    for (const UOp* clause : ClausesOf(gate)) ++times[clause];
  }
  for (size_t k = 0; k < gates.size(); ++k) {
    for (const UOp* clause : ClausesOf(gates[k])) {
      if (times[clause] >= gates.size()) {
        if (!llvm::is_contained(same, clause)) same.push_back(clause);
        continue;
      }
      const AffineExpr* form = linear.ClauseOf(clause);
      if (!form) return false;
      auto to = llvm::find_if(different, [&](const auto& c) { return c.terms == form->terms; });
      if (to == different.end()) {
        different.push_back({form->terms, std::vector<int64_t>(gates.size(), kAlways)});
        to = different.end() - 1;
      }
      to->bound[k] = std::min(to->bound[k], -form->constant);
    }
  }
  return true;
}

}  // namespace

bool MemoryCutter::MayBeMask(std::span<const UOp* const> gates) {
  llvm::SmallVector<const UOp*, 4> same;
  std::vector<Comparison> different;
  if (!SplitGates(index_.linear(), gates, same, different)) return false;
  return llvm::all_of(different, [&](const Comparison& c) {
    const analysis::Interval bounds = index_.linear().BoundsOf({c.terms, 0});
    return bounds.lo > INT64_MIN / 2 && bounds.hi < INT64_MAX / 2;
  });
}

std::vector<ElementRun> MemoryCutter::FewerUnderMasks(const UOp* access,
                                                      std::span<const LaneAccess> lanes,
                                                      std::vector<ElementRun> runs) {
  const UOp* address = access->src(0);
  const bool is_gated = address->num_srcs > 2 && address->dtype.space() != AddrSpace::kReg;
  if (!target_.masked_access || !is_gated || StrideOf(access) != 1) return runs;
  const auto widest = static_cast<size_t>(MemoryLanes(target_, address->dtype.scalar()));
  const bool is_whole = lanes.size() == static_cast<size_t>(AccessType(access).lanes());
  std::vector<ElementRun> masked =
      is_whole ? RunsOfVectors(lanes, std::min(widest, std::bit_floor(lanes.size())))
               : std::vector<ElementRun>();
  if (masked.empty()) masked = RunsUnderMasks(lanes);
  // A run that begins where its gate does is often aligned, and needs no mask.
  if (2 * PiecesOfRuns(masked, widest) > PiecesOfRuns(runs, widest)) return runs;
  for (const ElementRun& run : masked) {
    // Of a store, one lane gives each element its value.
    for (size_t i = 0; access->op == Op::kStore && i < run.size(); ++i) {
      if (run.LanesOf(i).size() != 1) return runs;
    }
    if (!MayBeMask(run.gates)) return runs;
  }
  return masked;
}

const UOp* MemoryCutter::GateOf(const ElementRun& run, size_t first, size_t size) {
  if (run.gates.empty()) return run.gate;
  const size_t own = std::min(size, run.size() - first);
  const auto gates = std::span<const UOp* const>(run.gates).subspan(first, own);
  const bool is_one = llvm::all_of(gates, [&](const UOp* g) { return g == gates[0]; });
  if (is_one && own == size) return gates[0];
  llvm::SmallVector<const UOp*, 4> same;
  std::vector<Comparison> different;
  SplitGates(index_.linear(), gates, same, different);
  const auto n = static_cast<int>(size);
  const UOp* mask = nullptr;
  for (const UOp* clause : same) mask = mask ? b_.And(mask, clause) : clause;
  if (mask) mask = b_.Splat(types_.Typed(mask), n);
  for (Comparison& c : different) {
    const int64_t beyond = index_.linear().BoundsOf({c.terms, 0}).hi + 1;
    for (int64_t& bound : c.bound) bound = std::min(bound, beyond);
    c.bound.resize(size, beyond);
    const UOp* terms = b_.Splat(index_.linear().Build({c.terms, 0}), n);
    const UOp* less = b_.Lt(terms, b_.VConst(DType(Scalar::kIndex, n), c.bound));
    mask = mask ? b_.And(mask, less) : less;
  }
  if (own == size) return mask;
  std::vector<int64_t> exists(size, 0);
  std::fill_n(exists.begin(), own, 1);
  const UOp* elements = b_.VConst(DType(Scalar::kBool, n), exists);
  return mask ? b_.And(mask, elements) : elements;
}

}  // namespace tg::devectorize
