#include "passes/kernelize/term_runs.h"

#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/rewrite_graph.h"
#include "passes/kernelize/stored_factor.h"

namespace tg::kernelize {
namespace {

// Bytes that an asynchronous copy moves, and the fewest products that each element of a factor is
// in, so that storing it once more does not matter.
constexpr int64_t kRunBytes = 16, kLeastUses = 64;

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
  RunsWriter(Body& body, ShapeMap& shapes) : b_(*body.context), shapes_(shapes) {}

  // The same sum; null if it is none of this kind.
  const UOp* Rewritten(const UOp* u) {
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return nullptr;
    const UOp* product = u->src(0);
    const Shape& shape = shapes_.Of(product);
    if (product->op != Op::kMul || !IsStatic(shape)) return nullptr;
    std::optional<size_t> axis;
    int64_t windows = 0;
    for (int64_t k : u->list(1)) {
      const auto own = static_cast<size_t>(k);
      windows += !shape[own].Is(1);
      if (!axis || shape[own].value() > shape[*axis].value()) axis = own;
    }
    if (!axis) return nullptr;
    std::optional<StoredFactor> stored[2];
    bool moves = false;
    for (size_t n = 0; n < 2; ++n) {
      stored[n] = FindStored(product->src(n), *axis, shapes_);
      if (!stored[n]) return nullptr;
      const Shape& own = shapes_.Of(stored[n]->value);
      moves |= !IsInnermost(own, stored[n]->axis);
      if (NumElements(shape) / NumElements(own) < kLeastUses) return nullptr;
    }
    const Scalar a = stored[0]->value->dtype.scalar(), b = stored[1]->value->dtype.scalar();
    if (!moves || !MatrixInstructionFor(a, b, product->dtype.scalar(), {})) return nullptr;
    // Halves whose results are next to each other are transposed by `ldmatrix`, which bytes are
    // not: the rows of a plain matrix are stored once more too.
    const int64_t run = kRunBytes / ByteSize(a), terms = shape[*axis].value();
    const bool gathers = ByteSize(a) == 1 || windows > 1;
    if (!gathers || terms % run != 0 || terms < 2 * run) return nullptr;
    const std::vector<int64_t> order = LastTerm(u, *axis);
    const UOp* factors[2];
    for (size_t n = 0; n < 2; ++n) factors[n] = b_.Permute(InRuns(*stored[n]), order);
    return b_.ReduceAxis(b_.Mul(factors[0], factors[1]), Op::kAdd, u->list(1));
  }

 private:
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

  const UOp* InRuns(const StoredFactor& stored) {
    const UOp* x = stored.value;
    const Shape& shape = shapes_.Of(x);
    if (!IsInnermost(shape, stored.axis)) {
      const std::vector<int64_t> last = WithLast(shape.size(), stored.axis);
      // Work-items that share a row would store neighbours of the row far from each other.
      if (IsNormalized(x, shapes_)) x = b_.context().Make(Op::kContiguous, x->dtype, {x});
      const UOp* moved = b_.Permute(x, last);
      const UOp* copy = b_.context().Make(Op::kContiguous, x->dtype, {moved});
      x = b_.Permute(copy, Inverse(last));
    }
    return stored.ReadFrom(b_.context(), x);
  }

  Builder b_;
  ShapeMap& shapes_;
};

}  // namespace

void LayTermsInRuns(const Module& module, Body& body, ShapeMap& shapes,
                    const passes::Target& target, NodeSet& fused, UOpSpan order) {
  if (module.flags.has(ModuleFlag::kNoReassociate) || !target.HasMatrixInstructions() ||
      !target.HasAsyncCopies()) {
    return;
  }
  RunsWriter writer(body, shapes);
  RewriteGraph(body, fused, order, [&](const UOp* u) { return writer.Rewritten(u); });
}

}  // namespace tg::kernelize
