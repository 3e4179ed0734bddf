// The part of IndexLowering that makes matrix instructions.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/rebuild.h"
#include "passes/simplify/affine_sums.h"

namespace tg::indices {
namespace {

// What a factor converts to the type of the product, if it does.
const UOp* ConvertedBy(const UOp* factor) {
  return factor->op == Op::kCast ? factor->src(0) : factor;
}

// Whether `x` depends on the leaf. What memory holds does not count: work-items read their own, and
// all that a group copies.
bool DependsOn(const UOp* x, const UOp* leaf) {
  NodeSet seen;
  std::vector<const UOp*> stack = {x};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (u == leaf) return true;
    if (u->op == Op::kStage || !seen.Insert(u)) continue;
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return false;
}

// Makes the fragments of one matrix instruction (FragmentElement). A work-item of number 4 *
// row_lane + column_lane has of the left factor the elements of rows row_lane and row_lane + 8, and
// of the right factor those of column row_lane; of both the terms of two registers: the first has
// those from column_lane * per_register on, and four such parts lie between the two.
// Terms may be summed in any order: as `pairs`, a work-item's terms are the results of an
// instruction before that it owns, two neighbours, one in each register.
class Fragments {
 public:
  struct Leaves {
    const UOp *row, *row_lane, *column_lane, *column, *term;
  };
  // `far`, `next`: unrolled; null if a register has one term.
  Fragments(Body& body, analysis::SimplifyFn simplify, const Leaves& leaves, const UOp* far,
            const UOp* next, bool pairs)
      : body_(body),
        b_(*body.context),
        simplify_(simplify),
        at_(leaves),
        far_(far),
        next_(next),
        per_register_(next ? next->word(1) : 1),
        pairs_(pairs) {}

  const UOp* Left(const UOp* x) {
    if (const UOp* loaded = LoadMatrices(x, /*is_left=*/true)) return loaded;
    return Contracted(With(x, {{at_.term, Term()}}), {far_, at_.row, next_});
  }

  const UOp* Right(const UOp* x) {
    if (const UOp* loaded = LoadMatrices(x, /*is_left=*/false)) return loaded;
    return Contracted(With(x, {{at_.term, Term()},
                               {at_.column_lane, Div(at_.row_lane, 2)},
                               {at_.column, Mod(at_.row_lane, 2)}}),
                      {far_, next_});
  }

 private:
  using Change = std::pair<const UOp*, const UOp*>;

  const UOp* Number(int64_t n) { return b_.Index(n); }
  const UOp* Div(const UOp* x, int64_t n) { return b_.Alu(Op::kFloorDiv, {x, Number(n)}); }
  const UOp* Mod(const UOp* x, int64_t n) { return b_.Alu(Op::kFloorMod, {x, Number(n)}); }
  const UOp* Times(const UOp* x, int64_t n) { return b_.Mul(x, Number(n)); }
  const UOp* Term() {
    if (pairs_) return b_.Add(Times(at_.column_lane, 2), far_);
    return InRegister(
        b_.Add(Times(far_, 4 * per_register_), Times(at_.column_lane, per_register_)));
  }
  const UOp* InRegister(const UOp* first) { return next_ ? b_.Add(first, next_) : first; }

  const UOp* With(const UOp* x, std::initializer_list<Change> changes) {
    NodeMap<const UOp*> changed;
    for (const auto& [from, to] : changes) changed[from] = to;
    return simplify_(Rebuilt(body_, x, changed));
  }

  const UOp* Contracted(const UOp* x, std::initializer_list<const UOp*> unrolls) {
    std::vector<int64_t> numbers;
    int64_t lanes = 1;
    for (const UOp* unroll : unrolls) {
      if (!unroll) continue;
      numbers.push_back(unroll->word(0));
      lanes *= unroll->word(1);
    }
    return b_.context().Make(Op::kContract, x->dtype.WithLanes(static_cast<int>(lanes)), {x},
                             b_.context().MakeListAttr(Op::kContract, numbers));
  }

  // Whether the element's number grows by `by` with the leaf's value.
  bool GrowsBy(const UOp* element, const UOp* leaf, int64_t by) {
    const UOp* later = With(element, {{leaf, b_.Add(leaf, Number(1))}});
    const UOp* step = simplify_(b_.Sub(later, element));
    return IsConst(step) && step->word() == by;
  }

  // `ldmatrix` in place of a load from a copy in local memory, whose rows have 16 bytes of
  // neighbouring terms, or eight neighbouring results (transposed, for elements of 16 bits). Null
  // if they have neither.
  const UOp* LoadMatrices(const UOp* x, bool is_left) {
    if (pairs_ || x->op != Op::kLoad || x->num_srcs > 1 || x->src(0)->op != Op::kIndex) {
      return nullptr;
    }
    const UOp* address = x->src(0);
    if (address->num_srcs > 2 || address->src(0)->op != Op::kStage ||
        address->dtype.space() != AddrSpace::kLocal) {
      return nullptr;
    }
    // Padding may follow each row of the copy, and must not divide what is read together.
    const int64_t of_row = 4 * per_register_;  // elements
    if (address->src(0)->word(4) % of_row != 0) return nullptr;
    const UOp* element = address->src(1);
    const UOp* item = b_.Add(Times(at_.row_lane, 4), at_.column_lane);
    // The work-item that gives the address of row `line` of matrix `matrix`, the two of a column
    // first.
    const UOp *line = Mod(item, 8), *matrix = Div(item, 8);
    const UOp *first = Mod(matrix, 2), *second = is_left ? Div(matrix, 2) : first;
    const bool by_terms = GrowsBy(element, at_.term, 1);
    const bool by_results =
        is_left ? GrowsBy(element, at_.row_lane, 1)
                : GrowsBy(element, at_.column_lane, 2) && GrowsBy(element, at_.column, 1);
    if (!by_terms && (!by_results || per_register_ != 2)) return nullptr;
    const UOp* term = by_terms ? Times(second, of_row) : b_.Add(Times(second, of_row), line);
    const UOp* result = by_terms ? line : Number(0);
    const UOp* start =
        is_left ? With(element, {{at_.term, term}, {at_.row, first}, {at_.row_lane, result}})
                : With(element, {{at_.term, term},
                                 {at_.column_lane, Div(result, 2)},
                                 {at_.column, Mod(result, 2)}});
    // A row begins at a multiple of 16 bytes.
    const UOp* rest = simplify_(Mod(start, of_row));
    if (!IsConst(rest) || rest->word() != 0) return nullptr;
    const auto load = [&](const UOp* from, int64_t count) {
      return b_.context().Make(Op::kLdMatrix,
                               x->dtype.WithLanes(static_cast<int>(per_register_ * count)),
                               {b_.IndexPtr(address->src(0), from)},
                               b_.context().MakeAttr(Op::kLdMatrix, {count, int64_t{!by_terms}}));
    };
    if (is_left) return load(start, 4);
    const UOp* pair = PairOf(start);
    if (!pair) return load(start, 2);
    // One instruction loads the fragments of two neighbours, and each takes its half.
    const UOp* even = b_.Mul(Div(pair, 2), Number(2));
    const UOp* both = load(With(start, {{pair, b_.Add(even, Div(matrix, 2))}}), 4);
    const UOp* in_half = InRegister(Times(far_, per_register_));
    const UOp* lane = b_.Add(Times(Mod(pair, 2), 2 * per_register_), in_half);
    return Contracted(b_.context().Make(Op::kExtract, x->dtype, {both, lane}), {far_, next_});
  }

  // An unrolled axis of which `x` depends on even many steps; null if there is none.
  const UOp* PairOf(const UOp* x) {
    for (const UOp* u : PostOrder(x)) {
      if (u->op == Op::kUnroll && u->word(1) % 2 == 0) return u;
    }
    return nullptr;
  }

  Body& body_;
  Builder b_;
  analysis::SimplifyFn simplify_;
  const Leaves at_;
  const UOp *far_, *next_;  // unrolled: the second register's terms, and those of a register
  const int64_t per_register_;
  const bool pairs_;
};

}  // namespace

const UOp* IndexLowering::Chained(const UOp* product, const std::vector<const UOp*>& unrolls) {
  Shape sizes;
  for (const UOp* unroll : unrolls) sizes.push_back(unroll->word(1));
  // The sum is the last source, or that of a warpgroup the first.
  const size_t sum_at = product->op == Op::kWgmma ? 0 : 2;
  const UOp* sum = product->src(sum_at);
  for (int64_t n = 0; n < NumElements(sizes); ++n) {
    const std::vector<const UOp*> at = analysis::Unflatten(b_, sizes, b_.Index(n), simplify_);
    NodeMap<const UOp*> changed;
    for (size_t k = 0; k < unrolls.size(); ++k) changed[unrolls[k]] = at[k];
    std::vector<const UOp*> sources;
    for (size_t k = 0; k < product->num_srcs; ++k) {
      sources.push_back(k == sum_at ? sum : Replaced(product->src(k), changed));
    }
    sum = b_.context().Make(product->op, product->dtype, sources, product->attr);
  }
  return sum;
}

const UOp* IndexLowering::Accumulated(const UOp* sum, const UOp* x) {
  if (x->op != Op::kExtract) return nullptr;
  std::vector<const UOp*> chain;  // the last one first
  const UOp* start = x->src(0);
  for (; start->op == Op::kWmma; start = start->src(2)) chain.push_back(start);
  const auto is_zero = [](int64_t lane) { return lane == 0; };
  const bool from_zero = IsConst(start)
                             ? start->word() == 0
                             : start->op == Op::kVConst && llvm::all_of(start->list(), is_zero);
  if (chain.empty() || !from_zero) return nullptr;
  Context& ctx = b_.context();
  for (const loop_nest::MatrixAxes& m : nest_.matrices) {
    if (m.instruction.in_parts)
      return nullptr;  // its sums are added by rounding (lower_reduces.cc)
    const UOp *row = where_.axis[nest_.AxisNamed(m.row)],
              *column = where_.axis[nest_.AxisNamed(m.column)];
    if (simplify_(x->src(1)) != simplify_(ResultNumber(row, column))) continue;
    const UOp* result =
        ctx.Make(Op::kContract, start->dtype, UOpSpan(&sum, 1),
                 ctx.MakeListAttr(Op::kContract, {{row->word(0), column->word(0)}}));
    for (const UOp* product : llvm::reverse(chain)) {
      const UOp* const sources[] = {product->src(0), product->src(1), result};
      result = ctx.Make(Op::kWmma, product->dtype, sources, product->attr);
    }
    return ctx.Make(Op::kExtract, x->dtype, {result, x->src(1)});
  }
  return nullptr;
}

const UOp* IndexLowering::ResultNumber(const UOp* row, const UOp* column) {
  return b_.Add(b_.Mul(row, b_.Index(2)), column);
}

bool IndexLowering::OwnsPairs(const UOp* x) const {
  if (x->op != Op::kLoad || x->src(0)->op != Op::kIndex) return false;
  const UOp* memory = x->src(0)->src(0);
  const auto parts = memory->op == Op::kStage ? owned_.find(memory->word()) : owned_.end();
  return parts != owned_.end() && parts->second.back().stride == 2;
}

const UOp* IndexLowering::MatrixTerms(const UOp* reduce, const UOp* x, ReduceAt& plan) {
  const auto axes = llvm::find_if(
      nest_.matrices, [&](const loop_nest::MatrixAxes& m) { return m.reduce == reduce; });
  if (axes == nest_.matrices.end() || !target_.inline_ptx) return nullptr;
  const loop_nest::MatrixAxes& m = *axes;
  const auto leaf = [&](const std::string& name) { return where_.axis[nest_.AxisNamed(name)]; };
  const size_t term = nest_.AxisNamed(m.term);
  const auto range =
      llvm::find_if(plan.ranges, [&](const UOp* r) { return axis_of_range_.Get(r) == 1 + term; });
  if (range == plan.ranges.end()) return nullptr;
  const Fragments::Leaves at = {leaf(m.row), leaf(m.row_lane), leaf(m.column_lane), leaf(m.column),
                                *range};
  // Terms that do not exist are zero because one of their factors is.
  const UOp* valid = nullptr;
  if (x->op == Op::kWhere && IsConst(x->src(2)) && x->src(2)->word() == 0) {
    valid = x->src(0);
    x = x->src(1);
  }
  if (x->op != Op::kMul) return nullptr;
  const UOp *left = ConvertedBy(x->src(0)), *right = ConvertedBy(x->src(1));
  const auto of_rows = [&](const UOp* u) {
    return !DependsOn(u, at.column_lane) && !DependsOn(u, at.column);
  };
  const auto of_columns = [&](const UOp* u) {
    return !DependsOn(u, at.row_lane) && !DependsOn(u, at.row);
  };
  if (!of_rows(left) || !of_columns(right)) std::swap(left, right);
  if (!of_rows(left) || !of_columns(right)) return nullptr;
  const MatrixInstruction& instruction = m.instruction;
  if (left->dtype.scalar() != instruction.a || right->dtype.scalar() != instruction.b) {
    return nullptr;
  }
  if (m.IsWarpgroup()) return valid ? nullptr : WarpgroupTerms(m, left, right, *range, plan);
  if (valid) {
    if (!of_rows(valid) && !of_columns(valid)) return nullptr;
    const UOp*& factor = of_rows(valid) ? left : right;
    factor = b_.Where(valid, factor, b_.ConstInt(factor->dtype, 0));
  }
  const int64_t per_register = instruction.PerRegister();
  const bool pairs = per_register == 1 && OwnsPairs(left);
  Fragments fragments(body_, simplify_, at, FreshUnroll(2),
                      per_register > 1 ? FreshUnroll(per_register) : nullptr, pairs);
  const DType results(instruction.accumulator, 4);
  const UOp* const sources[] = {fragments.Left(left), fragments.Right(right),
                                b_.ConstInt(results, 0)};
  Context& ctx = b_.context();
  const UOp* product = ctx.Make(Op::kWmma, results, sources,
                                ctx.MakeAttr(Op::kWmma, {int64_t{ctx.Intern(instruction.name)}}));
  plan.ranges.erase(range);
  if (plan.ranges.empty()) product = Chained(product, std::exchange(plan.unrolls, {}));
  return ctx.Make(Op::kExtract, DType(instruction.accumulator),
                  {product, ResultNumber(at.row, at.column)});
}

void IndexLowering::OrderByAddress(PackedAt& plan, const UOp* x,
                                   const loop_nest::Copy& copy) const {
  std::optional<analysis::AffineExpr> address;
  for (const UOp* u : PostOrder(x)) {
    if (u->op != Op::kLoad || u->src(0)->op != Op::kIndex) continue;
    address = analysis::ParseAffine(u->src(0)->src(1));
    break;
  }
  if (!address) return;
  const auto stride = [&](const PackedAt::Axis& axis) {
    int64_t out = 0;
    for (const auto& term : address->terms) {
      if (term.node == axis.filled) return std::abs(term.coef);
      // A quotient or remainder is of the rows of an image, not of a run.
      if (DependsOn(term.node, axis.filled)) out = INT64_MAX;
    }
    return out;
  };
  if (nest_.matrices[0].IsWarpgroup()) return OrderForWarpgroup(plan, copy, stride);
  if (llvm::none_of(plan.axes, [&](const PackedAt::Axis& a) { return stride(a) == 1; })) return;
  llvm::stable_sort(plan.axes, [&](const PackedAt::Axis& a, const PackedAt::Axis& b) {
    return stride(a) > stride(b);
  });
  // A row has the elements that are next to each other in the source.
  int64_t row = 1;
  plan.row = plan.axes.size();
  const auto add = [&] { row *= plan.axes[--plan.row].size; };
  while (plan.row > 0 && stride(plan.axes[plan.row - 1]) == row) add();
  if (plan.row == 0) {
    // Rows that follow each other without a gap are rows all the same.
    plan.row = plan.axes.size();
    row = 1;
    const size_t base = plan.axes.back().base;
    while (plan.row > 0 && plan.axes[plan.row - 1].base == base) add();
  }
  if (copy.buffers > 2) return;
  // Short rows are put together, since each may get padding: LoopNest::CopyBytes counts no more
  // rows than terms or results.
  int64_t results = 1;
  for (const PackedAt::Axis& axis : plan.axes) {
    if (nest_.base[axis.base].IsStored()) results *= axis.size;
  }
  const int64_t size = plan.SizeFrom(0), rows = std::max(results, size / results);
  while (plan.row > 0 && size / row > rows) add();
}

}  // namespace tg::indices
