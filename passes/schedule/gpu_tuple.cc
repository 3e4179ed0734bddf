// Schedules kernels on a GPU that combine tuples of two products, as attention does
// (kernelize/online_softmax.h).
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "base/check.h"
#include "ir/tuple.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/cost/tile_cost.h"
#include "passes/directives/directives.h"
#include "passes/directives/in_two_parts.h"
#include "passes/schedule/contraction.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

constexpr size_t kNone = SIZE_MAX;
// Neighbouring results of a matrix instruction that a work-item has.
constexpr int64_t kPair = 2;

const UOp* WithoutMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

// The value that a factor is, or is widened from.
const UOp* SourceOf(const UOp* factor) {
  const UOp* cast = WithoutMovement(factor);
  return cast->op == Op::kCast ? WithoutMovement(cast->src(0)) : cast;
}

// The two sums of products of a body that combines tuples: the second is computed from the first.
std::vector<Contraction> FindSums(const Body& body) {
  std::vector<Contraction> out;
  bool combines = false;
  for (const UOp* u : body.Order()) {
    combines |= u->op == Op::kReduceTuple;
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) continue;
    const UOp* product = WithoutMovement(u->src(0));
    if (product->op == Op::kMul) out.push_back({u, product});
  }
  const bool fits =
      combines && out.size() == 2 && llvm::is_contained(PostOrder(out[1].reduce), out[0].reduce);
  return fits ? out : std::vector<Contraction>();
}

// Base axes of a nest.
struct TupleAxes {
  size_t row = kNone, result = kNone;    // of what the kernel stores
  size_t tuple = kNone;                  // the blocks
  size_t own_result = kNone;             // of what the tuple combines
  size_t terms[2] = {kNone, kNone};      // of the sums
  size_t query = kNone, scores = kNone;  // staged values; the terms of the first, and blocks'
  size_t exponentials = kNone;
  std::vector<size_t> other_terms;  // of other reduces of a block
  bool ends_early = false;          // whether the last blocks may change nothing (SoftmaxInBlocks)
  size_t packed[2] = {kNone, kNone};
};

bool SetOnce(size_t& axis, size_t to) {
  const bool fresh = axis == kNone;
  axis = to;
  return fresh;
}

// Whether each number of a tuple selects its identity in some blocks.
bool EndsEarly(const UOp* tuple) {
  return llvm::all_of(TupleValues(tuple),
                      [](const UOp* value) { return WithoutMovement(value)->op == Op::kWhere; });
}

std::optional<TupleAxes> FindTupleAxes(const loop_nest::LoopNest& s,
                                       const std::vector<Contraction>& sums) {
  TupleAxes out;
  const std::vector<const UOp*> of_scores = PostOrder(sums[0].reduce);
  const UOp* staged_exponentials = nullptr;
  for (const UOp* factor : sums[1].product->srcs()) {
    if (SourceOf(factor)->op == Op::kStaged) staged_exponentials = SourceOf(factor);
  }
  for (size_t n = 0; n < s.base.size(); ++n) {
    const analysis::BaseAxis& base = s.base[n];
    bool fresh = true;
    if (base.reduce && base.reduce->op == Op::kReduceTuple) {
      fresh = SetOnce(out.tuple, n);
      out.ends_early = EndsEarly(base.reduce);
    } else if (base.reduce == sums[0].reduce || base.reduce == sums[1].reduce) {
      fresh = SetOnce(out.terms[base.reduce == sums[1].reduce ? 1 : 0], n);
    } else if (base.reduce) {
      out.other_terms.push_back(n);
    } else if (base.staged && base.staged->op == Op::kReduceTuple) {
      fresh = SetOnce(out.own_result, n);
    } else if (base.staged == staged_exponentials) {
      fresh = SetOnce(out.exponentials, n);
    } else if (base.staged && llvm::is_contained(of_scores, base.staged)) {
      fresh = SetOnce(out.query, n);
    } else if (base.staged) {
      fresh = SetOnce(out.scores, n);
    }
    if (!fresh) return std::nullopt;
  }
  for (size_t axis : {out.tuple, out.own_result, out.terms[0], out.terms[1], out.query, out.scores,
                      out.exponentials}) {
    if (axis == kNone) return std::nullopt;
  }
  for (size_t n = 0; n < s.packed.size(); ++n) {
    const bool first = llvm::is_contained(of_scores, s.packed[n].node);
    if (!SetOnce(out.packed[first ? 0 : 1], n)) return std::nullopt;
  }
  if (out.packed[0] == kNone || out.packed[1] == kNone) return std::nullopt;
  const analysis::LoopSet copied = s.packed[out.packed[0]].varies | s.packed[out.packed[1]].varies;
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (!s.base[n].IsStored()) continue;
    const analysis::LoopSet bit = analysis::LoopBit(n);
    if ((s.varies[out.tuple] & bit) == 0) {
      if (!SetOnce(out.result, n)) return std::nullopt;
    } else if ((s.varies[out.query] & bit) != 0 && (copied & bit) == 0) {
      out.row = n;  // the last one
    }
  }
  // The launch decides how many blocks and rows there are.
  for (size_t n = 0; n < s.base.size(); ++n) {
    const bool may_vary = n == out.tuple || (s.base[n].IsStored() && n != out.result);
    if (s.base[n].size.is_symbolic() && !may_vary) return std::nullopt;
  }
  return out.row != kNone && out.result != kNone ? std::optional(out) : std::nullopt;
}

class Writer {
 public:
  Writer(loop_nest::LoopNest& nest, const passes::Target& target, const TupleAxes& axes)
      : target_(target), axes_(axes), nest_(nest), to_(nest, target) {}

  std::optional<std::vector<Directive>> Write(const MatrixInstruction& instruction) {
    const std::string row = Name(axes_.row);
    // Of a symbolic number of rows, groups have whole ones.
    const bool is_symbolic = nest_.base[axes_.row].size.is_symbolic();
    const int64_t in_rows = CeilDiv(to_.Size(row), instruction.m);
    const int64_t own = TilesOf(in_rows, is_symbolic, instruction);
    const int64_t units = UnitsOf(in_rows / own, is_symbolic, instruction);
    to_.Pad(row, instruction.m * (is_symbolic ? own * units : 1));
    // Results: pairs of neighbours, of which four work-items have one each.
    const Parts results = Divide(Name(axes_.result), kPair);
    const std::string lanes = results.owned;
    to_.Try(directive::Local{{lanes, std::nullopt}});
    Bind<directive::Upcast>({results.pair, results.tiles});
    const bool is_whole = to_.Size(row) == instruction.m;
    Sum(row, axes_.scores, axes_.terms[0], lanes, instruction);
    const std::string of_row = is_whole ? row : row + ".1";
    Sum(of_row + ".0", axes_.own_result, axes_.terms[1], lanes, instruction);
    to_.Pad(Name(axes_.query), instruction.k);
    for (size_t axis : {axes_.query, axes_.exponentials}) {
      const Parts parts =
          Divide(Name(axis), axis == axes_.query ? instruction.PerRegister() : kPair);
      to_.Try(directive::Own{parts.owned, lanes});
      Bind<directive::Upcast>({parts.pair, parts.tiles});
    }
    for (size_t axis : axes_.other_terms) {
      const Parts parts = Divide(Name(axis), kPair);
      to_.Try(directive::Own{parts.owned, lanes});
      Bind<directive::Unroll>({parts.pair, parts.tiles});
    }
    if (!is_whole) {
      std::string tiles = row + ".0";
      if (own > 1) {
        const auto parts = to_.Split(tiles, own);
        to_.Try(directive::Upcast{{parts.second, std::nullopt}});
        tiles = parts.first;
      }
      const auto [groups, subgroups] = to_.Split(tiles, units);
      if (!subgroups.empty()) to_.Try(directive::Local{{subgroups, std::nullopt}});
      // The groups of the last rows have the most blocks, and begin first.
      const size_t last = LastDimension();
      if (axes_.ends_early && !groups.empty() && to_.Size(groups) <= target_.max_groups[last]) {
        to_.Try(directive::Grid{groups, static_cast<int64_t>(last),
                                std::string(directive::Grid::kDown)});
      }
    }
    // The sums' terms are in the loop over blocks.
    directive::Order order = {{Name(axes_.tuple)}};
    order.axes.insert(order.axes.end(), loops_.begin(), loops_.end());
    to_.Try(order);
    constexpr int64_t kCopies = 3;
    for (size_t number : axes_.packed) {
      to_.Try(directive::Pack{absl::StrCat("p", number),
                              Name(axes_.tuple),
                              {.is_local = true, .buffers = kCopies, .ahead = true}});
    }
    return to_.all_legal() ? std::optional(to_.Take()) : std::nullopt;
  }

 private:
  // An axis that columns, or terms, of matrix instructions are: `owned` by four work-items.
  struct Parts {
    std::string tiles, owned, pair;
  };

  const std::string& Name(size_t base) const { return nest_.base[base].name; }

  // Each work-item owns `own` neighbours of every 4 * own.
  Parts Divide(const std::string& axis, int64_t own) {
    const auto [tiles, tile] = to_.Split(axis, 4 * own);
    const auto [owned, pair] = to_.Split(tile, own);
    return {tiles, owned, pair};
  }

  // An axis of more steps than the directive takes is bound in two parts.
  template <typename D>
  void Bind(std::initializer_list<std::string> axes) {
    for (const std::string& axis : axes) {
      if (axis.empty()) continue;
      // An axis that cannot be divided so is too long for the directive, which refuses it.
      const int64_t inner = directive::InnerOfTwo(to_.Size(axis), D::kMost);
      if (inner == 0) {
        to_.Try(D{{axis, std::nullopt}});
        return;
      }
      const auto parts = to_.Split(axis, inner);
      for (const std::string& part : {parts.second, parts.first}) {
        if (!part.empty()) to_.Try(D{{part, std::nullopt}});
      }
    }
  }

  void Sum(const std::string& row, size_t columns, size_t terms, const std::string& lanes,
           const MatrixInstruction& instruction) {
    const std::string column = Name(columns), term = Name(terms);
    to_.Pad(term, instruction.k);
    const bool several = to_.Size(column) > instruction.n, blocks = to_.Size(term) > instruction.k;
    to_.Try(directive::Matrix{row, column, term, lanes});
    if (several) Bind<directive::Upcast>({column + ".0"});
    if (blocks) Bind<directive::Unroll>({term + ".0"});
    loops_.push_back(blocks ? term + ".1" : term);
  }

  // The grid's last dimension, behind those of the other global axes.
  size_t LastDimension() const {
    const auto is_global = [](const loop_nest::LoopAxis& a) {
      return a.kind == AxisKind::kGlobal && a.max_size > 1;
    };
    const auto others = static_cast<size_t>(llvm::count_if(nest_.axes, is_global)) - 1;
    return std::min<size_t>(others, 2);
  }

  // Subgroups of a group, which share its copies, where there are groups for all units.
  int64_t UnitsOf(int64_t tiles, bool is_symbolic, const MatrixInstruction& instruction) const {
    // More would wait for each other at the barriers: several groups share a unit instead. Where
    // blocks are skipped, those of the first rows wait for those of the last ones, which copies of
    // narrow factors are not worth.
    int64_t units = axes_.ends_early && !instruction.in_parts ? kMostUnits / 2 : kMostUnits;
    const auto divides = [&] { return is_symbolic || tiles % units == 0; };
    while (units > 1 && (!divides() || !FillUnits(tiles / units))) units /= 2;
    return units;
  }

  // Tiles of rows that a subgroup has: two use what it loads from local memory twice.
  int64_t TilesOf(int64_t tiles, bool is_symbolic, const MatrixInstruction& instruction) const {
    constexpr int64_t kTwo = 2;
    const auto size = [&](size_t axis) { return nest_.base[axis].max_size; };
    const int64_t registers =
        cost::TupleRegisters(kTwo, size(axes_.scores), size(axes_.result),
                             RoundUp(size(axes_.query), instruction.k), instruction, target_);
    const bool fits = registers <= 2 * target_.vector_registers;
    const bool divides = is_symbolic || tiles % (kTwo * kMostUnits) == 0;
    return fits && divides && FillUnits(tiles / (kTwo * kMostUnits)) ? kTwo : 1;
  }

  // Whether there are groups for all units, if a head has this number of them.
  bool FillUnits(int64_t groups) const {
    for (size_t n = 0; n < nest_.base.size(); ++n) {
      const bool is_other = nest_.base[n].IsStored() && n != axes_.row && n != axes_.result;
      if (is_other) groups = SaturatingMul(groups, nest_.base[n].max_size);
    }
    return groups >= target_.compute_units;
  }

  static constexpr int64_t kMostUnits = 4;
  const passes::Target& target_;
  const TupleAxes& axes_;
  loop_nest::LoopNest& nest_;
  directive::DirectiveList to_;
  std::vector<std::string> loops_;
};

}  // namespace

// Both products become matrix instructions: scores = queries * keys, and exponentials of scores *
// values. A subgroup has 16 queries, whose scores of a block, and results, are in its registers;
// the exponentials are where the second product takes them, so that no work-item reads another's.
// The keys and values of a block are copied to local memory ahead.
std::optional<BodySchedules> ProposeMatrixTuples(const BodyRequest& request, Kernel& kernel) {
  const passes::Target& target = request.plain.target();
  std::vector<Contraction> sums = FindSums(kernel.body);
  if (sums.empty() || kernel.body.root->num_srcs != 1 || !target.HasMatrixInstructions()) {
    return std::nullopt;
  }
  const UOp *a = SourceOf(sums[1].product->src(0)), *b = SourceOf(sums[1].product->src(1));
  const auto instruction = MatrixInstructionFor(
      a->dtype.scalar(), b->dtype.scalar(), sums[1].product->dtype.scalar(), request.module.flags);
  if (!instruction) return std::nullopt;
  kernel.body.root = WithPackedOperands(kernel, sums, instruction);
  sums = FindSums(kernel.body);
  TG_CHECK(sums.size() == 2);
  ShapeMap shapes(request.module, *kernel.body.context);
  absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(request.module, request.calls, kernel, target, shapes);
  if (!nest.ok() || nest->IsInPlace()) return std::nullopt;
  const std::optional<TupleAxes> axes = FindTupleAxes(*nest, sums);
  if (!axes) return std::nullopt;
  auto directives = Writer(*nest, target, *axes).Write(*instruction);
  if (!directives) return std::nullopt;
  return BodySchedules{{*std::move(directives)}, {}};
}

}  // namespace tg::schedule
