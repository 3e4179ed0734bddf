// Schedules contractions for a GPU. A work-group copies blocks of both operands to local memory,
// and its work-items keep tiles of results in registers (V. Volkov, J. Demmel, "Benchmarking GPUs
// to Tune Dense Linear Algebra", SC 2008; NVIDIA CUTLASS, "Efficient GEMM in CUDA").
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/matrix_product.h"
#include "passes/directives/directives.h"
#include "passes/schedule/contraction.h"
#include "passes/schedule/gpu_tile.h"
#include "passes/schedule/matrix_tile.h"
#include "passes/schedule/merge_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

using Role = OperandAxes::Role;

// The tiles of the least bounds, among which one of the least predicted times nearly always is.
constexpr size_t kRankedTiles = 8;

// Returns nullopt if an operand is read nowhere, or does not vary along an axis of the terms.
std::optional<OperandAxes> FindOperands(const loop_nest::LoopNest& s,
                                        const Contraction& contraction) {
  const OperandAxes out = AxesOfOperands(s, contraction);
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (s.base[n].reduce && out.Vary(n) != std::array<bool, 2>{true, true}) return std::nullopt;
  }
  const bool found = out.packed[0] != SIZE_MAX && out.packed[1] != SIZE_MAX;
  return found ? std::optional(out) : std::nullopt;
}

// Base axes of a tile. All other axes of the result are the batch.
struct Axes {
  int64_t batch = 1;
  size_t row = SIZE_MAX, lane = SIZE_MAX, term = SIZE_MAX;
  size_t packed[2] = {SIZE_MAX, SIZE_MAX};  // those of the operand of rows and of that of lanes
};

// Chooses for each operand the last axis along which only that operand varies. The later one of the
// two is the lanes, whose results are neighbours in memory. Returns nullopt if an operand has no
// such axis, if there are several axes of terms, or if lanes or terms are symbolic.
std::optional<Axes> FindAxes(const loop_nest::LoopNest& s, const Contraction& contraction) {
  const std::optional<OperandAxes> operands = FindOperands(s, contraction);
  if (!operands) return std::nullopt;
  size_t last[2] = {SIZE_MAX, SIZE_MAX};
  Axes out;
  for (size_t n = 0; n < s.base.size(); ++n) {
    const Role role = operands->RoleOf(s, n);
    switch (role) {
      case Role::kTerm:
        if (out.term != SIZE_MAX || s.base[n].size.is_symbolic()) return std::nullopt;
        out.term = n;
        break;
      case Role::kBatch:
        out.batch = SaturatingMul(out.batch, s.base[n].max_size);
        break;
      case Role::kFirst:
      case Role::kSecond: {
        size_t& axis = last[role == Role::kFirst ? 0 : 1];
        if (axis != SIZE_MAX) out.batch = SaturatingMul(out.batch, s.base[axis].max_size);
        axis = n;
        break;
      }
    }
  }
  if (last[0] == SIZE_MAX || last[1] == SIZE_MAX || out.term == SIZE_MAX) return std::nullopt;
  const size_t of_rows = last[0] < last[1] ? 0 : 1;
  out.row = last[of_rows], out.lane = last[1 - of_rows];
  out.packed[0] = operands->packed[of_rows], out.packed[1] = operands->packed[1 - of_rows];
  return s.base[out.lane].size.is_symbolic() ? std::nullopt : std::optional(out);
}

// Whether the value is memory as it is, with rows of whole runs of 16 bytes, which asynchronous
// copies move, or rows that are one run of 8 bytes.
bool IsInRuns(const UOp* packed) {
  constexpr int64_t kRunBytes = 16, kLeastRunBytes = 8;
  bool rows = false;
  for (const UOp* u : PostOrder(packed->src(0))) {
    // What is padded, or cut off, is not copied: other axes than that of the runs, or copies are
    // not asynchronous after all.
    const bool moves = IsMovement(u->op) && u->op != Op::kView && u->op != Op::kFlip;
    if (u->dtype.is_index()) continue;  // of a symbolic extent
    if (u->op != Op::kLoad && u->op != Op::kDefineGlobal && !moves) return false;
    // Before a symbolic shape, memory is cut to the elements that it has.
    if (u->op != Op::kReshape) continue;
    const UOp* memory = u->src(0);
    if (memory->op == Op::kShrink && PairsOf(memory)[0].first.Is(0)) memory = memory->src(0);
    if (memory->op != Op::kDefineGlobal) continue;
    Shape shape = DimsOf(u);
    while (!shape.empty() && shape.back().Is(1)) shape.pop_back();
    if (shape.empty() || shape.back().is_symbolic()) continue;
    const int64_t bytes = shape.back().value() * int64_t{ByteSize(packed->dtype.scalar())};
    rows = bytes % kRunBytes == 0 || bytes == kLeastRunBytes;
  }
  return rows;
}

// Merges axes of the same role, so that a tile spans, say, the columns and rows of several images,
// and all terms of a convolution's window. Across other axes it does so if the operands have rows
// of whole runs, so that copies in vectors need not cross from one image to the next. Returns
// whether the body changed.
bool MergeRoles(const Module& module, const KernelCalls& calls, Kernel& kernel,
                const passes::Target& target, std::vector<Contraction> found,
                const std::optional<MatrixInstruction>& instruction) {
  const UOp* const plain = kernel.body.root;
  ShapeMap shapes(module, *kernel.body.context);
  kernel.body.root = WithPackedOperands(kernel, found, instruction);
  const absl::StatusOr<loop_nest::LoopNest> s =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  kernel.body.root = plain;
  const std::optional<OperandAxes> operands = s.ok() ? FindOperands(*s, found[0]) : std::nullopt;
  if (!operands) return false;
  const bool in_runs = llvm::all_of(
      operands->packed, [&](size_t number) { return IsInRuns(s->packed[number].node); });
  bool changed = false;
  // From the innermost axis; the last ones that were seen, by their numbers in the shape.
  std::optional<size_t> results[2], terms;
  for (size_t n = s->base.size(); n-- > 0;) {
    const Role role = operands->RoleOf(*s, n);
    const size_t dim = s->base[n].dim;
    if (s->base[n].size.is_symbolic() || role == Role::kBatch) {
      results[0] = results[1] = terms = std::nullopt;
    } else if (role == Role::kTerm) {
      const UOp* reduce = FindContractions(kernel)[0].reduce;
      if (terms) changed |= MergeTerms(kernel.body, shapes, reduce, {dim, *terms});
      terms = dim;
    } else {
      const size_t own = role == Role::kFirst ? 0 : 1;
      std::optional<size_t>& inner = results[own];
      const bool crosses = inner && results[1 - own] && *results[1 - own] < *inner;
      const std::optional<size_t> merged = inner && (in_runs || !crosses)
                                               ? MergeResultPair(kernel.body, shapes, {dim, *inner})
                                               : std::nullopt;
      changed |= merged.has_value();
      inner = merged.value_or(dim);
    }
  }
  return changed;
}

// The axes of work-items along the rows, or along the lanes, of a tile. `outer` is empty if one
// subgroup covers the whole tile in this direction.
struct Items {
  std::string outer, inner;
};

// Each work-item computes several vectors of `vector` neighbouring results. Between two of its
// vectors are those of the other work-items, so that the work-items of a subgroup read adjacent
// vectors of local memory at the same time.
Items TileAxis(directive::DirectiveList& to, const std::string& axis, int64_t results,
               int64_t items, int64_t vector, int64_t in_subgroup) {
  to.Pad(axis, results * items);
  const auto [vectors, own] = to.Split(axis, vector);
  to.Try(directive::Upcast{{own, std::nullopt}});
  const auto [outer, item] = to.Split(vectors, items);
  if (results > vector) {
    const auto [groups, several] = to.Split(outer, results / vector);
    to.Try(directive::Upcast{{several, std::nullopt}});
  }
  const auto [subgroups, lanes] = to.Split(item, in_subgroup);
  return {subgroups, lanes};
}

// Splits `size` steps off, or takes the whole axis if it has no others, and binds them.
template <typename D>
std::string BindInner(directive::DirectiveList& to, const std::string& axis, int64_t size) {
  const auto [outer, inner] = to.Split(axis, size);
  if (!inner.empty()) to.Try(D{{inner, std::nullopt}});
  return outer;
}

std::optional<std::vector<Directive>> Apply(const cost::MatrixTile& tile,
                                            const MatrixInstruction& instruction, const Axes& axes,
                                            loop_nest::LoopNest& s, const passes::Target& target) {
  directive::DirectiveList to(s, target);
  const std::string row = s.base[axes.row].name, lane = s.base[axes.lane].name,
                    term = s.base[axes.term].name;
  to.Pad(row, tile.GroupRows());
  to.Pad(lane, tile.GroupLanes());
  to.Pad(term, tile.depth);
  // What is left of an axis outside of the instructions; empty if nothing is.
  const auto outside = [&](const std::string& axis, int64_t size) {
    return to.Size(axis) == size ? std::string() : axis + ".0";
  };
  // A warpgroup's instruction has all columns of a tile.
  const int64_t own_lanes = instruction.is_warpgroup ? 1 : tile.lanes;
  const int64_t columns = instruction.n * (instruction.is_warpgroup ? tile.lanes : 1);
  const std::string rows = outside(row, instruction.m), lanes = outside(lane, columns);
  std::string terms = outside(term, instruction.k);
  if (instruction.is_warpgroup) {
    to.Try(directive::Warpgroup{row, lane, term, columns});
  } else {
    to.Try(directive::Matrix{row, lane, term});
  }
  const auto divide = [&](const std::string& axis, int64_t own, int64_t units) {
    if (axis.empty()) return;
    const std::string rest = BindInner<directive::Upcast>(to, axis, own);
    if (!rest.empty()) BindInner<directive::Local>(to, rest, units);
  };
  divide(rows, tile.rows, tile.row_units);
  divide(lanes, own_lanes, tile.lane_units);
  if (!terms.empty()) {
    const auto [blocks, steps] = to.Split(terms, tile.depth / instruction.k);
    terms = blocks;
    // A warpgroup waits once for the instructions of a block.
    if (instruction.is_warpgroup && !steps.empty())
      to.Try(directive::Unroll{{steps, std::nullopt}});
  }
  for (const size_t number : axes.packed) {
    // Without a loop over blocks of terms, the factors are read from memory.
    if (terms.empty()) break;
    const directive::CopyPlace place = {
        .is_local = true, .buffers = tile.buffers, .ahead = tile.IsAhead()};
    to.Try(directive::Pack{absl::StrCat("p", number), terms, place});
  }
  return to.all_legal() ? std::optional(to.Take()) : std::nullopt;
}

std::optional<std::vector<Directive>> Apply(const cost::GpuTile& tile, const Axes& axes,
                                            int64_t vector, loop_nest::LoopNest& s,
                                            const passes::Target& target) {
  directive::DirectiveList to(s, target);
  const std::string row = s.base[axes.row].name, lane = s.base[axes.lane].name,
                    term = s.base[axes.term].name;
  to.Pad(term, tile.depth);
  // A subgroup's work-items form a rectangle that is about square, so that together they read few
  // different elements.
  int64_t lanes_of_subgroup = 1;
  while (lanes_of_subgroup * lanes_of_subgroup < target.subgroup_size) lanes_of_subgroup *= 2;
  const int64_t in_lanes = std::min(tile.item_lanes, lanes_of_subgroup);
  const int64_t in_rows = std::clamp<int64_t>(target.subgroup_size / in_lanes, 1, tile.item_rows);
  const Items rows = TileAxis(to, row, tile.rows, tile.item_rows, vector, in_rows);
  const Items lanes = TileAxis(to, lane, tile.lanes, tile.item_lanes, vector, in_lanes);
  for (const std::string& axis : {rows.outer, lanes.outer, rows.inner, lanes.inner}) {
    if (!axis.empty()) to.Try(directive::Local{{axis, std::nullopt}});
  }
  const std::string blocks = to.Split(term, tile.depth).first;
  if (blocks.empty()) return std::nullopt;
  for (const size_t number : axes.packed) {
    directive::CopyPlace place = {.is_local = true};
    if (tile.copies != cost::GpuTile::Copies::kOne) place.buffers = 2;
    place.ahead = tile.copies == cost::GpuTile::Copies::kAhead;
    to.Try(directive::Pack{absl::StrCat("p", number), blocks, place});
  }
  return to.all_legal() ? std::optional(to.Take()) : std::nullopt;
}

// The kernel with its operands marked, and how its axes take part.
struct Problem {
  loop_nest::LoopNest nest;
  Axes axes;
  cost::ContractionSize size;
};

std::optional<Problem> FindProblem(const Module& module, const KernelCalls& calls, Kernel& kernel,
                                   const passes::Target& target, std::vector<Contraction> found,
                                   const std::optional<MatrixInstruction>& instruction) {
  kernel.body.root = WithPackedOperands(kernel, found, instruction);
  ShapeMap shapes(module, *kernel.body.context);
  absl::StatusOr<loop_nest::LoopNest> s =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!s.ok() || s->IsInPlace()) return std::nullopt;
  const std::optional<Axes> axes = FindAxes(*s, found[0]);
  // If the sum is read at several indices, it is computed at each of them, and each computation
  // would copy its operands.
  if (!axes || s->reads[axes->term] != 1) return std::nullopt;
  cost::ContractionSize size;
  size.batch = axes->batch;
  size.rows = s->base[axes->row].max_size;
  for (size_t n = 0; n < s->base.size(); ++n) {
    const analysis::BaseAxis& base = s->base[n];
    if (!base.size.is_symbolic()) continue;
    int64_t& factor = n == axes->row ? size.symbolic_rows : size.symbolic_batch;
    factor = SaturatingMul(factor, std::max<int64_t>(1, base.max_size));
  }
  size.lanes = s->base[axes->lane].max_size;
  size.terms = s->base[axes->term].max_size;
  size.bytes = ByteSize(found[0].reduce->dtype.scalar());
  size.in_runs = target.HasAsyncCopies() && IsInRuns(s->packed[axes->packed[0]].node) &&
                 IsInRuns(s->packed[axes->packed[1]].node);
  return Problem{*std::move(s), *axes, size};
}

// The schedules of these tiles, the first `ranked` of which the cost of their nests ranks.
// `apply(tile, nest)` gives a tile's directives, if they are legal.
template <typename Tile, typename ApplyTile>
std::optional<BodySchedules> Tiled(const std::vector<Tile>& tiles, size_t ranked,
                                   const loop_nest::LoopNest& nest, ApplyTile apply) {
  BodySchedules out;
  for (const Tile& tile : tiles) {
    loop_nest::LoopNest copy = nest;
    auto directives = apply(tile, copy);
    if (!directives) continue;
    (out.schedules.size() < ranked ? out.schedules : out.others).push_back(*std::move(directives));
  }
  return out.schedules.empty() ? std::nullopt : std::optional(std::move(out));
}

// The contraction of a kernel that is one; empty if it is none, or stores several results.
std::vector<Contraction> OneContraction(const BodyRequest& request, const Kernel& kernel) {
  std::vector<Contraction> found = FindContractions(kernel);
  const bool is_one = found.size() == 1 && kernel.body.root->num_srcs == 1;
  if (!is_one || !request.plain.target().has_local || request.plain.HasClosed()) found.clear();
  return found;
}

// The problem with neighbouring axes of the same role merged.
std::optional<Problem> MergedProblem(const BodyRequest& request, Kernel& kernel,
                                     std::vector<Contraction> found,
                                     const std::optional<MatrixInstruction>& instruction) {
  const passes::Target& target = request.plain.target();
  if (MergeRoles(request.module, request.calls, kernel, target, found, instruction)) {
    found = FindContractions(kernel);
  }
  return FindProblem(request.module, request.calls, kernel, target, found, instruction);
}

}  // namespace

std::optional<BodySchedules> ProposeMatrixTiles(const BodyRequest& request, Kernel& kernel) {
  const passes::Target& target = request.plain.target();
  if (!target.HasMatrixInstructions()) return std::nullopt;
  const std::vector<Contraction> found = OneContraction(request, kernel);
  if (found.empty()) return std::nullopt;
  const auto instruction = analysis::InstructionOf(found[0].product, request.module.flags);
  const bool is_exact = request.module.flags.has(ModuleFlag::kNoReassociate);
  if (!instruction || (instruction->a == Scalar::kF32 && is_exact)) return std::nullopt;
  const auto problem = MergedProblem(request, kernel, found, instruction);
  if (!problem) return std::nullopt;
  const auto tiled = [&](const MatrixInstruction& by) {
    return Tiled(BestMatrixTiles(problem->size, by, target, kRankedTiles + request.considered),
                 kRankedTiles, problem->nest,
                 [&](const cost::MatrixTile& tile, loop_nest::LoopNest& s) {
                   return Apply(tile, by, problem->axes, s, target);
                 });
  };
  std::optional<BodySchedules> out = tiled(*instruction);
  const auto of_warpgroup = WarpgroupInstructionFor(instruction->a, instruction->b,
                                                    instruction->accumulator, request.module.flags);
  if (!of_warpgroup || !target.HasWarpgroupInstructions()) return out;
  std::optional<BodySchedules> more = tiled(*of_warpgroup);
  if (!out || !more) return out ? out : more;
  llvm::append_range(out->schedules, more->schedules);
  llvm::append_range(out->others, more->others);
  return out;
}

// Two axes of the result and one of the terms are tiled, each of which may be merged from several:
// a convolution has the pixels of an image, the channels of the result, and the channels and places
// of its window.
std::optional<BodySchedules> ProposeLocalTiles(const BodyRequest& request, Kernel& kernel) {
  const passes::Target& target = request.plain.target();
  const std::vector<Contraction> found = OneContraction(request, kernel);
  if (found.empty()) return std::nullopt;
  const auto problem = MergedProblem(request, kernel, found, std::nullopt);
  if (!problem || problem->size.bytes < 4) return std::nullopt;
  const int64_t width = target.mem_width / problem->size.bytes;
  // Tiles of scalars differ by less than the error of a nest's cost: their own estimates rank them.
  return Tiled(BestGpuTiles(problem->size, target, 1 + request.considered), 1, problem->nest,
               [&](const cost::GpuTile& tile, loop_nest::LoopNest& s) {
                 return Apply(tile, problem->axes, width, s, target);
               });
}

}  // namespace tg::schedule
