#include "passes/cost/blocking_cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/arithmetic.h"
#include "base/check.h"

namespace tg::cost {
namespace {

double Times(std::initializer_list<int64_t> factors) {
  double product = 1;
  for (int64_t f : factors) product *= static_cast<double>(f);
  return product;
}

}  // namespace

double BlockingCost::Stall(const Blocking& b) const {
  const auto sums = static_cast<double>(b.vectors * b.rows);
  return std::max({1.0, static_cast<double>(target_.fma_accumulators) / sums,
                   static_cast<double>(b.vectors + b.rows) / sums}) +
         static_cast<double>(b.vectors + b.rows) / sums * target_.not_hidden;
}

double BlockingCost::ComputeSeconds(const Blocking& b) const {
  const int64_t strip = b.vectors * of_.vector;
  const double rows = Times(
      {of_.others, of_.row_lines, b.row_groups, b.rows, CeilDiv(of_.rows, b.rows * b.row_groups)});
  const double lanes = Times(
      {of_.images, of_.lines, b.lane_groups, strip, CeilDiv(of_.adjacent, strip * b.lane_groups)});
  double terms = 0;
  for (const BlockedSum& sum : of_.sums) terms += static_cast<double>(sum.terms);
  return 2 * static_cast<double>(of_.batch) * rows * lanes * terms * Stall(b) /
         target_.flops_per_second;
}

std::optional<Panels> BlockingCost::CutIntoPanels(Blocking& b, bool slices) const {
  const int64_t strip = b.vectors * of_.vector;
  const auto bytes = static_cast<double>(of_.bytes);
  const BlockedSum& first = of_.sums.front();
  b.tiles = CeilDiv(of_.rows, b.rows * b.row_groups);
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
  if (first.terms == first.outer_terms && b.slices > 1) b.depth = RoundUp(b.depth, of_.vector);
  const int64_t all = CeilDiv(of_.adjacent, strip * b.lane_groups);
  double strip_bytes = 0;
  for (const BlockedSum& sum : of_.sums) {
    strip_bytes += sum.lanes.Elements(DepthOf(b, sum), b.lines, strip) * bytes;
  }
  const double most = static_cast<double>(target_.core_cache_bytes) / 2 / strip_bytes;
  if (most < 1 && b.lines > 1) return std::nullopt;
  b.blocks = CeilDiv(all, std::max<int64_t>(1, static_cast<int64_t>(most)));
  b.strips = CeilDiv(all, b.blocks);
  Panels panels;
  for (const BlockedSum& sum : of_.sums) {
    panels.terms += Times({b.slices, DepthOf(b, sum), sum.terms / sum.outer_terms});
    const double read = sum.lanes.Elements(DepthOf(b, sum), b.lines, b.strips * strip);
    if (b.lanes_in_place) {
      if (!CanReadLanes(sum)) return std::nullopt;
      panels.accesses += read;
    } else {
      panels.accesses += sum.lanes.CopyAccesses() * read;
      panels.copied += read;
    }
  }
  return panels;
}

bool BlockingCost::CanReadLanes(const BlockedSum& sum) const {
  const auto evicts = [&](const auto& step) { return Conflicts(step.first); };
  return sum.lanes.tiled == 1 && !sum.lanes.is_indirect && !Conflicts(sum.lanes.outer_term) &&
         !std::any_of(sum.lanes.inner_terms.begin(), sum.lanes.inner_terms.end(), evicts);
}

int64_t BlockingCost::DepthOf(const Blocking& b, const BlockedSum& sum) const {
  return b.slices > 1 ? b.depth : sum.outer_terms;
}

double BlockingCost::Seconds(const Blocking& b, const Panels& panels,
                             const RowReads& rows_read) const {
  const int64_t strip = b.vectors * of_.vector;
  const auto bytes = static_cast<double>(of_.bytes);
  // Uses half of the memory only, since the copies of windows are rounded up to whole vectors
  // later.
  if ((panels.copied + rows_read.copied) * bytes >
      static_cast<double>(target_.private_memory) / 2) {
    return std::numeric_limits<double>::infinity();
  }
  const double groups = Times({of_.batch, of_.others, of_.row_lines / b.row_lines, of_.images,
                               of_.lines / b.lines, b.row_groups, b.lane_groups});
  const double rows = Times({of_.others, of_.row_lines, b.tiles, b.rows, b.row_groups});
  const double lanes = Times({of_.images, of_.lines, b.strips, b.blocks, b.lane_groups, strip});
  const double passes = groups * Times({b.blocks, b.slices});
  const double results = rows * lanes * static_cast<double>(of_.batch);
  // Each slice but the first one reads a result and writes it again.
  const double result_accesses = results * static_cast<double>(2 * b.slices - 1);
  const double moved = result_accesses + passes * (panels.accesses + rows_read.accesses);
  const double compute = 2 * results * panels.terms * Stall(b) / target_.flops_per_second;
  const double strided_stores = result_accesses * StridedStoreCost() * 2 *
                                static_cast<double>(of_.vector) / target_.flops_per_second;
  const auto units = static_cast<double>(target_.compute_units);
  // Steps of a symbolic axis may be few, so that no core can count on them for its work.
  const double sure = groups / static_cast<double>(of_.symbolic_groups);
  const double rounds = std::ceil(sure / units) * units / sure;
  const double epilogue =
      results * static_cast<double>(b.slices) * of_.epilogue * 2 / target_.flops_per_second;
  const double reread = passes * rows_read.reread_lines * NearMissSeconds();
  return (compute + strided_stores + reread + epilogue + moved * bytes / target_.bytes_per_second) *
         rounds;
}

bool BlockingCost::Conflicts(int64_t stride) const {
  const int64_t way = target_.near_cache_bytes / target_.near_cache_ways;
  return stride != 0 && stride * of_.bytes % way == 0;
}

double BlockingCost::StridedStoreCost() const {
  if (of_.result_stride == 1) return 0;
  const double cycles =
      target_.lane_instructions + (Conflicts(of_.result_stride) ? target_.near_miss_cycles : 0);
  return cycles * target_.fma_per_cycle;
}

double BlockingCost::NearMissSeconds() const {
  return target_.near_miss_cycles * target_.fma_per_cycle * 2 * static_cast<double>(of_.vector) /
         target_.flops_per_second;
}

double BlockingCost::RereadLines(const Blocking& b, const Traversal& rows, int64_t depth,
                                 int64_t times, int64_t lines, int64_t steps) const {
  if (times == 1) return 0;
  const int64_t line_elements = target_.cache_line / of_.bytes;
  const Traversal::CacheLines part = rows.LinesRead(depth, lines, steps, line_elements);
  const auto near = static_cast<double>(target_.near_cache_bytes) / 2;
  if (part.count * target_.cache_line <= near) return 0;
  const Traversal::CacheLines all =
      rows.LinesRead(depth, b.row_lines, b.tiles * b.rows, line_elements);
  const double again = static_cast<double>(times) * part.count - all.count;
  const double new_pages =
      static_cast<double>(part.distance * of_.bytes) / static_cast<double>(target_.page_bytes);
  return std::max(0.0, again) * std::min(1.0, new_pages);
}

RowReads BlockingCost::ReadsOf(const Blocking& b, const Traversal& rows, int64_t depth) const {
  // A strip's panel takes half of the cache, and rows half of what it leaves.
  const auto most = static_cast<double>(target_.core_cache_bytes) / 2 / 2;
  const auto copies = [&](int64_t times, int64_t lines, int64_t steps) -> RowReads {
    const double elements = rows.Elements(depth, lines, steps);
    if (elements * static_cast<double>(of_.bytes) > most) return {};
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

RowReads BlockingCost::ReadsOfRows(const Blocking& b) const {
  RowReads all = {0, 0};
  for (const BlockedSum& sum : of_.sums) {
    const RowReads more = ReadsOf(b, sum.rows, DepthOf(b, sum));
    all.accesses += more.accesses;
    all.copied += more.copied;
    all.reread_lines += more.reread_lines;
  }
  return all;
}

}  // namespace tg::cost
