#include "passes/kernelize/convolution.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/affine.h"
#include "passes/analysis/indexing.h"
#include "passes/simplify/simplify.h"

namespace tg::kernelize {
namespace {

bool IsWidened(const UOp* u) { return u->op == Op::kCast; }

}  // namespace

bool Convolutions::Trace(const UOp* factor, const UOp** value, Sums& sums) {
  Builder b(indices_);
  simplify::Simplifier simplifier(indices_);
  const auto simplify = [&](const UOp* u) { return simplifier(u); };
  analysis::Position at;
  std::vector<const UOp*> axes;
  for (const Dim& d : shapes_.Of(factor)) {
    axes.push_back(d.Is(1) ? b.Index(0) : b.Range(b.Index(d.value())));
  }
  at.index = axes;
  const UOp* u = factor;
  for (; IsMovement(u->op) && u->op != Op::kView; u = u->src(0)) {
    if (u->op == Op::kPad) break;
    if (!IsStatic(shapes_.Of(u->src(0)))) return false;
    at = analysis::MapThrough(b, u, shapes_.Of(u->src(0)), shapes_.Of(u), at, nullptr, simplify);
    if (at.valid) return false;
  }
  *value = u;
  for (const UOp* index : at.index) {
    const std::optional<analysis::AffineExpr> sum = analysis::ParseAffine(simplifier(index));
    if (!sum || sum->constant != 0) return false;
    std::vector<size_t>& of = sums.emplace_back();
    for (const auto& [node, coef] : sum->terms) {
      const auto axis = llvm::find(axes, node);
      if (coef != 1 || axis == axes.end()) return false;
      of.push_back(static_cast<size_t>(axis - axes.begin()));
    }
  }
  return true;
}

std::optional<Convolution> Convolutions::Find(const UOp* u, int64_t window) {
  if (u->op != Op::kReduceAxis || static_cast<Op>(u->word()) != Op::kAdd) return std::nullopt;
  const UOp* product = u->src(0);
  const Shape& shape = shapes_.Of(product);
  if (product->op != Op::kMul || product->dtype != DType(Scalar::kF32) || !IsStatic(shape)) {
    return std::nullopt;
  }
  // Axes of terms longer than 1: two of the window, and one of channels or none.
  std::vector<size_t> terms;
  for (int64_t axis : u->list(1)) {
    if (!shape[static_cast<size_t>(axis)].Is(1)) terms.push_back(static_cast<size_t>(axis));
  }
  const auto size = [&](size_t axis) { return shape[axis].value(); };
  const auto windows = llvm::count_if(terms, [&](size_t k) { return size(k) == window; });
  if (windows < 2 || terms.size() > 3) return std::nullopt;
  for (size_t n = 0; n < 2; ++n) {
    Convolution out;
    out.reduce = u;
    out.window = window;
    out.weight_factor = n;
    Sums sums, weights;
    if (!Trace(product->src(n), &out.weights, weights)) continue;
    if (!Trace(product->src(1 - n), &out.from, sums)) continue;
    // The axes that the weights vary along: the terms, and the result's channels.
    std::vector<bool> in_weights(shape.size());
    for (const auto& of : weights) {
      for (size_t axis : of) in_weights[axis] = true;
    }
    std::vector<bool> in_input(shape.size());
    size_t spaces = 0;
    bool is_one = true;
    for (size_t from = 0; from < sums.size() && is_one; ++from) {
      std::vector<size_t>& of = sums[from];
      for (size_t axis : of) {
        is_one = is_one && !in_input[axis];
        in_input[axis] = true;
      }
      const auto is_term = [&](size_t axis) { return llvm::is_contained(terms, axis); };
      if (of.size() == 2) {
        if (is_term(of[0])) std::swap(of[0], of[1]);
        is_one = is_one && spaces < 2 && !is_term(of[0]) && is_term(of[1]) &&
                 size(of[1]) == window && !in_weights[of[0]] && in_weights[of[1]];
        if (is_one) out.space[spaces++] = {of[0], of[1], from, size(of[0])};
      } else if (of.size() == 1 && is_term(of[0])) {
        is_one = is_one && !out.channel && in_weights[of[0]];
        out.channel = of[0];
        out.from_channel = from;
        out.channels = size(of[0]);
      } else if (of.size() == 1) {
        is_one = is_one && !in_weights[of[0]];
        out.batch.emplace_back(from, of[0]);
        out.images *= size(of[0]);
      } else {
        is_one = is_one && of.empty();
      }
    }
    if (!is_one || spaces != 2) continue;
    for (size_t axis = 0; axis < shape.size() && is_one; ++axis) {
      if (shape[axis].Is(1) || in_input[axis]) continue;
      is_one = in_weights[axis] && !out.to && !llvm::is_contained(terms, axis);
      out.to = axis;
      out.results = size(axis);
    }
    out.input = out.from->op == Op::kPad ? out.from->src(0) : out.from;
    if (!is_one || IsWidened(out.input) || IsWidened(out.weights)) continue;
    if (out.input->num_srcs == 0 && IsConst(out.input)) continue;
    return out;
  }
  return std::nullopt;
}

}  // namespace tg::kernelize
