// The part of IndexLowering that makes matrix instructions of warpgroups.
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/rebuild.h"

namespace tg::indices {
namespace {

// An axis along which an instruction's factor has elements, and the distance, in results, of two
// neighbours.
struct AxisOfFactor {
  const UOp* leaf;
  int64_t results;
};

struct FactorInMemory {
  const UOp* address;
  FactorLayout layout;
};

}  // namespace

void IndexLowering::OrderForWarpgroup(
    PackedAt& plan, const loop_nest::Copy& copy,
    llvm::function_ref<int64_t(const PackedAt::Axis&)> stride) const {
  const auto is_term = [&](const PackedAt::Axis& a) { return !nest_.base[a.base].IsStored(); };
  const auto is_adjacent = [&](const PackedAt::Axis& a) { return !is_term(a) && stride(a) == 1; };
  const bool by_terms =
      BitWidth(copy.node->dtype.scalar()) != 16 || llvm::none_of(plan.axes, is_adjacent);
  // The parts of one base axis lie together, the outermost first. Rows along the results have 64 of
  // them: parts of whole rows come first.
  constexpr int64_t kRow = 64;
  std::vector<PackedAt::Axis> whole, terms, results;
  for (size_t k = 0; k < plan.axes.size(); ++k) {
    const PackedAt::Axis& axis = plan.axes[k];
    int64_t inner = 1;
    for (size_t i = k + 1; i < plan.axes.size() && plan.axes[i].base == axis.base; ++i) {
      inner *= plan.axes[i].size;
    }
    (is_term(axis) ? terms : !by_terms && inner >= kRow ? whole : results).push_back(axis);
  }
  plan.axes = whole;
  llvm::append_range(plan.axes, by_terms ? results : terms);
  plan.row = plan.axes.size();
  llvm::append_range(plan.axes, by_terms ? terms : results);
}

const UOp* IndexLowering::WarpgroupTerms(const loop_nest::MatrixAxes& m, const UOp* left,
                                         const UOp* right, const UOp* term, ReduceAt& plan) {
  const auto leaf = [&](const std::string& name) { return where_.axis[nest_.AxisNamed(name)]; };
  const auto with = [&](const UOp* x, UOpSpan leaves, const UOp* to) {
    NodeMap<const UOp*> changed;
    for (const UOp* l : leaves) changed[l] = to ? to : b_.Add(l, b_.Index(1));
    return Replaced(x, changed);
  };
  // How much an element's number grows with a step along the leaf.
  const auto growth = [&](const UOp* element, const UOp* l) -> std::optional<int64_t> {
    const UOp* step = simplify_(b_.Sub(with(element, UOpSpan(&l, 1), nullptr), element));
    return IsConst(step) ? std::optional(step->word()) : std::nullopt;
  };
  const auto factor = [&](const UOp* x,
                          std::vector<AxisOfFactor> axes) -> std::optional<FactorInMemory> {
    if (x->op != Op::kLoad || x->num_srcs > 1 || x->src(0)->op != Op::kIndex) return std::nullopt;
    const UOp* at = x->src(0);
    const UOp* memory = at->src(0);
    if (at->num_srcs > 2 || memory->op != Op::kStage || at->dtype.space() != AddrSpace::kLocal) {
      return std::nullopt;
    }
    const UOp* element = at->src(1);
    FactorLayout layout = {.row = memory->word(4)};
    const std::optional<int64_t> of_term = growth(element, term);
    const bool by_terms = of_term == 1;
    if (!by_terms && of_term != layout.row) return std::nullopt;
    std::vector<const UOp*> leaves = {term};
    for (const auto& [l, results] : axes) {
      leaves.push_back(l);
      const std::optional<int64_t> step = growth(element, l);
      if (by_terms ? step == results * layout.row : results < layout.row && step == results) {
        continue;
      }
      if (by_terms || results % layout.row != 0 || !step) return std::nullopt;
      layout.blocks = *step / (results / layout.row);
      if (layout.blocks * (results / layout.row) != *step) return std::nullopt;
    }
    // A factor of one block.
    if (!by_terms && layout.blocks == 0) layout.blocks = memory->dtype.size();
    if (!layout.IsOf(x->dtype.scalar())) return std::nullopt;
    return FactorInMemory{b_.IndexPtr(memory, with(element, leaves, b_.Index(0))), layout};
  };
  std::vector<AxisOfFactor> columns = {{leaf(m.column), 1}, {leaf(m.column_lane), 2}};
  int64_t results = 8;
  for (const std::string& name : llvm::reverse(m.columns)) {
    columns.push_back({leaf(name), results});
    results *= nest_.axes[nest_.AxisNamed(name)].max_size;
  }
  const auto a = factor(left, {{leaf(m.row_lane), 1}, {leaf(m.row), 8}, {leaf(m.unit), 16}});
  const auto b = factor(right, columns);
  if (!a || !b) return nullptr;
  Context& ctx = b_.context();
  const DType sums(m.instruction.accumulator, m.instruction.n / 2);
  const UOp* const sources[] = {b_.ConstInt(sums, 0), a->address, b->address};
  const UOp* product = ctx.Make(
      Op::kWgmma, sums, sources,
      ctx.MakeAttr(Op::kWgmma, {int64_t{ctx.Intern(m.instruction.name)}, int64_t{m.instruction.n},
                                a->layout.row, b->layout.row, a->layout.blocks, b->layout.blocks}));
  llvm::erase_value(plan.ranges, term);
  product = Chained(product, std::exchange(plan.unrolls, {}));
  const UOp* number = ResultNumber(leaf(m.row), leaf(m.column));
  for (size_t k = 2; k < columns.size(); ++k) {
    number = b_.Add(b_.Mul(columns[k].leaf, b_.Index(columns[k].results / 2)), number);
  }
  return ctx.Make(Op::kExtract, DType(m.instruction.accumulator), {product, number});
}

}  // namespace tg::indices
