#include "passes/expand/expand.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/builder.h"
#include "ir/interpret/scalar.h"
#include "ir/op_groups.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/simplify/simplify.h"

namespace tg::expand {
namespace {

// An unrolled axis. Lists of axes are sorted by number, which is the order of lanes.
struct LaneAxis {
  int64_t number;
  int64_t size;
  friend bool operator==(const LaneAxis&, const LaneAxis&) = default;
};
using LaneAxes = llvm::SmallVector<LaneAxis, 4>;
using LaneList = llvm::SmallVector<int64_t, 32>;

// The number of lanes; if it is too large, any number above kMaxVectorLanes.
int64_t Lanes(const LaneAxes& axes) {
  int64_t n = 1;
  for (const LaneAxis& a : axes) {
    n *= a.size;
    if (n > kMaxVectorLanes) break;
  }
  return n;
}

const LaneAxis* FindAxis(const LaneAxes& axes, int64_t number) {
  for (const LaneAxis& a : axes) {
    if (a.number == number) return &a;
  }
  return nullptr;
}

// Interns lists of axes, of which a body has few; the first one is the empty list. References to
// lists stay valid.
class AxesTable {
 public:
  using Id = uint32_t;

  const LaneAxes& operator[](Id id) const { return lists_[id]; }
  Id Intern(const LaneAxes& axes) {
    const auto at = static_cast<Id>(llvm::find(lists_, axes) - lists_.begin());
    if (at == lists_.size()) lists_.push_back(axes);
    return at;
  }
  // The union of two lists.
  Id Union(Id a, Id b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    LaneAxes all = lists_[a];
    for (const LaneAxis& axis : lists_[b]) {
      if (!FindAxis(all, axis.number)) all.push_back(axis);
    }
    llvm::sort(all, [](const LaneAxis& x, const LaneAxis& y) { return x.number < y.number; });
    return Intern(all);
  }

 private:
  std::deque<LaneAxes> lists_{1};
};

// The expanded form of a node: a vector that has the lanes of the node once for each combination of
// indices along `axes`.
struct Expanded {
  const UOp* node = nullptr;
  AxesTable::Id axes = 0;
};

// The value of one lane of an integer vector, if it is a constant.
std::optional<int64_t> ConstantLane(const UOp* x, int lane) {
  if (x->op == Op::kConst) return x->word();
  if (x->op == Op::kVConst) return x->list()[static_cast<size_t>(lane)];
  if (x->op == Op::kSplat) return ConstantLane(x->src(0), 0);
  if (x->op == Op::kGep) {
    return ConstantLane(x->src(0), static_cast<int>(x->list()[static_cast<size_t>(lane)]));
  }
  if (!IsElementwise(x->op) || !x->dtype.is_int_or_index()) return std::nullopt;
  llvm::SmallVector<int64_t, 3> args;
  for (const UOp* s : x->srcs()) {
    const std::optional<int64_t> value = ConstantLane(s, lane);
    if (!value || s->dtype.scalar() != x->dtype.scalar()) return std::nullopt;
    args.push_back(*value);
  }
  return interpret::EvalAlu(x->op, x->dtype.scalar(), {args.data(), args.size()});
}

class Expander {
 public:
  explicit Expander(Body& body) : body_(body), b_(*body.context) {}

  absl::Status Run() {
    const std::vector<const UOp*> order = body_.Order();
    map_.Reserve(body_.root->id + 1);
    for (const UOp* u : order) {
      const Expanded e = Expand(u);
      if (!status_.ok()) return status_;
      body_.CarryOver(u, e.node);
      map_[u] = e;
    }
    body_.root = map_[body_.root].node;
    return absl::OkStatus();
  }

 private:
  Expanded Expand(const UOp* u) {
    switch (GroupOf(u->op)) {
      case OpGroup::kLeaf:
        return Leaf(u);
      case OpGroup::kOrder:
        return EffectOrder(u);
      case OpGroup::kLanes:
        return LanesOf(u);
      case OpGroup::kSubgroup:
        return Subgroup(u);
      case OpGroup::kArithmetic:
      case OpGroup::kConversion:
      case OpGroup::kIdentity:
      case OpGroup::kMemory:
      case OpGroup::kReduce:
        return Widen(u);
      case OpGroup::kMovement:  // of earlier stages
      case OpGroup::kTensor:
        return Widen(u);
    }
    TG_UNREACHABLE();
  }

  Expanded Leaf(const UOp* u) {
    switch (LeafOp(u->op)) {
      case LeafOp::kUnroll: {
        llvm::SmallVector<int64_t, 16> values;
        for (int64_t i = 0; i < u->word(1); ++i) values.push_back(i);
        const DType t(Scalar::kIndex, static_cast<int>(values.size()));
        return {b_.VConst(t, {values.data(), values.size()}),
                axes_.Intern({{u->word(0), u->word(1)}})};
      }
      case LeafOp::kRange:
      case LeafOp::kSpecial:
        return Uniform(u);
      case LeafOp::kConst:
      case LeafOp::kVConst:
      case LeafOp::kVar:
      case LeafOp::kBuffer:
      case LeafOp::kIota:
      case LeafOp::kDefineGlobal:
      case LeafOp::kScratch:
      case LeafOp::kCarried:
        return Order(u);
    }
    TG_UNREACHABLE();
  }

  Expanded EffectOrder(const UOp* u) {
    switch (OrderOp(u->op)) {
      case OrderOp::kSink:
      case OrderOp::kAfter:
      case OrderOp::kEnd:
      case OrderOp::kBarrier:
      case OrderOp::kNoop:
        return Order(u);
      case OrderOp::kIf:
      case OrderOp::kEndIf:
      case OrderOp::kCommit:
      case OrderOp::kWait:
        return Widen(u);
    }
    TG_UNREACHABLE();
  }

  Expanded LanesOf(const UOp* u) {
    switch (LaneOp(u->op)) {
      case LaneOp::kContract:
        return Contract(u);
      case LaneOp::kExtract:
        return Extract(u);
      case LaneOp::kSplat:
      case LaneOp::kVectorize:
      case LaneOp::kGep:
      case LaneOp::kCat:
        return Widen(u);
    }
    TG_UNREACHABLE();
  }

  Expanded Subgroup(const UOp* u) {
    switch (SubgroupOp(u->op)) {
      case SubgroupOp::kShuffle:
        return Shuffle(u);
      case SubgroupOp::kTransposeItems:
      case SubgroupOp::kWmma:
      case SubgroupOp::kWgmma:
      case SubgroupOp::kLdMatrix:
        return Separate(u);
    }
    TG_UNREACHABLE();
  }

  // The node over the expanded sources, without lanes of unrolled axes: for nodes that only order
  // effects, and for nodes whose sources have no unrolled axis.
  Expanded Order(const UOp* u) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map_[s].node);
    return {b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()})};
  }

  // A loop's end or a grid's size cannot differ between lanes.
  Expanded Uniform(const UOp* u) {
    if (map_[u->src(0)].axes != 0) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(body_.Describe(u), ": its extent depends on an unrolled axis"));
    }
    return Order(u);
  }

  // The op on vectors that have the lanes of each source for every combination of the unrolled axes
  // of all sources.
  Expanded Widen(const UOp* u) {
    AxesTable::Id axes = 0;
    for (const UOp* s : u->srcs()) axes = axes_.Union(axes, map_[s].axes);
    if (axes == 0) return Order(u);
    const int64_t n = Lanes(axes_[axes]);
    if (n * std::max(1, u->dtype.lanes()) > kMaxVectorLanes) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(body_.Describe(u), ": it has more than ", kMaxVectorLanes, " lanes"));
      return {u};
    }
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(Spread(s, axes));
    if (GroupOf(u->op) == OpGroup::kLanes) return {Lanewise(u, srcs, n), axes};
    const DType t =
        u->dtype.is_void() ? u->dtype : u->dtype.WithLanes(static_cast<int>(u->dtype.lanes() * n));
    return {b_.context().Make(u->op, t, {srcs.data(), srcs.size()}, u->attr), axes};
  }

  // All lanes of the value come from one work-item.
  Expanded Shuffle(const UOp* u) {
    const Expanded value = map_[u->src(0)];
    if (map_[u->src(1)].axes != 0) return Separate(u);
    const UOp* const sources[] = {value.node, map_[u->src(1)].node};
    return {b_.context().Make(u->op, value.node->dtype, sources, u->attr), value.axes};
  }

  // The lanes that constant numbers pick, one for each combination of the unrolled axes.
  Expanded Extract(const UOp* u) {
    const AxesTable::Id axes = axes_.Union(map_[u->src(0)].axes, map_[u->src(1)].axes);
    const int own = u->src(0)->dtype.lanes();
    const UOp* number = Spread(u->src(1), axes);
    LaneList lanes;
    for (int64_t n = 0; n < Lanes(axes_[axes]); ++n) {
      const std::optional<int64_t> lane = ConstantLane(number, static_cast<int>(n));
      if (!lane || *lane < 0 || *lane >= own) {
        status_ = absl::InvalidArgumentError(
            absl::StrCat(body_.Describe(u), ": the number of the lane is not known"));
        return {u};
      }
      lanes.push_back(n * own + *lane);
    }
    return {b_.Gep(Spread(u->src(0), axes), {lanes.data(), lanes.size()}), axes};
  }

  // The op once for each combination of the unrolled axes, since it acts on whole vectors.
  Expanded Separate(const UOp* u) {
    AxesTable::Id axes = 0;
    for (const UOp* s : u->srcs()) axes = axes_.Union(axes, map_[s].axes);
    if (axes == 0) return Order(u);
    std::vector<const UOp*> parts;
    for (int64_t n = 0; n < Lanes(axes_[axes]); ++n) {
      llvm::SmallVector<const UOp*, 3> srcs;
      for (const UOp* s : u->srcs()) {
        const Expanded& e = map_[s];
        srcs.push_back(e.axes == 0 ? e.node : OneOf(Spread(s, axes), n, s->dtype.lanes()));
      }
      parts.push_back(b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()}));
    }
    // Tokens are joined.
    if (u->dtype.is_void()) return {b_.context().Make(Op::kNoop, kVoid, parts)};
    return {b_.Cat({parts.data(), parts.size()}), axes};
  }

  // Lanes n * own to (n + 1) * own of a value or of addresses.
  const UOp* OneOf(const UOp* x, int64_t n, int own) {
    if (x->dtype.lanes() == own) return x;
    LaneList lanes;
    for (int64_t l = 0; l < own; ++l) lanes.push_back(n * own + l);
    if (x->op != Op::kIndex) return b_.Gep(x, {lanes.data(), lanes.size()});
    const UOp* gate = x->num_srcs > 2 ? OneOf(x->src(2), n, own) : nullptr;
    return b_.IndexPtr(x->src(0), OneOf(x->src(1), n, own), gate);
  }

  // An op that only moves lanes, applied to each of `n` groups of its sources' lanes, as one gep.
  const UOp* Lanewise(const UOp* u, UOpSpan srcs, int64_t n) {
    // Concatenates all source lanes, then selects the wanted ones.
    llvm::SmallVector<int64_t, 16> base, width;
    int64_t total = 0;
    for (size_t i = 0; i < srcs.size(); ++i) {
      base.push_back(total);
      width.push_back(u->src(i)->dtype.lanes());
      total += srcs[i]->dtype.lanes();
    }
    LaneList lanes;
    for (int64_t g = 0; g < n; ++g) {
      for (int l = 0; l < u->dtype.lanes(); ++l) {
        size_t from = 0;
        int64_t lane = l;
        switch (LaneOp(u->op)) {
          case LaneOp::kSplat:
            lane = 0;
            break;
          case LaneOp::kGep:
            lane = u->list()[static_cast<size_t>(l)];
            break;
          case LaneOp::kVectorize:
          case LaneOp::kCat:
            while (lane >= width[from]) lane -= width[from++];
            break;
          case LaneOp::kContract:
          case LaneOp::kExtract:
            TG_UNREACHABLE();
        }
        lanes.push_back(base[from] + g * width[from] + lane);
      }
    }
    return b_.Gep(b_.Cat(srcs), {lanes.data(), lanes.size()});
  }

  // Repeats the lanes of `s` for each combination of `axes`, a superset of the axes of `s`. A
  // pointer to memory that all lanes share stays scalar.
  const UOp* Spread(const UOp* s, AxesTable::Id axes) {
    const Expanded e = map_[s];
    const bool is_uniform = e.axes == 0;
    if (e.axes == axes || (s->dtype.is_memory() && is_uniform && s->op != Op::kIndex)) {
      return e.node;
    }
    if (s->dtype.is_void()) return e.node;
    const int own = s->dtype.lanes();
    const int64_t n = Lanes(axes_[axes]);
    if (s->op == Op::kIndex && is_uniform) return SpreadAddress(e.node, n);
    if (is_uniform && own == 1) return b_.Splat(e.node, static_cast<int>(n));
    const LaneList lanes = LanesIn(axes_[e.axes], axes_[axes], own);
    return b_.Gep(e.node, {lanes.data(), lanes.size()});
  }

  // Repeats an address for several lanes. Several lanes that store to one address would be a race.
  // Loads do not come here, since a load has the axes of its address.
  const UOp* SpreadAddress(const UOp* address, int64_t n) {
    if (n > 1) {
      status_ = absl::InvalidArgumentError("store: several unrolled lanes write to one address");
    }
    return address;
  }

  // For each combination of the axes `all`, in order: the lanes that belong to it in a vector with
  // `own` lanes for each combination of `some` of these axes.
  static LaneList LanesIn(const LaneAxes& some, const LaneAxes& all, int own) {
    int64_t n = own;
    for (const LaneAxis& axis : all) n *= axis.size;
    LaneList lanes;
    lanes.resize_for_overwrite(static_cast<size_t>(n));
    size_t done = 0;
    for (int64_t l = 0; l < own; ++l) lanes[done++] = l;
    // From the innermost axis outwards: repeats the list so far for each further index of the axis.
    for (const LaneAxis& axis : llvm::reverse(all)) {
      int64_t stride = own, step = 0;
      for (size_t k = some.size(); k-- > 0; stride *= some[k].size) {
        if (some[k].number == axis.number) step = stride;
      }
      const size_t block = done;
      for (int64_t i = 1; i < axis.size; ++i) {
        for (size_t k = 0; k < block; ++k) lanes[done++] = lanes[k] + i * step;
      }
    }
    return lanes;
  }

  // The contracted axes become the node's own lanes, innermost; the other axes stay.
  Expanded Contract(const UOp* u) {
    const Expanded e = map_[u->src(0)];
    const LaneAxes& axes = axes_[e.axes];
    const auto numbers = u->list();
    const int own = u->src(0)->dtype.lanes();
    const int64_t inner = u->dtype.lanes() / own;
    LaneAxes remaining, contracted;
    for (const LaneAxis& a : axes) {
      if (std::find(numbers.begin(), numbers.end(), a.number) == numbers.end())
        remaining.push_back(a);
    }
    // The source is repeated along contracted axes on which it does not depend; together these
    // account for the remaining lanes.
    int64_t rest = inner;
    for (int64_t number : numbers) {
      const LaneAxis* a = FindAxis(axes, number);
      contracted.push_back({number, a ? a->size : 1});
      rest /= contracted.back().size;
    }
    for (size_t i = 0; i < contracted.size() && rest > 1; ++i) {
      if (FindAxis(axes, contracted[i].number)) continue;
      contracted[i].size = rest;
      rest = 1;
    }
    LaneAxes all = remaining;
    all.append(contracted.begin(), contracted.end());
    const LaneList lanes = LanesIn(axes, all, own);
    const AxesTable::Id left = axes_.Intern(remaining);
    if (e.node->dtype.lanes() == 1) {
      return {b_.Splat(e.node, static_cast<int>(lanes.size())), left};
    }
    return {b_.Gep(e.node, {lanes.data(), lanes.size()}), left};
  }

  Body& body_;
  Builder b_;
  AxesTable axes_;
  NodeMap<Expanded> map_;
  absl::Status status_;
};

absl::Status Run(Module& module, passes::PassContext& context) {
  return passes::ForEachKernel(
      module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage != Stage::kLowered) return absl::OkStatus();
        absl::Status s = ExpandKernel(kernel);
        if (s.ok()) s = simplify::Simplify(kernel.body, Stage::kExpanded, module);
        if (s.ok()) {
          Compact(kernel.body);
          ++statistics["expand.kernels"];
          return s;
        }
        return absl::Status(s.code(),
                            absl::StrCat("expand: kernel @", kernel.name, ": ", s.message()));
      });
}

}  // namespace

absl::Status ExpandKernel(Kernel& kernel) {
  if (absl::Status s = Expander(kernel.body).Run(); !s.ok()) return s;
  kernel.stage = Stage::kExpanded;
  return absl::OkStatus();
}

constinit const passes::Pass kExpandPass = {
    "expand", "turns unrolled axes into the lanes of vectors", {}, Run};

}  // namespace tg::expand
