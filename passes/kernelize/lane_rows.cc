#include "passes/kernelize/lane_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/rewrite_graph.h"
#include "passes/kernelize/stored_factor.h"

namespace tg::kernelize {
namespace {

// Whether `u` is the same for all elements along an axis, by the movement ops that it is made of.
bool Repeats(const UOp* u, size_t axis, ShapeMap& shapes) {
  for (; u->num_srcs > 0; u = u->src(0)) {
    if (u->op == Op::kPermute) {
      axis = static_cast<size_t>(u->list()[axis]);
    } else if (u->op == Op::kExpand) {
      if (shapes.Of(u->src(0))[axis].Is(1)) return true;
    } else if (u->op != Op::kCast) {
      return false;
    }
  }
  return false;
}

class RowsWriter {
 public:
  RowsWriter(const Module& module, Body& body, ShapeMap& shapes, const passes::Target& target,
             bool is_repeated, NodeSet& fused)
      : b_(*body.context),
        shapes_(shapes),
        target_(target),
        is_repeated_(is_repeated),
        fused_(fused) {
    for (const BufferDecl& decl : module.buffers) {
      if (decl.role == Role::kParam && !decl.dtype.is_image()) params_.insert(decl.name);
    }
  }

  bool HasParams() const { return !params_.empty(); }

  // Notes whether `u`, whose sources were seen before, is made of params alone.
  void See(const UOp* u) {
    SeeDecoded(u);
    bool fixed = u->num_srcs > 0 && (IsElementwise(u->op) || IsMovement(u->op)), varies = false;
    if (u->op == Op::kBuffer) {
      const std::string_view name = b_.context().String(static_cast<StringId>(u->word()));
      fixed = varies = params_.contains(name) && !fused_.Contains(u);
    }
    for (const UOp* s : u->srcs()) {
      fixed = fixed && (IsConst(s) || fixed_.Contains(s));
      varies = varies || !IsConst(s);
    }
    if (fixed && varies) fixed_.Insert(u);
  }

  // The same for params that must not be stored in another form.
  void SeeDecoded(const UOp* u) {
    bool is_known = IsConst(u) || u->op == Op::kIota, decoded = false;
    if (u->op == Op::kBuffer) {
      const std::string_view name = b_.context().String(static_cast<StringId>(u->word()));
      is_known = decoded = params_.contains(name) && fused_.Contains(u);
    } else if (IsElementwise(u->op) || IsMovement(u->op)) {
      const UOpSpan values = IsMovement(u->op) ? u->srcs().first(1) : u->srcs();  // without sizes
      is_known = llvm::all_of(values, [&](const UOp* s) { return known_.Contains(s); });
      decoded = llvm::any_of(values, [&](const UOp* s) { return decoded_.Contains(s); });
    }
    if (is_known) known_.Insert(u);
    if (is_known && decoded) decoded_.Insert(u);
  }

  // The same sum; null if it is none of this kind.
  const UOp* Rewritten(const UOp* u) {
    if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return nullptr;
    const UOp* product = u->src(0);
    const bool is_product = product->op == Op::kMul && product->dtype.is_float();
    if (!is_product && product->op != Op::kDot4) return nullptr;
    const auto terms = u->list(1);
    const Shape& shape = shapes_.Of(product);
    for (size_t n = 0; n < 2; ++n) {
      const UOp *weights = product->src(n), *other = product->src(1 - n);
      if (decoded_.Contains(weights)) {
        if (HasRows(weights, other, shape, terms)) fused_.Insert(weights);
        continue;
      }
      const bool has_symbolic_rows = HasSymbolicRows(weights, other, shape, terms);
      if (!has_symbolic_rows && !is_repeated_) continue;
      std::optional<size_t> lanes;
      for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k].is_symbolic() || llvm::is_contained(terms, static_cast<int64_t>(k))) continue;
        if (!Repeats(other, k, shapes_)) continue;
        if (!lanes || shape[*lanes].value() < shape[k].value()) lanes = k;
      }
      if (!lanes) continue;
      const std::optional<StoredFactor> stored = FindStored(weights, *lanes, shapes_, is_repeated_);
      if (!stored || !fixed_.Contains(stored->value)) continue;
      if (!has_symbolic_rows && IsInnermost(shapes_.Of(stored->value), stored->axis)) continue;
      const UOp* laid = InRows(*stored);
      if (!laid) continue;
      llvm::SmallVector<const UOp*, 3> srcs(product->srcs().begin(), product->srcs().end());
      srcs[n] = laid;
      product = b_.context().Rebuild(product, b_.context(), {srcs.data(), srcs.size()});
      return b_.ReduceAxis(product, Op::kAdd, terms);
    }
    return nullptr;
  }

 private:
  // Whether results along some axis differ by `other` alone.
  bool HasRows(const UOp* weights, const UOp* other, const Shape& shape,
               std::span<const int64_t> terms) {
    return llvm::any_of(llvm::seq<size_t>(0, shape.size()), [&](size_t k) {
      return !shape[k].Is(1) && !llvm::is_contained(terms, static_cast<int64_t>(k)) &&
             Repeats(weights, k, shapes_) && !Repeats(other, k, shapes_);
    });
  }

  // Whether results along a symbolic axis differ by `other` alone.
  bool HasSymbolicRows(const UOp* weights, const UOp* other, const Shape& shape,
                       std::span<const int64_t> terms) {
    bool any = false;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (!shape[k].is_symbolic()) continue;
      if (llvm::is_contained(terms, static_cast<int64_t>(k))) return false;
      any = any || (Repeats(weights, k, shapes_) && !Repeats(other, k, shapes_));
    }
    return any;
  }

  const UOp* InRows(const StoredFactor& stored) {
    const UOp* x = stored.value;
    const Shape& shape = shapes_.Of(x);
    if (!IsStatic(shape) || (IsMovement(x->op) && !is_repeated_)) return nullptr;
    const int64_t element = ByteSize(x->dtype.scalar()), lanes = shape[stored.axis].value();
    const int64_t rows = NumElements(shape) / std::max<int64_t>(1, lanes);
    if (rows < 2 || lanes * element < target_.alu_width || target_.cache_line % element != 0) {
      return nullptr;
    }
    int64_t lines = CeilDiv(lanes * element, target_.cache_line);
    lines += lines % 2 == 0;
    const int64_t row = lines * target_.cache_line / element;
    const std::vector<int64_t> last = WithLast(shape.size(), stored.axis);
    x = b_.Permute(x, last);
    std::vector<std::pair<Dim, Dim>> widths, ranges;
    for (int64_t k : last) {
      widths.emplace_back(0, 0);
      ranges.emplace_back(0, shape[static_cast<size_t>(k)]);
    }
    widths.back().second = row - lanes;
    if (row != lanes) x = b_.Pad(x, widths);
    x = b_.context().Make(Op::kContiguous, x->dtype, {x});
    if (row != lanes) x = b_.Shrink(x, ranges);
    return stored.ReadFrom(b_.context(), b_.Permute(x, Inverse(last)));
  }

  Builder b_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  const bool is_repeated_;
  NodeSet& fused_;
  std::unordered_set<std::string_view> params_;
  NodeSet fixed_;            // made of params
  NodeSet known_, decoded_;  // made of constants and of params in `fused_`; with such a param
};

}  // namespace

void LayLanesInRows(const Module& module, Body& body, ShapeMap& shapes,
                    const passes::Target& target, bool is_repeated, NodeSet& fused, UOpSpan order) {
  if (!target.HasVectors() || target.HidesWaits()) return;
  RowsWriter writer(module, body, shapes, target, is_repeated, fused);
  if (!writer.HasParams()) return;
  RewriteGraph(body, fused, order, [&](const UOp* u) {
    writer.See(u);
    return writer.Rewritten(u);
  });
}

}  // namespace tg::kernelize
