#include "passes/kernelize/term_runs.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/rewrite_graph.h"
#include "passes/kernelize/stored_factor.h"

namespace tg::kernelize {
namespace {

// Bytes that an asynchronous copy moves, at most and at least; the fewest products that each
// element of a factor is in, so that storing it once more does not matter, if it is in the longest
// runs.
constexpr int64_t kRunBytes = 16, kLeastRunBytes = 8, kLeastUses = 64;
// The terms of a matrix instruction.
constexpr int64_t kDepth = 16;

// How many terms make up whole runs: these, or one short run of those of a window, of which at most
// a quarter are zeros. Nullopt if neither.
std::optional<int64_t> SizeInRuns(int64_t terms, int64_t bytes, bool in_window) {
  const int64_t run = kRunBytes / bytes, least = kLeastRunBytes / bytes;
  if (terms % run == 0 && terms >= 2 * run) return terms;
  const bool fills = in_window && terms <= least && 4 * terms >= 3 * least;
  return fills ? std::optional(least) : std::nullopt;
}

// Whether a value is made of rows that it reads again for their statistics, as a norm: reduces that
// are repeated along what they combine share a node with the value's arithmetic.
bool IsNormalized(const UOp* value, ShapeMap& shapes) {
  const auto is_inner = [](const UOp* u) {
    return u->num_srcs > 0 && (IsElementwise(u->op) || IsMovement(u->op));
  };
  struct Visit {
    const UOp* u;
    bool is_repeated;
  };
  NodeSet plain, repeated, below;
  std::vector<const UOp*> reduces;
  std::vector<Visit> stack = {{value, false}};
  while (!stack.empty()) {
    const auto [u, is_repeated] = stack.back();
    stack.pop_back();
    if (!(is_repeated ? repeated : plain).Insert(u)) continue;
    if (is_repeated && u->op == Op::kReduceAxis) reduces.push_back(u->src(0));
    if (!is_inner(u)) continue;
    const bool repeats =
        u->op == Op::kExpand && NumElements(shapes.Of(u)) > NumElements(shapes.Of(u->src(0)));
    for (const UOp* s : u->srcs()) stack.push_back({s, is_repeated || repeats});
  }
  while (!reduces.empty()) {
    const UOp* u = reduces.back();
    reduces.pop_back();
    if (!below.Insert(u)) continue;
    if (!IsConst(u) && u->op != Op::kIota && plain.Contains(u)) return true;
    if (is_inner(u)) reduces.insert(reduces.end(), u->srcs().begin(), u->srcs().end());
  }
  return false;
}

class RunsWriter {
 public:
  // `rounds`: matrix instructions of warpgroups take f32, too.
  RunsWriter(Body& body, ShapeMap& shapes, bool rounds)
      : b_(*body.context), shapes_(shapes), rounds_(rounds) {}

  // The same sum; null if it is none of this kind.
  const UOp* Rewritten(const UOp* u) {
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return nullptr;
    const UOp* product = u->src(0);
    const Shape& shape = shapes_.Of(product);
    if (product->op != Op::kMul || !IsStatic(shape)) return nullptr;
    const std::optional<Terms> found = FindTerms(u, shape);
    if (!found) return nullptr;
    const auto& [axis, stored] = *found;
    int64_t windows = 0;
    for (int64_t k : u->list(1)) windows += !shape[static_cast<size_t>(k)].Is(1);
    const Scalar a = stored[0].value->dtype.scalar(), b = stored[1].value->dtype.scalar();
    const int64_t terms = shape[axis].value();
    // Products of wide elements take several instructions, which zeros would not pay for.
    const bool in_window = windows > 1 && ByteSize(a) <= 2;
    const std::optional<int64_t> size = SizeInRuns(terms, ByteSize(a), in_window);
    if (!size) return nullptr;
    const int64_t run = std::min(kRunBytes, *size * int64_t{ByteSize(a)});
    bool moves = *size != terms;
    for (const StoredFactor& s : stored) {
      const Shape& own = shapes_.Of(s.value);
      moves |= !IsInnermost(own, s.axis);
      const int64_t uses = NumElements(shape) / NumElements(own);
      if (uses < kLeastUses * (kRunBytes / run)) return nullptr;
    }
    if (!moves || !MatrixInstructionFor(a, b, product->dtype.scalar(), {})) return nullptr;
    // Halves whose results are next to each other are transposed by `ldmatrix`, or taken as they
    // are, which others are not: the rows of a plain matrix are stored once more too.
    const bool gathers = ByteSize(a) == 1 || (ByteSize(a) == 4 && rounds_) || windows > 1;
    if (!gathers) return nullptr;
    const std::vector<int64_t> order = LastTerm(u, axis);
    const UOp* factors[2];
    for (size_t n = 0; n < 2; ++n) {
      factors[n] = b_.Permute(InRuns(stored[n], *size), order);
      if (in_window) factors[n] = WithWholeRows(factors[n], u->list(1));
    }
    return b_.ReduceAxis(b_.Mul(factors[0], factors[1]), Op::kAdd, u->list(1));
  }

 private:
  // The longest axis of terms along which both factors are stored whole.
  struct Terms {
    size_t axis = 0;
    StoredFactor stored[2];
  };

  std::optional<Terms> FindTerms(const UOp* u, const Shape& shape) {
    std::optional<Terms> best;
    for (int64_t k : u->list(1)) {
      const auto axis = static_cast<size_t>(k);
      if (best && shape[axis].value() <= shape[best->axis].value()) continue;
      std::optional<StoredFactor> a = FindStored(u->src(0)->src(0), axis, shapes_);
      std::optional<StoredFactor> b = FindStored(u->src(0)->src(1), axis, shapes_);
      if (a && b) best = {axis, {*std::move(a), *std::move(b)}};
    }
    return best;
  }

  // The order of the product's axes in which `axis` is the last one of terms.
  std::vector<int64_t> LastTerm(const UOp* u, size_t axis) {
    std::vector<int64_t> order(shapes_.Of(u).size());
    std::vector<int64_t> terms(u->list(1).begin(), u->list(1).end());
    llvm::sort(terms);
    std::vector<int64_t> moved = terms;
    llvm::erase_value(moved, static_cast<int64_t>(axis));
    moved.push_back(static_cast<int64_t>(axis));
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int64_t>(k);
    for (size_t n = 0; n < terms.size(); ++n) order[static_cast<size_t>(terms[n])] = moved[n];
    return order;
  }

  // The factor from a copy whose last axis is that of the terms, with `size` of them. What it has
  // more than the value is zero.
  const UOp* InRuns(const StoredFactor& stored, int64_t size) {
    const UOp* x = stored.value;
    const Shape& shape = shapes_.Of(x);
    const int64_t zeros = size - shape[stored.axis].value();
    if (!IsInnermost(shape, stored.axis) || zeros > 0) {
      const std::vector<int64_t> last = WithLast(shape.size(), stored.axis);
      // Work-items that share a row would store neighbours of the row far from each other.
      if (IsNormalized(x, shapes_)) x = b_.context().Make(Op::kContiguous, x->dtype, {x});
      const UOp* moved = b_.Permute(x, last);
      if (zeros > 0) {
        std::vector<std::pair<Dim, Dim>> widths(shape.size(), {0, 0});
        widths.back().second = zeros;
        moved = b_.Pad(moved, widths);
      }
      const UOp* copy = b_.context().Make(Op::kContiguous, x->dtype, {moved});
      x = b_.Permute(copy, Inverse(last));
    }
    return stored.ReadFrom(b_.context(), x, size);
  }

  // The factor with zeros behind each row of a window if few terms make up a row, so that rows
  // begin where the terms of an instruction do.
  const UOp* WithWholeRows(const UOp* factor, std::span<const int64_t> terms) {
    const Shape& shape = shapes_.Of(factor);
    int64_t rows = 1;
    llvm::SmallVector<size_t, 4> axes;  // of terms
    for (int64_t k : terms) {
      if (!shape[static_cast<size_t>(k)].Is(1)) axes.push_back(static_cast<size_t>(k));
    }
    llvm::sort(axes);
    if (axes.size() < 2) return factor;
    const size_t last = axes.pop_back_val(), window = axes.pop_back_val();
    for (size_t k : axes) rows *= shape[k].value();
    const int64_t run = shape[last].value(), steps = shape[window].value();
    if (kDepth % run != 0) return factor;
    const int64_t whole = RoundUp(steps * run, kDepth);
    if (rows * whole > RoundUp(rows * steps * run, 2 * kDepth)) return factor;
    std::vector<std::pair<Dim, Dim>> widths(shape.size(), {0, 0});
    widths[window].second = whole / run - steps;
    return b_.Pad(factor, widths);
  }

  Builder b_;
  ShapeMap& shapes_;
  const bool rounds_;
};

}  // namespace

void LayTermsInRuns(const Module& module, Body& body, ShapeMap& shapes,
                    const passes::Target& target, NodeSet& fused, UOpSpan order) {
  if (module.flags.has(ModuleFlag::kNoReassociate) || !target.HasMatrixInstructions() ||
      !target.HasAsyncCopies()) {
    return;
  }
  RunsWriter writer(body, shapes,
                    target.HasWarpgroupInstructions() && module.flags.has(ModuleFlag::kTf32));
  RewriteGraph(body, fused, order, [&](const UOp* u) { return writer.Rewritten(u); });
}

}  // namespace tg::kernelize
