#include "llvm/ADT/STLExtras.h"
#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

// The axes along which a factor of the product varies, if it is a packed value of halves that is
// converted to float.
std::optional<analysis::LoopSet> VariesOf(const loop_nest::LoopNest& nest, const UOp* factor) {
  const UOp* cast = BelowMovement(factor);
  if (cast->op != Op::kCast) return std::nullopt;
  const UOp* half = BelowMovement(cast->src(0));
  if (half->dtype.scalar() != Scalar::kF16) return std::nullopt;
  for (const analysis::PackedValue& value : nest.packed) {
    if (value.node == half) return value.varies;
  }
  return std::nullopt;
}

// Fails unless the reduce is the sum, in float, of products of two packed values of halves, and the
// first of `axes` is one of one factor, the second one of the other, and the third one of both.
absl::Status CheckProduct(const loop_nest::LoopNest& nest, const UOp* reduce,
                          const loop_nest::AxisList& axes) {
  const UOp* product = BelowMovement(reduce->src(0));
  if (static_cast<Op>(reduce->word()) != Op::kAdd || product->op != Op::kMul ||
      product->dtype.scalar() != Scalar::kF32) {
    return Illegal("the reduce is no sum of products in f32");
  }
  const auto a = VariesOf(nest, product->src(0)), b = VariesOf(nest, product->src(1));
  if (!a || !b) return Illegal("a factor is no packed value of type f16 that is cast to f32");
  const analysis::LoopSet row = analysis::LoopBit(nest.axes[axes[0]].base),
                          column = analysis::LoopBit(nest.axes[axes[1]].base);
  const auto fits = [&](analysis::LoopSet of_rows, analysis::LoopSet of_columns) {
    return (of_rows & row) != 0 && (of_rows & column) == 0 && (of_columns & column) != 0 &&
           (of_columns & row) == 0;
  };
  if (!fits(*a, *b) && !fits(*b, *a)) {
    return Illegal("one factor must vary along axis ", nest.axes[axes[0]].name,
                   " and only the other along axis ", nest.axes[axes[1]].name);
  }
  const analysis::LoopSet term = analysis::LoopBit(nest.axes[axes[2]].base);
  if ((*a & *b & term) != 0) return absl::OkStatus();
  return Illegal("a factor does not vary along axis ", nest.axes[axes[2]].name);
}

// Splits the inner `size` steps off, unless the axis has no others. Returns the name of the inner
// axis.
std::string Inner(loop_nest::LoopNest& nest, const std::string& axis, int64_t size) {
  const size_t at = nest.AxisNamed(axis);
  const int64_t whole = nest.axes[at].max_size;
  if (whole == size) return axis;
  nest.Split(at, whole / size, size);
  return axis + ".1";
}

}  // namespace

absl::Status Matrix::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  if (nest.matrix) return Illegal("the kernel has matrix instructions already");
  const std::pair<const std::string*, int64_t> parts[] = {
      {&rows, loop_nest::MatrixAxes::kRows},
      {&columns, loop_nest::MatrixAxes::kColumns},
      {&terms, loop_nest::MatrixAxes::kTerms}};
  loop_nest::AxisList axes;
  for (const auto& [name, size] : parts) {
    size_t at = 0;
    if (absl::Status s = FindAxis(nest, *name, at); !s.ok()) return s;
    if (absl::Status s = CheckSplit(nest, at, size); !s.ok()) return s;
    const AxisKind kind = name == &terms ? AxisKind::kReduce : AxisKind::kGlobal;
    if (nest.axes[at].kind != kind) {
      return Illegal("axis ", *name, " is ", std::string(AxisKindName(nest.axes[at].kind)));
    }
    axes.push_back(at);
  }
  return CheckProduct(nest, nest.base[nest.axes[axes[2]].base].reduce, axes);
}

void Matrix::Apply(loop_nest::LoopNest& nest) const {
  const auto bind = [&](const std::string& name, AxisKind kind) {
    nest.Bind(nest.AxisNamed(name), kind);
    return name;
  };
  const std::string row = Inner(nest, rows, loop_nest::MatrixAxes::kRows),
                    column = Inner(nest, columns, loop_nest::MatrixAxes::kColumns);
  nest.Split(nest.AxisNamed(row), 2, loop_nest::MatrixAxes::kRows / 2);
  nest.Split(nest.AxisNamed(column), loop_nest::MatrixAxes::kColumns / 2, 2);
  nest.matrix = {.row = bind(row + ".0", AxisKind::kUpcast),
                 .row_lane = bind(row + ".1", AxisKind::kLocal),
                 .column_lane = bind(column + ".0", AxisKind::kLocal),
                 .column = bind(column + ".1", AxisKind::kUpcast),
                 .term = Inner(nest, terms, loop_nest::MatrixAxes::kTerms)};
}

}  // namespace tg::directive
