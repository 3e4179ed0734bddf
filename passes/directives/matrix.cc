#include <initializer_list>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/checks.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

// Pairs of neighbouring columns of an instruction, each of one work-item.
constexpr int64_t kColumnLanes = 4;

const UOp* BelowMovement(const UOp* u) {
  while (IsMovement(u->op)) u = u->src(0);
  return u;
}

// A packed or staged value that is converted to the type of a product, or has it.
struct Factor {
  Scalar type;
  analysis::LoopSet varies;
};

std::optional<Factor> FactorOf(const loop_nest::LoopNest& nest, const UOp* factor,
                               analysis::LoopSet term) {
  const UOp* source = BelowMovement(factor);
  if (source->op == Op::kCast) source = BelowMovement(source->src(0));
  for (const analysis::PackedValue& value : nest.packed) {
    if (value.node == source) return Factor{source->dtype.scalar(), value.varies};
  }
  if (source->op == Op::kStaged && !nest.AxesOf(source).empty()) {
    return Factor{source->dtype.scalar(), nest.VariesOf(source) | term};
  }
  return std::nullopt;
}

// The instruction for a sum of products of two packed values. Fails unless there is one, the first
// of `axes` is one of one factor, the second one of the other, and the third one of both.
absl::StatusOr<MatrixInstruction> InstructionFor(const loop_nest::LoopNest& nest,
                                                 const loop_nest::AxisList& axes,
                                                 bool of_warpgroup = false) {
  const UOp* const reduce = nest.base[nest.axes[axes[2]].base].reduce;
  const UOp* product = BelowMovement(reduce->src(0));
  if (static_cast<Op>(reduce->word()) != Op::kAdd || product->op != Op::kMul) {
    return Illegal("the reduce is no sum of products");
  }
  const analysis::LoopSet term = analysis::LoopBit(nest.axes[axes[2]].base);
  auto a = FactorOf(nest, product->src(0), term), b = FactorOf(nest, product->src(1), term);
  if (!a || !b) {
    return Illegal("a factor is no packed or staged value, or one that is cast");
  }
  const analysis::LoopSet row = analysis::LoopBit(nest.axes[axes[0]].base),
                          column = analysis::LoopBit(nest.axes[axes[1]].base);
  const auto fits = [&](analysis::LoopSet of_rows, analysis::LoopSet of_columns) {
    return (of_rows & row) != 0 && (of_rows & column) == 0 && (of_columns & column) != 0 &&
           (of_columns & row) == 0;
  };
  if (!fits(a->varies, b->varies)) std::swap(a, b);
  if (!fits(a->varies, b->varies)) {
    return Illegal("one factor must vary along axis ", nest.axes[axes[0]].name,
                   " and only the other along axis ", nest.axes[axes[1]].name);
  }
  if ((a->varies & b->varies & term) == 0) {
    return Illegal("a factor does not vary along axis ", nest.axes[axes[2]].name);
  }
  const Scalar sums = product->dtype.scalar();
  const auto instruction = of_warpgroup
                               ? WarpgroupInstructionFor(a->type, b->type, sums, nest.flags)
                               : MatrixInstructionFor(a->type, b->type, sums, nest.flags);
  if (instruction) return *instruction;
  return Illegal("there is no matrix instruction ", of_warpgroup ? "of a warpgroup " : "",
                 "that multiplies ", std::string(GetScalarInfo(a->type).text), " by ",
                 std::string(GetScalarInfo(b->type).text), " with sums in ",
                 std::string(GetScalarInfo(product->dtype.scalar()).text));
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

// The positions of the axes of these names. Fails if one is of another kind.
absl::StatusOr<loop_nest::AxisList> AxesOfKinds(
    const loop_nest::LoopNest& nest,
    std::initializer_list<std::pair<const std::string*, AxisKind>> wanted) {
  loop_nest::AxisList axes;
  for (const auto& [name, kind] : wanted) {
    size_t at = 0;
    if (absl::Status s = FindAxis(nest, *name, at); !s.ok()) return s;
    if (nest.axes[at].kind != kind) {
      return Illegal("axis ", *name, " is ", std::string(AxisKindName(nest.axes[at].kind)));
    }
    axes.push_back(at);
  }
  return axes;
}

}  // namespace

absl::Status Matrix::Check(const loop_nest::LoopNest& nest, const passes::Target&) const {
  const bool is_first = nest.matrices.empty();
  if (!is_first && (nest.matrices[0].row != rows || items != nest.matrices[0].column_lane)) {
    return Illegal("the kernel has matrix instructions already, of rows ", nest.matrices[0].row);
  }
  TG_ASSIGN_OR_RETURN(const loop_nest::AxisList axes,
                      AxesOfKinds(nest, {{&rows, is_first ? AxisKind::kGlobal : AxisKind::kUpcast},
                                         {&columns, items ? AxisKind::kStage : AxisKind::kGlobal},
                                         {&terms, AxisKind::kReduce}}));
  if (items) {
    size_t at = 0;
    if (absl::Status s = FindAxis(nest, *items, at); !s.ok()) return s;
    const loop_nest::LoopAxis& local = nest.axes[at];
    if (local.kind != AxisKind::kLocal || local.max_size != kColumnLanes) {
      return Illegal("axis ", *items, " is not local of ", kColumnLanes, " work-items");
    }
    if (nest.maps[nest.axes[axes[1]].base].IsPadded())
      return Illegal("axis ", columns, " is padded");
  }
  TG_ASSIGN_OR_RETURN(const MatrixInstruction instruction, InstructionFor(nest, axes));
  const int64_t sizes[] = {instruction.m, instruction.n, instruction.k};
  for (size_t k = is_first ? 0 : 1; k < 3; ++k) {
    if (absl::Status s = CheckSplit(nest, axes[k], sizes[k]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void Matrix::Apply(loop_nest::LoopNest& nest) const {
  const absl::StatusOr<MatrixInstruction> instruction =
      InstructionFor(nest, {nest.AxisNamed(rows), nest.AxisNamed(columns), nest.AxisNamed(terms)});
  TG_CHECK(instruction.ok());
  const auto bind = [&](const std::string& name, AxisKind kind) {
    nest.Bind(nest.AxisNamed(name), {.kind = kind});
    return name;
  };
  loop_nest::MatrixAxes matrix = {
      .instruction = *instruction,
      .reduce = nest.base[nest.axes[nest.AxisNamed(terms)].base].reduce};
  if (nest.matrices.empty()) {
    const std::string row = Inner(nest, rows, instruction->m);
    nest.Split(nest.AxisNamed(row), 2, instruction->m / 2);
    matrix.row = bind(row + ".0", AxisKind::kUpcast);
    matrix.row_lane = bind(row + ".1", AxisKind::kLocal);
  } else {
    matrix.row = nest.matrices[0].row;
    matrix.row_lane = nest.matrices[0].row_lane;
  }
  const std::string column = Inner(nest, columns, instruction->n);
  nest.Split(nest.AxisNamed(column), kColumnLanes, instruction->n / kColumnLanes);
  if (items) {
    nest.Bind(nest.AxisNamed(column + ".0"),
              {.kind = AxisKind::kGroup, .shares = *items, .owned = true});
    matrix.column_lane = *items;
  } else {
    matrix.column_lane = bind(column + ".0", AxisKind::kLocal);
  }
  matrix.column = bind(column + ".1", AxisKind::kUpcast);
  matrix.term = Inner(nest, terms, instruction->k);
  nest.matrices.push_back(std::move(matrix));
}

absl::Status Warpgroup::Check(const loop_nest::LoopNest& nest, const passes::Target& target) const {
  if (!target.HasWarpgroupInstructions()) {
    return Illegal("target ", target.name, " has no matrix instructions of warpgroups");
  }
  if (!nest.matrices.empty()) return Illegal("the kernel has matrix instructions already");
  TG_ASSIGN_OR_RETURN(const loop_nest::AxisList axes,
                      AxesOfKinds(nest, {{&rows, AxisKind::kGlobal},
                                         {&columns, AxisKind::kGlobal},
                                         {&terms, AxisKind::kReduce}}));
  TG_ASSIGN_OR_RETURN(const MatrixInstruction instruction,
                      InstructionFor(nest, axes, /*of_warpgroup=*/true));
  const bool is_power = size > 0 && (size & (size - 1)) == 0;
  if (!is_power || size < 2 * instruction.n || size > MatrixInstruction::kMostColumns) {
    return Illegal("an instruction has 16, 32, 64, 128 or 256 columns, not ", size);
  }
  const int64_t sizes[] = {instruction.m, size, instruction.k};
  for (size_t k = 0; k < 3; ++k) {
    if (absl::Status s = CheckSplit(nest, axes[k], sizes[k]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void Warpgroup::Apply(loop_nest::LoopNest& nest) const {
  const absl::StatusOr<MatrixInstruction> instruction =
      InstructionFor(nest, {nest.AxisNamed(rows), nest.AxisNamed(columns), nest.AxisNamed(terms)},
                     /*of_warpgroup=*/true);
  TG_CHECK(instruction.ok());
  const auto bind = [&](const std::string& name, AxisKind kind) {
    nest.Bind(nest.AxisNamed(name), {.kind = kind});
    return name;
  };
  // Splits `inner` steps off and returns the names of the two axes.
  const auto split = [&](const std::string& name, int64_t inner) {
    const size_t at = nest.AxisNamed(name);
    nest.Split(at, nest.axes[at].max_size / inner, inner);
    return std::pair(name + ".0", name + ".1");
  };
  loop_nest::MatrixAxes matrix = {
      .instruction = *instruction,
      .reduce = nest.base[nest.axes[nest.AxisNamed(terms)].base].reduce};
  matrix.instruction.n = static_cast<int>(size);
  const auto [unit, of_unit] = split(Inner(nest, rows, instruction->m), instruction->m / 4);
  const auto [row, row_lane] = split(of_unit, instruction->m / 8);
  matrix.unit = bind(unit, AxisKind::kLocal);
  matrix.row = bind(row, AxisKind::kUpcast);
  matrix.row_lane = bind(row_lane, AxisKind::kLocal);
  std::string column = Inner(nest, columns, size);
  // Rows of local memory that lie along the columns have as many elements.
  constexpr int64_t kRow = 64;
  for (const int64_t inner : {kRow, int64_t{instruction->n}}) {
    if (size <= inner) continue;
    const auto [outer, rest] = split(column, inner);
    matrix.columns.push_back(bind(outer, AxisKind::kUpcast));
    column = rest;
  }
  const auto [lane, pair] = split(column, instruction->n / kColumnLanes);
  matrix.column_lane = bind(lane, AxisKind::kLocal);
  matrix.column = bind(pair, AxisKind::kUpcast);
  matrix.term = Inner(nest, terms, instruction->k);
  nest.matrices.push_back(std::move(matrix));
}

}  // namespace tg::directive
