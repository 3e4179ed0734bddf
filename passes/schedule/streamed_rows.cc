#include "passes/schedule/streamed_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "passes/cost/bounds.h"
#include "passes/directives/directives.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {
namespace {

struct Sizes {
  int64_t rows, lanes, terms;
};

// The sizes of the product's axes; nullopt if it is not one of the kind that StreamedRows takes.
std::optional<Sizes> SizesOf(const loop_nest::LoopNest& nest, const Roles& roles,
                             const Product& product) {
  if (roles.rows.size() != 1 || roles.lanes.size() != 1 || product.terms.size() != 1 ||
      product.lanes.is_indirect || roles.result_stride != 1 ||
      !nest.accumulates[product.terms[0]]) {
    return std::nullopt;
  }
  const auto size = [&](size_t n) { return nest.base[n].max_size; };
  const Sizes sizes = {size(roles.rows[0]), size(roles.lanes[0]), size(product.terms[0])};
  const int64_t row = product.lanes.strides[product.terms[0]];
  if (product.lanes.strides[roles.lanes[0]] != 1 || row < sizes.lanes ||
      row == OperandAccess::kUnrelated) {
    return std::nullopt;
  }
  return sizes;
}

// The greatest divisor of `size` up to `most`, or, if that is below half of `most`, the size of
// equal parts that exceed it together.
int64_t PartOf(int64_t size, int64_t most) {
  const int64_t divisor = GreatestDivisor(size, most);
  if (2 * divisor >= std::min(most, size)) return divisor;
  const int64_t parts = CeilDiv(size, most);
  return CeilDiv(size, parts);
}

}  // namespace

bool IsBoundByLanes(const loop_nest::LoopNest& nest, const Roles& roles, const Product& product,
                    const passes::Target& target, DType type) {
  const std::optional<Sizes> sizes = SizesOf(nest, roles, product);
  if (!sizes) return false;
  const auto elements = static_cast<double>(sizes->lanes) * static_cast<double>(sizes->terms);
  const double bytes = elements * static_cast<double>(ByteSize(type.scalar()));
  const double multiply_adds =
      cost::ArithmeticSeconds(2 * elements * static_cast<double>(sizes->rows), target);
  return bytes > static_cast<double>(target.core_cache_bytes) &&
         cost::TransferSeconds(2 * bytes, target) >= multiply_adds;
}

std::vector<std::vector<Directive>> StreamedRows(const loop_nest::LoopNest& nest,
                                                 const Roles& roles, const Product& product,
                                                 const passes::Target& target, DType type) {
  const std::optional<Sizes> sizes = SizesOf(nest, roles, product);
  const int64_t width = target.alu_width / ByteSize(type.scalar());
  if (!sizes || width < 1) return {};  // a target without vectors has width 0
  const std::string row = nest.base[roles.rows[0]].name, lane = nest.base[roles.lanes[0]].name,
                    term = nest.base[product.terms[0]].name;
  const int64_t depth = PartOf(sizes->terms, target.prefetch_streams / 2);
  std::vector<std::vector<Directive>> out;
  // Of equal costs the first is chosen: the squarest tile has the fewest loads.
  for (int64_t vectors = target.tile_side; vectors >= 1; vectors /= 2) {
    const int64_t rows = PartOf(sizes->rows, target.accumulator_registers / vectors);
    loop_nest::LoopNest scheduled = nest;
    directive::DirectiveList to(scheduled, target);
    to.Pad(row, rows);
    to.Pad(lane, width * vectors * target.compute_units);
    to.Pad(term, depth);
    to.Try(directive::Vectorize{{lane, width}});
    std::string tiles = row, strips = lane + ".0";
    if (rows == to.Size(row)) {
      to.Try(directive::Upcast{{row, std::nullopt}});
      tiles.clear();
    } else if (rows > 1) {
      to.Try(directive::Upcast{{row, rows}});
      tiles += ".0";
    }
    if (vectors > 1) {
      to.Try(directive::Upcast{{strips, vectors}});
      strips += ".0";
    }
    const auto [groups, own] = to.Split(strips, to.Size(strips) / target.compute_units);
    const std::string blocks = to.Split(term, depth).first;
    for (const std::string& axis : {blocks, own, tiles}) {
      if (!axis.empty()) to.Try(directive::Loop{{axis, std::nullopt}});
    }
    if (to.all_legal()) out.push_back(to.Take());
  }
  return out;
}

}  // namespace tg::schedule
