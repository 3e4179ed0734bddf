#include "passes/schedule/contraction_blocking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::schedule {
namespace {

cost::BlockedContraction ContractionOf(const loop_nest::LoopNest& s, const Roles& roles,
                                       const std::vector<Product>& products, double epilogue,
                                       const passes::Target& target, DType type) {
  cost::BlockedContraction out;
  const auto size = [&](size_t n) { return s.base[n].max_size; };
  out.bytes = ByteSize(type.scalar());
  out.vector = target.alu_width / out.bytes;
  out.epilogue = epilogue;
  for (size_t n : roles.batch) out.batch *= size(n);
  for (size_t n : roles.rows) out.others *= size(n);
  for (size_t n : roles.lanes) out.images *= size(n);
  const auto steps = [&](size_t n) {
    return s.base[n].size.is_symbolic() ? std::max<int64_t>(1, size(n)) : 1;
  };
  for (size_t n : roles.batch) out.symbolic_groups *= steps(n);
  for (size_t n : roles.rows) out.symbolic_groups *= n == roles.rows.back() ? 1 : steps(n);
  out.rows = size(roles.rows.back());
  out.others /= out.rows;
  // A group has one line of rows where their number is symbolic.
  if (roles.rows.size() > 1 && !s.base[roles.rows[roles.rows.size() - 2]].size.is_symbolic()) {
    out.row_lines = size(roles.rows[roles.rows.size() - 2]);
    out.others /= out.row_lines;
  }
  out.result_stride = roles.result_stride;
  out.adjacent = size(roles.lanes.back());
  out.images /= out.adjacent;
  if (roles.lanes.size() > 1) {
    out.lines = size(roles.lanes[roles.lanes.size() - 2]);
    out.images /= out.lines;
  }
  for (const Product& product : products) {
    cost::BlockedSum& sum = out.sums.emplace_back();
    for (size_t n : product.terms) sum.terms *= size(n);
    sum.outer_terms = size(product.terms.front());
    const auto traversal = [&](const std::vector<size_t>& axes, const OperandAccess& operand) {
      cost::Traversal t;
      const std::vector<int64_t>& of = operand.strides;
      t.is_indirect = operand.is_indirect;
      t.tiled = of[axes.back()];
      if (axes.size() > 1) t.line = of[axes[axes.size() - 2]];
      t.outer_term = of[product.terms.front()];
      cost::StridedLoops inner;
      for (size_t n : product.terms) {
        if (n != product.terms.front()) inner.emplace_back(of[n], size(n));
      }
      t.SetInnerTerms(std::move(inner));
      return t;
    };
    sum.lanes = traversal(roles.lanes, product.lanes);
    sum.lanes.in_lanes = true;
    sum.rows = traversal(roles.rows, product.rows);
  }
  return out;
}

class Blocker {
 public:
  Blocker(const loop_nest::LoopNest& s, const Roles& roles, const std::vector<Product>& products,
          double epilogue, const passes::Target& target, DType type, BlockingObserver observer)
      : cost_(ContractionOf(s, roles, products, epilogue, target, type), target),
        of_(cost_.of()),
        target_(target),
        observer_(observer),
        may_slice_(products.size() == 1 && s.accumulates[products[0].terms.front()]),
        symbolic_rows_(roles.symbolic_rows),
        symbolic_groups_(roles.symbolic_rows || of_.symbolic_groups > 1),
        few_rows_(of_.rows * of_.row_lines * of_.others < of_.vector),
        line_divisors_(Divisors(of_.lines)),
        row_line_divisors_(Divisors(of_.row_lines)) {}

  std::vector<cost::Blocking> Best(size_t count, double slack) const {
    // Copying an element takes at least as long as the multiply-add of a vector, so that each
    // copied element must be used often enough.
    if (of_.vector < 2 || (few_rows_ && !symbolic_groups_) ||
        of_.adjacent * of_.lines * of_.images < of_.vector || of_.adjacent < of_.vector / 2) {
      return {};
    }
    for (const cost::BlockedSum& sum : of_.sums) {
      if (sum.terms < target_.short_terms) return {};
    }
    std::vector<cost::Blocking> best;
    for (const cost::Blocking& tile : Tiles()) {
      const double limit = best.empty() ? std::numeric_limits<double>::infinity()
                           : best.size() < count
                               ? best.front().seconds * slack
                               : std::min(best.front().seconds * slack, best.back().seconds);
      const std::optional<cost::Blocking> of_tile = BestOfTile(tile, limit);
      if (!of_tile) continue;
      best.insert(llvm::upper_bound(best, *of_tile, IsFaster), *of_tile);
      while (best.size() > count || best.back().seconds > best.front().seconds * slack) {
        best.pop_back();
      }
    }
    return best;
  }

 private:
  static bool IsFaster(const cost::Blocking& a, const cost::Blocking& b) {
    return a.seconds < b.seconds;
  }

  // The best blocking with the register tile in `b`, if it takes less than `limit` seconds.
  std::optional<cost::Blocking> BestOfTile(cost::Blocking b, double limit) const {
    cost::Blocking best;
    best.seconds = limit;
    for (int64_t parts = 1; parts <= target_.groups_per_unit * target_.compute_units; parts *= 2) {
      for (b.row_groups = 1; b.row_groups <= (symbolic_rows_ ? 1 : parts); b.row_groups *= 2) {
        b.lane_groups = parts / b.row_groups;
        if (cost_.ComputeSeconds(b) < best.seconds) Improve(best, b);
      }
    }
    return best.seconds < limit ? std::optional(best) : std::nullopt;
  }

  // Given the register tile and the partition into groups in `b`, tries all other sizes of a
  // blocking, and updates `best`.
  void Improve(cost::Blocking& best, cost::Blocking b) const {
    // A group may have few rows where their number is symbolic, so that a copy of the lanes'
    // operand would be read few times.
    for (const bool in_place : {true, false}) {
      if (in_place ? !symbolic_groups_ : few_rows_) continue;
      b.lanes_in_place = in_place;
      ImproveLanes(best, b);
    }
  }

  void ImproveLanes(cost::Blocking& best, cost::Blocking b) const {
    for (const int64_t lines : line_divisors_) {
      b.lines = lines;
      for (const bool slices : {false, true}) {
        if (slices && !may_slice_) continue;
        if (const std::optional<cost::Panels> panels = cost_.CutIntoPanels(b, slices)) {
          ImproveRows(best, b, *panels);
        }
      }
    }
  }

  // The same, given all that concerns the lanes.
  void ImproveRows(cost::Blocking& best, cost::Blocking b, const cost::Panels& panels) const {
    using enum cost::Blocking::RowCopy;
    for (const int64_t row_lines : row_line_divisors_) {
      b.row_lines = row_lines;
      if (!observer_ && cost_.Seconds(b, panels, {0, 0}) >= best.seconds) continue;
      for (const auto copy : {kNone, kTile, kLine, kGroup}) {
        // If a group has one line, kGroup is the same as kLine.
        if ((copy == kGroup && row_lines == 1) || (symbolic_rows_ && copy != kTile)) continue;
        b.row_copy = copy;
        b.seconds = cost_.Seconds(b, panels, cost_.ReadsOfRows(b));
        if (!std::isfinite(b.seconds)) continue;
        if (observer_) observer_(b);
        if (b.seconds < best.seconds) best = b;
      }
    }
  }

  // Candidates for the register tile, the best first. A tile is better if padding wastes fewer of
  // its multiply-adds, and if these stall less: each waits for the previous one in the same
  // accumulator, or for its loads.
  std::vector<cost::Blocking> Tiles() const {
    std::vector<cost::Blocking> tiles;
    // Half of the registers hold accumulators. The other half holds operands; each element of a row
    // takes a whole register, broadcast. The exception are targets where half of the registers
    // cannot hide the latency of an addition.
    const int64_t registers = std::max(target_.accumulator_registers, target_.fma_accumulators);
    for (int64_t vectors = 1; vectors <= target_.tile_side; ++vectors) {
      for (int64_t rows = 2; rows * vectors <= registers && rows <= directive::Upcast::kMost;
           ++rows) {
        cost::Blocking b;
        b.vectors = vectors, b.rows = rows;
        const auto done = static_cast<double>(RoundUp(of_.rows, rows) *
                                              RoundUp(of_.adjacent, vectors * of_.vector));
        b.seconds = done * cost_.Stall(b);
        tiles.push_back(b);
      }
    }
    llvm::stable_sort(tiles, [](const cost::Blocking& a, const cost::Blocking& b) {
      return a.seconds < b.seconds;
    });
    return tiles;
  }

  static std::vector<int64_t> Divisors(int64_t n) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) out.push_back(d);
    }
    return out;
  }

  const cost::BlockingCost cost_;
  const cost::BlockedContraction& of_;
  const passes::Target& target_;
  const BlockingObserver observer_;
  const bool may_slice_, symbolic_rows_, symbolic_groups_;
  const bool few_rows_;  // fewer than copies of the lanes' operand need
  const std::vector<int64_t> line_divisors_, row_line_divisors_;
};

}  // namespace

std::vector<cost::Blocking> BestBlockings(const loop_nest::LoopNest& nest, const Roles& roles,
                                          const std::vector<Product>& products, double epilogue,
                                          const passes::Target& target, DType type, size_t count,
                                          double slack, BlockingObserver observer) {
  return Blocker(nest, roles, products, epilogue, target, type, observer).Best(count, slack);
}

}  // namespace tg::schedule
