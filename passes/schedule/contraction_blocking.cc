#include "passes/schedule/contraction_blocking.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "ir/arithmetic.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// One pair per loop around an access: the distance in memory between consecutive iterations, and
// the trip count.
using Steps = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;

// The number of different elements that the loops access; iterations of different loops may access
// the same element.
double DistinctElements(Steps steps) {
  llvm::sort(steps);
  double count = 1;
  int64_t reach = 1;  // elements from the first one accessed to the end of the last one
  for (const auto& [stride, size] : steps) {
    if (stride == 0) continue;
    const int64_t whole = SaturatingAdd(SaturatingMul(stride, size - 1), reach);
    count *= static_cast<double>(size);
    if (stride < reach) count = std::min(count, static_cast<double>(whole));
    reach = whole;
  }
  return count;
}

// How an operand is traversed: the strides in memory of its tiled axis (the innermost axis of its
// role), of the axis around that (`line`), and of the terms.
struct Traversal {
  int64_t tiled = 0, line = 0, outer_term = 0;
  Steps inner_terms;  // inside the outermost axis of terms
  bool is_indirect = false;
  bool in_lanes = false;  // the tiled axis has the vectors

  // Whether neighbours along the tiled axis read overlapping terms, as neighbouring pixels do in a
  // convolution's window.
  bool HasWindow() const {
    return llvm::any_of(inner_terms, [&](const auto& step) {
      return step.first != 0 && step.first <= tiled &&
             SaturatingMul(step.first, step.second - 1) >= tiled;
    });
  }

  // Relative cost of copying an element. It is 1, the read, since the written element stays in a
  // cache; it is 2 if neighbours in the copy are strided in memory.
  double CopyAccesses() const { return tiled == 1 || (HasWindow() && !in_lanes) ? 1 : 2; }

  // The size, in elements, of a copy of everything that is read in the given numbers of iterations.
  // If the lanes are strided in memory, they become adjacent in the copy, and overlapping windows
  // no longer share elements.
  double Elements(int64_t terms, int64_t lines, int64_t steps) const {
    Steps all = inner_terms;
    all.emplace_back(outer_term, terms);
    all.emplace_back(line, lines);
    all.emplace_back(tiled, steps);
    if (!in_lanes || tiled == 1 || !HasWindow()) return DistinctElements(std::move(all));
    double count = 1;
    for (const auto& step : all) count *= step.first == 0 ? 1 : static_cast<double>(step.second);
    return count;
  }
};

class Blocker {
 public:
  Blocker(const LoopNest& s, const Roles& roles, const std::vector<Product>& products,
          double epilogue, const Target& target, DType type, BlockingObserver observer)
      : target_(target), epilogue_(epilogue), observer_(observer) {
    const auto size = [&](size_t n) { return s.base[n].max_size; };
    lanes_ = target.alu_width / ByteSize(type.scalar());
    bytes_ = ByteSize(type.scalar());
    for (size_t n : roles.batch) batch_ *= size(n);
    for (size_t n : roles.rows) others_ *= size(n);
    for (size_t n : roles.lanes) images_ *= size(n);
    rows_ = size(roles.rows.back());
    others_ /= rows_;
    if (roles.rows.size() > 1) {
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
        for (size_t n : product.terms) {
          if (n != product.terms.front()) t.inner_terms.emplace_back(of[n], size(n));
        }
        return t;
      };
      sum.lanes = traversal(roles.lanes, product.lanes);
      sum.lanes.in_lanes = true;
      sum.rows = traversal(roles.rows, product.rows);
    }
    may_slice_ = products.size() == 1 && s.accumulates[products[0].terms.front()];
  }

  std::optional<Blocking> Best() const {
    // Copying an element takes at least as long as the multiply-add of a vector, so that each
    // copied element must be used often enough.
    if (lanes_ < 4 || rows_ * row_lines_ * others_ < lanes_ ||
        adjacent_ * lines_ * images_ < lanes_ || adjacent_ < lanes_ / 2) {
      return std::nullopt;
    }
    for (const Sum& sum : sums_) {
      if (sum.terms < 4) return std::nullopt;
    }
    std::optional<Blocking> best;
    for (Blocking b : Tiles()) {
      for (int64_t parts = 1; parts <= target_.groups_per_unit * target_.compute_units;
           parts *= 2) {
        for (b.row_groups = 1; b.row_groups <= parts; b.row_groups *= 2) {
          b.lane_groups = parts / b.row_groups;
          if (!best || ComputeSeconds(b) < best->seconds) Improve(best, b);
        }
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

  // Given the register tile and the partition into groups in `b`, tries all other sizes of a
  // blocking, and updates `best`.
  void Improve(std::optional<Blocking>& best, Blocking b) const {
    using enum Blocking::RowCopy;
    for (const int64_t lines : Divisors(lines_)) {
      for (const int64_t row_lines : Divisors(row_lines_)) {
        b.lines = lines, b.row_lines = row_lines;
        for (const auto copy : {kNone, kTile, kLine, kGroup}) {
          // If a group has one line, kGroup is the same as kLine.
          if (copy == kGroup && row_lines == 1) continue;
          b.row_copy = copy;
          for (const bool slices : {false, true}) {
            if (slices && !may_slice_) continue;
            const Blocking c = Costed(b, slices);
            if (observer_ && std::isfinite(c.seconds)) observer_(c);
            if (std::isfinite(c.seconds) && (!best || c.seconds < best->seconds)) best = c;
          }
        }
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
    const int64_t registers = std::max<int64_t>(target_.MaxAccumulators() * 4 / target_.alu_width,
                                                target_.fma_accumulators);
    for (int64_t vectors = 1; vectors <= 4; ++vectors) {
      for (int64_t rows = 2; rows * vectors <= registers && rows <= 16; ++rows) {
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
           static_cast<double>(b.vectors + b.rows) / sums / kLoadsHidden;
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

  // Completes the blocking and predicts its time, which is infinite if it is not possible. With
  // `slices`, the terms are cut so that a strip's panel stays in the nearest cache.
  Blocking Costed(Blocking b, bool slices) const {
    const int64_t strip = b.vectors * lanes_;
    const auto bytes = static_cast<double>(bytes_);
    const Sum& first = sums_.front();
    b.tiles = CeilDiv(rows_, b.rows * b.row_groups);
    b.depth = first.outer_terms;
    if (slices && may_slice_) {
      const double each = first.lanes.Elements(1, 1, strip) * bytes;
      b.depth = static_cast<int64_t>(static_cast<double>(target_.near_cache_bytes) / each);
      b.depth = std::clamp<int64_t>(b.depth, 1, first.outer_terms);
    }
    b.slices = CeilDiv(first.outer_terms, b.depth);
    b.depth = CeilDiv(first.outer_terms, b.slices);
    // A slice of at least one vector of terms lets rows be copied by transposing square blocks, so
    // the depth is rounded up to whole vectors.
    if (first.terms == first.outer_terms && b.slices > 1) b.depth = RoundUp(b.depth, lanes_);
    const auto depth = [&](const Sum& sum) { return b.slices > 1 ? b.depth : sum.outer_terms; };
    const int64_t all = CeilDiv(adjacent_, strip * b.lane_groups);
    double panels = 0;
    for (const Sum& sum : sums_) panels += sum.lanes.Elements(depth(sum), b.lines, strip) * bytes;
    const double most = static_cast<double>(target_.core_cache_bytes) / 2 / panels;
    b.seconds = std::numeric_limits<double>::infinity();
    if (most < 1 && b.lines > 1) return b;
    b.blocks = CeilDiv(all, std::max<int64_t>(1, static_cast<int64_t>(most)));
    b.strips = CeilDiv(all, b.blocks);
    const double groups = Times({batch_, others_, row_lines_ / b.row_lines, images_,
                                 lines_ / b.lines, b.row_groups, b.lane_groups});
    const double rows = Times({others_, row_lines_, b.tiles, b.rows, b.row_groups});
    const double lanes = Times({images_, lines_, b.strips, b.blocks, b.lane_groups, strip});
    const double passes = groups * Times({b.blocks, b.slices});
    const double results = rows * lanes * static_cast<double>(batch_);
    const double result_accesses = results * static_cast<double>(2 * b.slices - 1);
    // Counts accesses to memory. Each slice but the first one reads a result and writes it again.
    double moved = result_accesses, terms = 0, copied = 0;
    for (const Sum& sum : sums_) {
      terms += Times({b.slices, depth(sum), sum.terms / sum.outer_terms});
      const double lane_copy = sum.lanes.Elements(depth(sum), b.lines, b.strips * strip);
      const RowReads rows_read = ReadsOfRows(b, sum.rows, depth(sum));
      moved += passes * (sum.lanes.CopyAccesses() * lane_copy + rows_read.accesses);
      copied += (lane_copy + rows_read.copied) * bytes;
    }
    // Uses half of the memory only, since the copies of windows are rounded up to whole vectors
    // later.
    if (copied > static_cast<double>(target_.private_memory) / 2) return b;
    const double compute = 2 * results * terms * Stall(b) / target_.flops_per_second;
    const double apart = result_accesses * StoresApart() * 2 * static_cast<double>(lanes_) /
                         target_.flops_per_second;
    const auto units = static_cast<double>(target_.compute_units);
    const double rounds = std::ceil(groups / units) * units / groups;
    const double epilogue =
        results * static_cast<double>(b.slices) * epilogue_ * 2 / target_.flops_per_second;
    b.seconds = (compute + apart + epilogue + moved * bytes / target_.bytes_per_second) * rounds;
    return b;
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
  double StoresApart() const {
    if (result_stride_ == 1) return 0;
    // Two cycles: one moves the element between its lane and a scalar register, the other accesses
    // memory.
    const int cycles = 2 + (Conflicts(result_stride_) ? target_.near_miss_cycles : 0);
    return cycles * target_.fma_per_cycle;
  }

  // For one pass over a block: the memory accesses for a group's rows, and the elements of the copy
  // of rows. Infinite if the copy does not fit.
  struct RowReads {
    double accesses = std::numeric_limits<double>::infinity();
    double copied = 0;
  };
  RowReads ReadsOfRows(const Blocking& b, const Traversal& rows, int64_t depth) const {
    const auto most = static_cast<double>(target_.core_cache_bytes) / 4;
    const auto copies = [&](int64_t times, int64_t lines, int64_t steps) -> RowReads {
      const double elements = rows.Elements(depth, lines, steps);
      if (elements * static_cast<double>(bytes_) > most) return {};
      return {rows.CopyAccesses() * static_cast<double>(times) * elements, elements};
    };
    switch (b.row_copy) {
      case Blocking::RowCopy::kNone: {
        // Reading in place would put a predicate into the innermost loop, or evict what is read
        // before it is reused.
        if (rows.is_indirect || Conflicts(rows.tiled) || Conflicts(rows.outer_term)) return {};
        return {rows.Elements(depth, b.row_lines, b.tiles * b.rows), 0};
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

  // Of this many loads, all but one are hidden behind multiply-adds.
  static constexpr double kLoadsHidden = 8;

  const Target& target_;
  const double epilogue_;
  const BlockingObserver observer_;
  bool may_slice_ = false;
  int64_t lanes_ = 1, bytes_ = 4;
  int64_t result_stride_ = 1;
  int64_t batch_ = 1, rows_ = 1, row_lines_ = 1, others_ = 1, adjacent_ = 1, lines_ = 1,
          images_ = 1;
  std::vector<Sum> sums_;
};

}  // namespace

std::optional<Blocking> BestBlocking(const LoopNest& nest, const Roles& roles,
                                     const std::vector<Product>& products, double epilogue,
                                     const Target& target, DType type, BlockingObserver observer) {
  return Blocker(nest, roles, products, epilogue, target, type, observer).Best();
}

}  // namespace tg
