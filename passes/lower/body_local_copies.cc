// The part of BodyLowering that copies packed values to local memory. The work-items of a group
// fill a copy together. They enumerate its elements in the order of their addresses in the source
// memory, so that neighbouring work-items read neighbouring vectors.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/lower/body_lowering.h"
#include "passes/simplify/affine_expr.h"

namespace tg {
namespace {

// The address that the first load in `x` reads, as an affine expression. Returns nullopt if there
// is no load or its address is not affine.
std::optional<AffineExpr> LoadedElement(const UOp* x) {
  for (const UOp* u : PostOrder(x)) {
    if (u->op == Op::kLoad && u->src(0)->op == Op::kIndex) return ParseAffine(u->src(0)->src(1));
  }
  return std::nullopt;
}

}  // namespace

std::vector<BodyLowering::Inside> BodyLowering::CoordinatesIn(const UOp* special) const {
  std::vector<Inside> out;
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const LoopAxis& axis = nest_.axes[i];
    const bool own = axis.kind == AxisKind::kLocal || axis.kind == AxisKind::kGroup;
    if (!own || !axis.shares.empty()) continue;
    if (llvm::is_contained(PostOrder(where_.axis[i]), special)) out.push_back({i, where_.axis[i]});
  }
  return out;
}

BodyLowering::PackedAt& BodyLowering::PlanLocalCopy(const Key& key, const PackedValue& value) {
  const auto [it, fresh] = packed_.try_emplace(key.bits());
  PackedAt& plan = it->second;
  if (!fresh) return plan;
  const auto at = nest_.AxisNamed(value.at);
  Position from = WithoutPadding(positions_[key.at], shapes_.Of(key.node));
  std::vector<const UOp*> leaves = from.index, order;
  if (from.valid) leaves.push_back(from.valid);
  NodeSet below;
  AppendPostOrder(UOpSpan(leaves.data(), leaves.size()), below, order);
  struct Coordinate {
    size_t axis;
    const UOp *filled, *read;
  };
  std::vector<Coordinate> all;
  NodeMap<const UOp*> changed;
  const auto add = [&](const Inside& inside) {
    const UOp* filled = b_.Range(b_.Index(nest_.axes[inside.axis].max_size));
    all.push_back({inside.axis, filled, inside.leaf});
    return filled;
  };
  for (const UOp* u : order) {
    if (llvm::is_contained(locals_, u)) {
      // A local id may also cover axes along which the value does not vary; for these any index
      // will do, so 0 is used.
      Shape shape;
      std::vector<const UOp*> index;
      for (const Inside& inside : CoordinatesIn(u)) {
        shape.push_back(nest_.axes[inside.axis].max_size);
        index.push_back(nest_.IsCopied(value, inside.axis) ? add(inside) : b_.Index(0));
      }
      changed[u] = Flatten(b_, shape, index, simplify_);
      continue;
    }
    if (u->op != Op::kRange && u->op != Op::kUnroll) continue;
    const std::optional<size_t> axis = AxisOfLeaf(u);
    if (axis == at) plan.step = u;
    if (axis && nest_.IsCopied(value, *axis)) changed[u] = add({*axis, u});
  }
  // Directives may have split an axis into loops, work-items and lanes. In the copy, the parts of
  // one axis are put together again, so that its elements are adjacent.
  llvm::sort(all, [&](const Coordinate& a, const Coordinate& b) {
    const auto place = [&](const Coordinate& c) {
      const size_t base = nest_.axes[c.axis].base;
      int64_t stride = 0;
      for (const Digit& d : nest_.digits[base]) stride = d.axis == c.axis ? d.stride : stride;
      return std::tuple(nest_.base[base].IsStored(), base, -stride);
    };
    return place(a) < place(b);
  });
  for (const Coordinate& c : all) {
    plan.axes.push_back({nest_.axes[c.axis].max_size, c.filled, c.read});
    plan.row += !nest_.base[nest_.axes[c.axis].base].IsStored();
  }
  for (const UOp*& index : from.index) index = Replaced(index, changed);
  if (from.valid) from.valid = Replaced(from.valid, changed);
  int64_t items = 1;
  for (const UOp* local : locals_) items *= local->src(0)->word();
  if (!plan.axes.empty() && (value.ahead || plan.Size() % items != 0)) {
    // In the last round some work-items have no element left to copy, and with `ahead` the last
    // step has no next one.
    plan.beyond = b_.Range(b_.Index(2));
    from.valid = Both(b_, from.valid, b_.Lt(plan.beyond, b_.Index(1)));
  }
  plan.source = Intern(std::move(from));
  return plan;
}

void BodyLowering::FillTogether(const PackedValue& value, PackedAt& plan, const UOp* x) {
  const std::optional<AffineExpr> address = LoadedElement(x);
  const auto stride = [&](const PackedAt::Axis* axis) {
    if (!address) return int64_t{0};
    const auto* term =
        llvm::find_if(address->terms, [&](const auto& t) { return t.node == axis->filled; });
    return term == address->terms.end() ? 0 : std::abs(term->coef);
  };
  std::vector<PackedAt::Axis*> order;  // by descending stride in the source memory
  for (PackedAt::Axis& axis : plan.axes) order.push_back(&axis);
  llvm::stable_sort(order, [&](const PackedAt::Axis* a, const PackedAt::Axis* b) {
    return stride(a) > stride(b);
  });
  int64_t row = 1;  // contiguous elements in the source memory
  for (const PackedAt::Axis* axis : llvm::reverse(order)) {
    if (stride(axis) != row) break;
    row *= axis->size;
  }
  // Rows of memory become columns of the copy, so that work-items store with a stride; padding
  // spreads them over banks.
  const bool in_columns = row > 1 && plan.row > 0 && stride(&plan.axes.back()) != 1;
  if (in_columns) plan.padding = LoopNest::kRowPadding / ByteSize(x->dtype.scalar());
  const int64_t size = plan.Size();
  int64_t items = 1;
  const UOp* number = b_.Index(0);  // element number, from the local ids, the round and the lane
  for (const UOp* local : llvm::reverse(locals_)) {
    number = b_.Add(b_.Mul(number, local->src(0)), local);
    items *= local->src(0)->word();
  }
  int64_t lanes = std::max<int64_t>(1, target_.mem_width / ByteSize(x->dtype.scalar()));
  while (lanes > 1 && (row % lanes != 0 || size % (items * lanes) != 0)) lanes /= 2;
  if (const int64_t turns = (size + items * lanes - 1) / (items * lanes); turns > 1) {
    // In an unrolled loop over rounds, all loads are in flight at the same time.
    constexpr int64_t kMostUnrolled = 32;
    const bool unrolls = value.ahead || turns * lanes <= kMostUnrolled;
    const UOp* turn = unrolls ? FreshUnroll(turns) : b_.Range(b_.Index(turns));
    (unrolls ? plan.unrolls : plan.ranges).push_back(turn);
    number = b_.Add(b_.Mul(turn, b_.Index(items)), number);
  }
  if (lanes > 1) {
    plan.unrolls.push_back(FreshUnroll(lanes));
    number = b_.Add(b_.Mul(number, b_.Index(lanes)), plan.unrolls.back());
  }
  const UOp *gate = nullptr, *beyond = b_.Index(0);
  if (size % items != 0) {
    gate = simplify_(b_.Lt(number, b_.Index(size)));
    beyond = b_.Alu(Op::kFloorDiv, {number, b_.Index(size)});
    number = b_.Alu(Op::kFloorMod, {number, b_.Index(size)});
  }
  Shape shape;
  for (const PackedAt::Axis* axis : order) shape.push_back(axis->size);
  const std::vector<const UOp*> index = Unflatten(b_, shape, simplify_(number), simplify_);
  NodeMap<const UOp*> changed;
  for (size_t k = 0; k < order.size(); ++k) changed[order[k]->filled] = index[k];
  for (size_t k = 0; k < order.size(); ++k) order[k]->filled = index[k];
  const UOp* element = ElementOf(plan, &PackedAt::Axis::filled);
  if (value.ahead && plan.step) {
    NodeMap<const UOp*> next = changed;
    changed[plan.step] = b_.Index(0);
    changed[plan.beyond] = beyond;
    next[plan.step] = b_.Add(plan.step, b_.Index(1));
    next[plan.beyond] = b_.Add(beyond, b_.Alu(Op::kFloorDiv, {next[plan.step], plan.step->src(0)}));
    return FillAhead(plan, Replaced(x, changed), Replaced(x, next), element, gate);
  }
  if (plan.beyond) changed[plan.beyond] = beyond;
  const Staging::Axes axes = {.unrolls = plan.unrolls,
                              .ranges = plan.ranges,
                              .specials = locals_,
                              .is_local = true,
                              .alternates = value.buffers > 1 ? plan.step : nullptr};
  plan.memory = staging_.Fill(value.node, Replaced(x, changed), plan.Elements(), element, gate,
                              axes, locals_);
  const UOp* barrier = plan.memory.filled->src(1);
  fills_.push_back({barrier, reduces_.free_leaves().RangesOf(barrier)});
}

void BodyLowering::FillAhead(PackedAt& plan, const UOp* first, const UOp* next, const UOp* element,
                             const UOp* gate) {
  FreeLeaves& free = reduces_.free_leaves();
  const Scalar type = first->dtype.scalar();
  const UOp* step = plan.step;
  const int64_t size = plan.Elements();
  const auto in_buffer = [&](const UOp* of) {
    const UOp* turn = b_.Alu(Op::kFloorMod, {of, b_.Index(2)});
    return b_.Mul(turn, b_.Index(size));
  };
  const UOp* mem = b_.Scratch(DType::Pointer(type, 2 * size, AddrSpace::kLocal));
  const UOp* before = mem;
  // The steps overwrite what is stored before the loop over steps. So each iteration of the loops
  // around it must store the first step's elements again.
  std::vector<const UOp*> outer = free.RangesOf(first);
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    const UOp* loop = where_.axis[i];
    if (nest_.axes[i].kind != AxisKind::kLoop || loop->op != Op::kRange) continue;
    if (!llvm::is_contained(outer, loop)) outer.push_back(loop);
  }
  if (!outer.empty()) {
    const UOp* wait = b_.context().Make(Op::kBarrier, kVoid, outer);
    before = b_.After(mem, UOpSpan(&wait, 1));
  }
  const UOp* begin = b_.Store(b_.IndexPtr(before, element, gate), first);
  // The barrier at the beginning of each step waits for the stores of the step before.
  const UOp* barrier = b_.context().Make(Op::kBarrier, kVoid, {begin, step});
  int64_t count = 1;
  const UOp* lane = LaneNumber(b_, free.UnrollsOf(next), count);
  const UOp* own = b_.Scratch(DType::Pointer(type, count, AddrSpace::kReg));
  const UOp* loaded = b_.Store(b_.IndexPtr(b_.After(own, free.RangesOf(next)), lane), next);
  const UOp* kept = b_.Load(b_.IndexPtr(b_.After(own, UOpSpan(&loaded, 1)), lane));
  const UOp* there = b_.Add(element, in_buffer(b_.Add(step, b_.Index(1))));
  const UOp* behind = b_.After(mem, UOpSpan(&barrier, 1));
  reduces_.AddToSteps(step, b_.Store(b_.IndexPtr(behind, there, gate), kept));
  const UOp* const tokens[] = {barrier, loaded};
  plan.memory = {.filled = b_.After(mem, tokens), .start = in_buffer(step), .step = 1};
  fills_.push_back({barrier, free.RangesOf(barrier)});
}

const UOp* BodyLowering::JoinFills(const UOp* sink) {
  for (size_t i = 0; i < fills_.size(); ++i) {
    std::vector<const UOp*> joined, tokens;
    for (size_t k = i; k < fills_.size(); ++k) {
      const UOp* barrier = fills_[k].barrier;
      if (fills_[k].loops != fills_[i].loops || llvm::is_contained(joined, barrier)) continue;
      // A copy that reads from another copy must be filled after it and cannot share its barrier.
      const std::vector<const UOp*> before = PostOrder(barrier);
      if (llvm::any_of(joined, [&](const UOp* j) { return llvm::is_contained(before, j); })) {
        continue;
      }
      joined.push_back(barrier);
      for (const UOp* token : barrier->srcs()) {
        if (!llvm::is_contained(tokens, token)) tokens.push_back(token);
      }
    }
    if (joined.size() < 2) continue;
    NodeMap<const UOp*> changed;
    const UOp* both = b_.context().Make(Op::kBarrier, kVoid, tokens);
    for (const UOp* barrier : joined) changed[barrier] = both;
    sink = Rebuilt(sink, changed);
    for (Filled& fill : fills_) {
      if (const UOp* to = changed.Get(fill.barrier)) fill.barrier = to;
    }
  }
  return sink;
}

absl::Status BodyLowering::CheckLocalMemory(const UOp* sink) const {
  int64_t bytes = 0;
  for (const UOp* u : PostOrder(sink)) {
    if (u->op != Op::kScratch || u->dtype.space() != AddrSpace::kLocal) continue;
    bytes = SaturatingAdd(bytes, SaturatingMul(u->dtype.size(), ByteSize(u->dtype.scalar())));
  }
  if (bytes <= target_.local_memory) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("packed values that are read in several places need ", bytes,
                   " bytes of local memory; target ", target_.name, " has ", target_.local_memory));
}

}  // namespace tg
