#include "passes/schedule/contraction_blocking.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/operand_traversal.h"

namespace tg::schedule {
namespace {

class Blocker {
 public:
  Blocker(const loop_nest::LoopNest& s, const Roles& roles, const std::vector<Product>& products,
          double epilogue, const passes::Target& target, DType type, BlockingObserver observer)
      : target_(target), epilogue_(epilogue), observer_(observer) {
    const auto size = [&](size_t n) { return s.base[n].max_size; };
    lanes_ = target.alu_width / ByteSize(type.scalar());
    bytes_ = ByteSize(type.scalar());
    for (size_t n : roles.batch) batch_ *= size(n);
    for (size_t n : roles.rows) others_ *= size(n);
    for (size_t n : roles.lanes) images_ *= size(n);
    const auto steps = [&](size_t n) {
      return s.base[n].size.is_symbolic() ? std::max<int64_t>(1, size(n)) : 1;
    };
    for (size_t n : roles.batch) symbolic_groups_ *= steps(n);
    for (size_t n : roles.rows) symbolic_groups_ *= n == roles.rows.back() ? 1 : steps(n);
    rows_ = size(roles.rows.back());
    symbolic_rows_ = roles.symbolic_rows;
    others_ /= rows_;
    // A group has one line of rows where their number is symbolic.
    if (roles.rows.size() > 1 && !s.base[roles.rows[roles.rows.size() - 2]].size.is_symbolic()) {
      row_lines_ = size(roles.rows[roles.rows.size() - 2]);
      others_ /= row_lines_;
    }
    result_stride_ = roles.result_stride;
    adjacent_ = size(roles.lanes.back());
    images_ /= adjacent_;
    if (roles.lanes.size() > 1) {
      const size_t line = roles.lanes[roles.lanes.size() - 2];
      lines_ = size(line);
      images_ /= lines_;
    }
    for (const Product& product : products) {
      Sum& sum = sums_.emplace_back();
      for (size_t n : product.terms) sum.terms *= size(n);
      sum.outer_terms = size(product.terms.front());
      const auto traversal = [&](const std::vector<size_t>& axes, const OperandAccess& operand) {
        Traversal t;
        const std::vector<int64_t>& of = operand.strides;
        t.is_indirect = operand.is_indirect;
        t.tiled = of[axes.back()];
        if (axes.size() > 1) t.line = of[axes[axes.size() - 2]];
        t.outer_term = of[product.terms.front()];
        Steps inner;
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
    line_divisors_ = Divisors(lines_);
    row_line_divisors_ = Divisors(row_lines_);
    may_slice_ = products.size() == 1 && s.accumulates[products[0].terms.front()];
  }

  std::vector<Blocking> Best(size_t count, double slack) const {
    // Copying an element takes at least as long as the multiply-add of a vector, so that each
    // copied element must be used often enough.
    if (lanes_ < 2 || rows_ * row_lines_ * others_ < lanes_ ||
        adjacent_ * lines_ * images_ < lanes_ || adjacent_ < lanes_ / 2) {
      return {};
    }
    for (const Sum& sum : sums_) {
      if (sum.terms < target_.short_terms) return {};
    }
    std::vector<Blocking> best;
    for (const Blocking& tile : Tiles()) {
      const double limit = best.empty() ? std::numeric_limits<double>::infinity()
                           : best.size() < count
                               ? best.front().seconds * slack
                               : std::min(best.front().seconds * slack, best.back().seconds);
      const std::optional<Blocking> of_tile = BestOfTile(tile, limit);
      if (!of_tile) continue;
      best.insert(llvm::upper_bound(best, *of_tile, IsFaster), *of_tile);
      while (best.size() > count || best.back().seconds > best.front().seconds * slack) {
        best.pop_back();
      }
    }
    return best;
  }

 private:
  // One sum of products.
  struct Sum {
    int64_t terms = 1, outer_terms = 1;
    Traversal lanes, rows;
  };

  // For one pass over a block: the memory accesses for a group's rows, the elements of the copy of
  // rows, and the cache lines that are read again from beyond the nearest cache without prefetch.
  // Infinite if the copy does not fit.
  struct RowReads {
    double accesses = std::numeric_limits<double>::infinity();
    double copied = 0, reread_lines = 0;
  };
  // For one pass over a block: the terms, and for copying the lanes' operands the memory accesses
  // and the elements of the copies.
  struct Panels {
    double terms = 0, accesses = 0, copied = 0;
  };

  static bool IsFaster(const Blocking& a, const Blocking& b) { return a.seconds < b.seconds; }

  // The best blocking with the register tile in `b`, if it takes less than `limit` seconds.
  std::optional<Blocking> BestOfTile(Blocking b, double limit) const {
    Blocking best;
    best.seconds = limit;
    for (int64_t parts = 1; parts <= target_.groups_per_unit * target_.compute_units; parts *= 2) {
      for (b.row_groups = 1; b.row_groups <= (symbolic_rows_ ? 1 : parts); b.row_groups *= 2) {
        b.lane_groups = parts / b.row_groups;
        if (ComputeSeconds(b) < best.seconds) Improve(best, b);
      }
    }
    return best.seconds < limit ? std::optional(best) : std::nullopt;
  }

  // Given the register tile and the partition into groups in `b`, tries all other sizes of a
  // blocking, and updates `best`.
  void Improve(Blocking& best, Blocking b) const {
    for (const int64_t lines : line_divisors_) {
      b.lines = lines;
      for (const bool slices : {false, true}) {
        if (slices && !may_slice_) continue;
        if (const std::optional<Panels> panels = CutIntoPanels(b, slices)) {
          ImproveRows(best, b, *panels);
        }
      }
    }
  }

  // The same, given all that concerns the lanes.
  void ImproveRows(Blocking& best, Blocking b, const Panels& panels) const {
    using enum Blocking::RowCopy;
    for (const int64_t row_lines : row_line_divisors_) {
      b.row_lines = row_lines;
      if (!observer_ && Seconds(b, panels, {0, 0}) >= best.seconds) continue;
      for (const auto copy : {kNone, kTile, kLine, kGroup}) {
        // If a group has one line, kGroup is the same as kLine.
        if ((copy == kGroup && row_lines == 1) || (symbolic_rows_ && copy != kTile)) continue;
        b.row_copy = copy;
        RowReads reads = {0, 0};
        for (const Sum& sum : sums_) {
          const RowReads more = ReadsOfRows(b, sum.rows, DepthOf(b, sum));
          reads.accesses += more.accesses;
          reads.copied += more.copied;
          reads.reread_lines += more.reread_lines;
        }
        b.seconds = Seconds(b, panels, reads);
        if (!std::isfinite(b.seconds)) continue;
        if (observer_) observer_(b);
        if (b.seconds < best.seconds) best = b;
      }
    }
  }

  // Candidates for the register tile, the best first. A tile is better if padding wastes fewer of
  // its multiply-adds, and if these stall less: each waits for the previous one in the same
  // accumulator, or for its loads.
  std::vector<Blocking> Tiles() const {
    std::vector<Blocking> tiles;
    // Half of the registers hold accumulators. The other half holds operands; each element of a row
    // takes a whole register, broadcast. The exception are targets where half of the registers
    // cannot hide the latency of an addition.
    const int64_t registers = std::max(target_.accumulator_registers, target_.fma_accumulators);
    for (int64_t vectors = 1; vectors <= target_.tile_side; ++vectors) {
      for (int64_t rows = 2; rows * vectors <= registers && rows <= directive::Upcast::kMost;
           ++rows) {
        Blocking b;
        b.vectors = vectors, b.rows = rows;
        const auto done =
            static_cast<double>(RoundUp(rows_, rows) * RoundUp(adjacent_, vectors * lanes_));
        b.seconds = done * Stall(b);
        tiles.push_back(b);
      }
    }
    llvm::stable_sort(tiles,
                      [](const Blocking& a, const Blocking& b) { return a.seconds < b.seconds; });
    return tiles;
  }

  static std::vector<int64_t> Divisors(int64_t n) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) out.push_back(d);
    }
    return out;
  }

  double Stall(const Blocking& b) const {
    const auto sums = static_cast<double>(b.vectors * b.rows);
    return std::max({1.0, static_cast<double>(target_.fma_accumulators) / sums,
                     static_cast<double>(b.vectors + b.rows) / sums}) +
           static_cast<double>(b.vectors + b.rows) / sums * target_.not_hidden;
  }

  // Predicted time of the multiply-adds alone, if the terms are not cut into slices. A lower bound
  // for every blocking with these groups.
  double ComputeSeconds(const Blocking& b) const {
    const int64_t strip = b.vectors * lanes_;
    const double rows =
        Times({others_, row_lines_, b.row_groups, b.rows, CeilDiv(rows_, b.rows * b.row_groups)});
    const double lanes =
        Times({images_, lines_, b.lane_groups, strip, CeilDiv(adjacent_, strip * b.lane_groups)});
    double terms = 0;
    for (const Sum& sum : sums_) terms += static_cast<double>(sum.terms);
    return 2 * static_cast<double>(batch_) * rows * lanes * terms * Stall(b) /
           target_.flops_per_second;
  }

  // Sets how the terms and the lanes of a group are cut. With `slices`, the terms are cut so that a
  // strip's panel stays in the nearest cache. Returns nullopt if a block of lanes is too large for
  // the core's cache.
  std::optional<Panels> CutIntoPanels(Blocking& b, bool slices) const {
    const int64_t strip = b.vectors * lanes_;
    const auto bytes = static_cast<double>(bytes_);
    const Sum& first = sums_.front();
    b.tiles = CeilDiv(rows_, b.rows * b.row_groups);
    b.depth = first.outer_terms;
    if (slices) {
      const double each = first.lanes.Elements(1, 1, strip) * bytes;
      b.depth = static_cast<int64_t>(static_cast<double>(target_.near_cache_bytes) / each);
      b.depth = std::clamp<int64_t>(b.depth, 1, first.outer_terms);
    }
    b.slices = CeilDiv(first.outer_terms, b.depth);
    b.depth = CeilDiv(first.outer_terms, b.slices);
    // A slice of at least one vector of terms lets rows be copied by transposing square blocks, so
    // the depth is rounded up to whole vectors.
    if (first.terms == first.outer_terms && b.slices > 1) b.depth = RoundUp(b.depth, lanes_);
    const int64_t all = CeilDiv(adjacent_, strip * b.lane_groups);
    double strip_bytes = 0;
    for (const Sum& sum : sums_) {
      strip_bytes += sum.lanes.Elements(DepthOf(b, sum), b.lines, strip) * bytes;
    }
    const double most = static_cast<double>(target_.core_cache_bytes) / 2 / strip_bytes;
    if (most < 1 && b.lines > 1) return std::nullopt;
    b.blocks = CeilDiv(all, std::max<int64_t>(1, static_cast<int64_t>(most)));
    b.strips = CeilDiv(all, b.blocks);
    Panels panels;
    for (const Sum& sum : sums_) {
      panels.terms += Times({b.slices, DepthOf(b, sum), sum.terms / sum.outer_terms});
      const double copy = sum.lanes.Elements(DepthOf(b, sum), b.lines, b.strips * strip);
      panels.accesses += sum.lanes.CopyAccesses() * copy;
      panels.copied += copy;
    }
    return panels;
  }

  int64_t DepthOf(const Blocking& b, const Sum& sum) const {
    return b.slices > 1 ? b.depth : sum.outer_terms;
  }

  // The predicted time of a blocking, given the memory accesses for the rows of a group in one pass
  // over a block. Infinite if the copies do not fit.
  double Seconds(const Blocking& b, const Panels& panels, const RowReads& rows_read) const {
    const int64_t strip = b.vectors * lanes_;
    const auto bytes = static_cast<double>(bytes_);
    // Uses half of the memory only, since the copies of windows are rounded up to whole vectors
    // later.
    if ((panels.copied + rows_read.copied) * bytes >
        static_cast<double>(target_.private_memory) / 2) {
      return std::numeric_limits<double>::infinity();
    }
    const double groups = Times({batch_, others_, row_lines_ / b.row_lines, images_,
                                 lines_ / b.lines, b.row_groups, b.lane_groups});
    const double rows = Times({others_, row_lines_, b.tiles, b.rows, b.row_groups});
    const double lanes = Times({images_, lines_, b.strips, b.blocks, b.lane_groups, strip});
    const double passes = groups * Times({b.blocks, b.slices});
    const double results = rows * lanes * static_cast<double>(batch_);
    // Each slice but the first one reads a result and writes it again.
    const double result_accesses = results * static_cast<double>(2 * b.slices - 1);
    const double moved = result_accesses + passes * (panels.accesses + rows_read.accesses);
    const double compute = 2 * results * panels.terms * Stall(b) / target_.flops_per_second;
    const double strided_stores = result_accesses * StridedStoreCost() * 2 *
                                  static_cast<double>(lanes_) / target_.flops_per_second;
    const auto units = static_cast<double>(target_.compute_units);
    // Steps of a symbolic axis may be few, so that no core can count on them for its work.
    const double sure = groups / static_cast<double>(symbolic_groups_);
    const double rounds = std::ceil(sure / units) * units / sure;
    const double epilogue =
        results * static_cast<double>(b.slices) * epilogue_ * 2 / target_.flops_per_second;
    const double reread = passes * rows_read.reread_lines * NearMissSeconds();
    return (compute + strided_stores + reread + epilogue +
            moved * bytes / target_.bytes_per_second) *
           rounds;
  }

  // Whether elements at this distance map to the same set of the nearest cache: whether the
  // distance is a multiple of the size of one way.
  bool Conflicts(int64_t stride) const {
    const int64_t way = target_.near_cache_bytes / target_.near_cache_ways;
    return stride != 0 && stride * bytes_ % way == 0;
  }

  // The extra time to store one result, in vector multiply-adds, if results are not contiguous.
  // Strided results are stored one by one, and if they evict each other from the cache, each store
  // also waits for its cache line.
  double StridedStoreCost() const {
    if (result_stride_ == 1) return 0;
    const double cycles =
        target_.lane_instructions + (Conflicts(result_stride_) ? target_.near_miss_cycles : 0);
    return cycles * target_.fma_per_cycle;
  }

  // The time of a load that misses the nearest cache only.
  double NearMissSeconds() const {
    return target_.near_miss_cycles * target_.fma_per_cycle * 2 * static_cast<double>(lanes_) /
           target_.flops_per_second;
  }

  // The number of cache lines that are read again, and not prefetched, if the rows of a group are
  // read in `times` parts. If rows are adjacent in memory and terms are not, neighbouring tiles
  // share lines. Prefetchers that detect strides do not cross pages.
  double RereadLines(const Blocking& b, const Traversal& rows, int64_t depth, int64_t times,
                     int64_t lines, int64_t steps) const {
    if (times == 1) return 0;
    const int64_t line_elements = target_.cache_line / bytes_;
    const Traversal::CacheLines part = rows.LinesRead(depth, lines, steps, line_elements);
    const auto near = static_cast<double>(target_.near_cache_bytes) / 2;
    if (part.count * target_.cache_line <= near) return 0;
    const Traversal::CacheLines all =
        rows.LinesRead(depth, b.row_lines, b.tiles * b.rows, line_elements);
    const double again = static_cast<double>(times) * part.count - all.count;
    const double new_pages =
        static_cast<double>(part.distance * bytes_) / static_cast<double>(target_.page_bytes);
    return std::max(0.0, again) * std::min(1.0, new_pages);
  }

  RowReads ReadsOfRows(const Blocking& b, const Traversal& rows, int64_t depth) const {
    // A strip's panel takes half of the cache, and rows half of what it leaves.
    const auto most = static_cast<double>(target_.core_cache_bytes) / 2 / 2;
    const auto copies = [&](int64_t times, int64_t lines, int64_t steps) -> RowReads {
      const double elements = rows.Elements(depth, lines, steps);
      if (elements * static_cast<double>(bytes_) > most) return {};
      return {rows.CopyAccesses() * static_cast<double>(times) * elements, elements,
              RereadLines(b, rows, depth, times, lines, steps)};
    };
    switch (b.row_copy) {
      case Blocking::RowCopy::kNone: {
        // Reading in place would put a predicate into the innermost loop, or evict what is read
        // before it is reused.
        if (rows.is_indirect || Conflicts(rows.tiled) || Conflicts(rows.outer_term)) return {};
        return {rows.Elements(depth, b.row_lines, b.tiles * b.rows), 0,
                RereadLines(b, rows, depth, b.tiles * b.row_lines, 1, b.rows)};
      }
      case Blocking::RowCopy::kTile:
        return copies(b.tiles * b.row_lines, 1, b.rows);
      case Blocking::RowCopy::kLine:
        return copies(b.row_lines, 1, b.tiles * b.rows);
      case Blocking::RowCopy::kGroup:
        return copies(1, b.row_lines, b.tiles * b.rows);
    }
    TG_UNREACHABLE();
  }

  static double Times(std::initializer_list<int64_t> factors) {
    double product = 1;
    for (int64_t f : factors) product *= static_cast<double>(f);
    return product;
  }

  const passes::Target& target_;
  const double epilogue_;
  const BlockingObserver observer_;
  bool may_slice_ = false, symbolic_rows_ = false;
  int64_t lanes_ = 1, bytes_ = 4;
  int64_t result_stride_ = 1;
  int64_t symbolic_groups_ = 1;  // groups for the steps of symbolic axes
  int64_t batch_ = 1, rows_ = 1, row_lines_ = 1, others_ = 1, adjacent_ = 1, lines_ = 1,
          images_ = 1;
  std::vector<int64_t> line_divisors_, row_line_divisors_;
  std::vector<Sum> sums_;
};

}  // namespace

std::vector<Blocking> BestBlockings(const loop_nest::LoopNest& nest, const Roles& roles,
                                    const std::vector<Product>& products, double epilogue,
                                    const passes::Target& target, DType type, size_t count,
                                    double slack, BlockingObserver observer) {
  return Blocker(nest, roles, products, epilogue, target, type, observer).Best(count, slack);
}

}  // namespace tg::schedule
