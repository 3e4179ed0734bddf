#include "passes/lower/lower_reduces.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "ir/free_leaves.h"
#include "ir/interpret/scalar.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/combine_items.h"
#include "passes/indices/local_ids.h"

namespace tg::lower {
namespace {

// Matrix instructions truncate what they add to, which adds up over many of them. So the sums of
// products that are exact but for a few bits are added to the accumulator by rounding additions.
bool IsInParts(const UOp* product, const Context& ctx) {
  const auto instruction =
      FindMatrixInstruction(ctx.String(static_cast<StringId>(product->word())));
  return instruction && instruction->in_parts;
}

bool IsZero(const UOp* x) {
  if (x->op == Op::kConst) return x->word() == 0;
  return x->op == Op::kVConst && llvm::all_of(x->list(), [](int64_t bits) { return bits == 0; });
}

class ReduceLowering {
 public:
  // `locals`: all local ids of the kernel. `loops`: those around all stores.
  ReduceLowering(Builder& b, const passes::Target& target, std::vector<const UOp*> locals,
                 std::vector<const UOp*> loops)
      : b_(b), target_(target), locals_(std::move(locals)), loops_(std::move(loops)) {}

  const UOp* Reduce(Op op, const UOp* x, const std::vector<const UOp*>& ranges);
  const UOp* GroupReduce(Op op, const UOp* x, const std::vector<const UOp*>& specials);

 private:
  // The reduce of lane `x->src(1)` of a chain of instructions of a warpgroup, which have the value
  // zero for the sums. They get the address of sums instead, to which they add in place.
  const UOp* WarpgroupReduce(const UOp* x, const std::vector<const UOp*>& ranges);
  // `x` combined with the accumulator. Matrix instructions and dot4 add to their
  // accumulators themselves.
  const UOp* Combined(Op op, const UOp* acc, const UOp* x);
  // Work-items along a local id, each `size / parts` of which have the same value.
  struct Parts {
    const UOp* special;
    int64_t size, parts;
    const UOp* number = nullptr;    // of a work-item's part
    const UOp* is_first = nullptr;  // of those with the part's value; null: each has a part
  };
  // Combines `x` among the work-items of each subgroup, as far as they are along `specials`, and
  // appends what is left of these.
  const UOp* CombineInSubgroups(Op op, const UOp* x, const std::vector<const UOp*>& specials,
                                std::vector<Parts>& left);
  // One reduction tree: combines the parts at place(0), ..., place(n - 1) of `mem` into place(0).
  // Only work-items for which `who` holds take part (null: all). `token` orders it after the stores
  // of the parts. Returns the token of the last step.
  const UOp* CombineTree(Op op, DType t, const UOp* mem, const UOp* token, const Parts& parts,
                         const UOp* who, llvm::function_ref<const UOp*(const UOp*)> place);

  // The loops around a value, where it is computed: all that it varies with, and all in whose
  // iterations a copy that it reads is filled again.
  std::vector<const UOp*> LoopsAround(const UOp* x);
  // Of these, all but `ranges`.
  std::vector<const UOp*> LoopsOutside(const UOp* x, const std::vector<const UOp*>& ranges);

  Builder& b_;
  const passes::Target& target_;
  const std::vector<const UOp*> locals_, loops_;
  FreeLeaves free_;
};

std::vector<const UOp*> ReduceLowering::LoopsAround(const UOp* x) {
  std::vector<const UOp*> around = free_.RangesOf(x);
  const auto is_local_copy = [](const UOp* u) {
    return u->op == Op::kStage && u->dtype.space() == AddrSpace::kLocal;
  };
  if (loops_.empty() || llvm::none_of(PostOrder(x), is_local_copy)) return around;
  for (const UOp* loop : loops_) {
    if (!llvm::is_contained(around, loop)) around.push_back(loop);
  }
  return around;
}

std::vector<const UOp*> ReduceLowering::LoopsOutside(const UOp* x,
                                                     const std::vector<const UOp*>& ranges) {
  std::vector<const UOp*> outer = LoopsAround(x);
  std::erase_if(outer, [&](const UOp* r) { return llvm::is_contained(ranges, r); });
  return outer;
}

const UOp* ReduceLowering::WarpgroupReduce(const UOp* x, const std::vector<const UOp*>& ranges) {
  std::vector<const UOp*> chain;  // the last one first
  const UOp* start = x->src(0);
  for (; start->op == Op::kWgmma; start = start->src(0)) chain.push_back(start);
  TG_CHECK(IsZero(start));
  const DType t = x->dtype;
  const int64_t lanes = start->dtype.lanes();
  int64_t count = 1;
  const UOp* tile = LaneNumber(b_, free_.UnrollsOf(x->src(0)), count);
  const UOp* first = b_.Mul(tile, b_.Index(lanes));
  const UOp* own = b_.Add(first, x->src(1));
  const UOp* acc = b_.Scratch(DType::Pointer(t.scalar(), count * lanes, AddrSpace::kReg));
  const UOp* init =
      b_.Store(b_.IndexPtr(b_.After(acc, LoopsOutside(x, ranges)), own), b_.ConstBits(t, 0));
  std::vector<const UOp*> tokens = {init};
  tokens.insert(tokens.end(), ranges.begin(), ranges.end());
  const UOp* step = nullptr;
  for (const UOp* product : llvm::reverse(chain)) {
    const UOp* const sources[] = {b_.IndexPtr(b_.After(acc, tokens), first), product->src(1),
                                  product->src(2)};
    step = b_.context().Make(Op::kWgmma, kVoid, sources, product->attr);
    tokens = {step};
  }
  const UOp* done = ranges.empty() ? step : b_.End(step, ranges);
  return b_.Load(b_.IndexPtr(b_.After(acc, UOpSpan(&done, 1)), own));
}

const UOp* ReduceLowering::Reduce(Op op, const UOp* x, const std::vector<const UOp*>& ranges) {
  const bool is_warpgroup = x->op == Op::kExtract && x->src(0)->op == Op::kWgmma;
  if (is_warpgroup && op == Op::kAdd) return WarpgroupReduce(x, ranges);
  const DType t = x->dtype;
  int64_t count = 1;
  const UOp* i = LaneNumber(b_, free_.UnrollsOf(x), count);
  const std::vector<const UOp*> outer = LoopsOutside(x, ranges);
  const UOp* acc = b_.Scratch(DType::Pointer(t.scalar(), count * t.lanes(), AddrSpace::kReg));
  if (t.lanes() != 1) i = b_.Mul(i, b_.Index(t.lanes()));
  const UOp* init = b_.Store(b_.IndexPtr(b_.After(acc, outer), i),
                             b_.ConstBits(t, interpret::ReduceIdentity(op, t.scalar())));
  std::vector<const UOp*> tokens = {init};
  tokens.insert(tokens.end(), ranges.begin(), ranges.end());
  const UOp* at = b_.IndexPtr(b_.After(acc, tokens), i);
  const UOp* step = b_.Store(at, Combined(op, b_.Load(at, nullptr, t.lanes()), x));
  const UOp* done = b_.End(step, ranges);
  return b_.Load(b_.IndexPtr(b_.After(acc, UOpSpan(&done, 1)), i), nullptr, t.lanes());
}

const UOp* ReduceLowering::Combined(Op op, const UOp* acc, const UOp* x) {
  const UOp* product = x->op == Op::kExtract ? x->src(0) : nullptr;
  if (op == Op::kAdd && product && product->op == Op::kWmma && IsZero(product->src(2)) &&
      !IsInParts(product, b_.context())) {
    // The axes whose lanes are the accumulators, in their order.
    std::vector<const UOp*> axes = free_.UnrollsOf(x->src(1));
    std::vector<int64_t> numbers;
    int64_t count = 1;
    const UOp* number = LaneNumber(b_, axes, count);
    if (number != x->src(1)) {
      std::reverse(axes.begin(), axes.end());
      number = LaneNumber(b_, axes, count = 1);
    }
    for (const UOp* axis : axes) numbers.push_back(axis->word());
    if (number == x->src(1) && count == product->dtype.lanes()) {
      Context& ctx = b_.context();
      const UOp* sums =
          ctx.Make(Op::kContract, product->dtype, {acc}, ctx.MakeListAttr(Op::kContract, numbers));
      const UOp* const sources[] = {product->src(0), product->src(1), sums};
      product = ctx.Make(Op::kWmma, product->dtype, sources, product->attr);
      return ctx.Make(Op::kExtract, x->dtype, {product, number});
    }
  }
  if (op == Op::kAdd && x->op == Op::kDot4 && IsZero(x->src(2))) {
    return b_.Alu(Op::kDot4, {x->src(0), x->src(1), acc});
  }
  return b_.Alu(op, {acc, x});
}

const UOp* ReduceLowering::CombineInSubgroups(Op op, const UOp* x,
                                              const std::vector<const UOp*>& specials,
                                              std::vector<Parts>& left) {
  int64_t group = 1;
  for (const UOp* l : locals_) group *= l->src(0)->word();
  const bool shuffles =
      target_.inline_ptx && ByteSize(x->dtype.scalar()) == 4 && group % target_.subgroup_size == 0;
  for (const UOp* special : specials) {
    Parts p{special, special->src(0)->word(), special->src(0)->word(), special};
    // The work-items before this id's, which are neighbours in a subgroup, and their number.
    const UOp* before = nullptr;
    int64_t stride = 1;
    for (const UOp* l : locals_) {
      if (l == special) break;
      const UOp* own = b_.Mul(l, b_.Index(stride));
      before = before ? b_.Add(before, own) : own;
      stride *= l->src(0)->word();
    }
    const bool divides = target_.subgroup_size % stride == 0;
    const int64_t alike =
        shuffles && divides ? std::gcd(p.size, target_.subgroup_size / stride) : 1;
    x = indices::CombineItems(b_, op, x, {special, alike, stride, before});
    p.parts /= alike;
    if (alike > 1) {
      p.number = b_.Alu(Op::kFloorDiv, {special, b_.Index(alike)});
      p.is_first = b_.Lt(b_.Alu(Op::kFloorMod, {special, b_.Index(alike)}), b_.Index(1));
    }
    left.push_back(p);
  }
  return x;
}

const UOp* ReduceLowering::GroupReduce(Op op, const UOp* x,
                                       const std::vector<const UOp*>& specials) {
  std::vector<Parts> left;  // of each of `specials`
  x = CombineInSubgroups(op, x, specials, left);
  int64_t parts = 1, alike = 1;
  const UOp* stores = nullptr;  // whether a work-item has a part to store
  for (const Parts& p : left) {
    parts *= p.parts;
    alike *= p.size / p.parts;
    if (p.is_first) stores = analysis::Both(b_, stores, p.is_first);
  }
  if (parts == 1) return x;
  const DType t = x->dtype;
  int64_t lanes = 1;
  const UOp* lane = LaneNumber(b_, free_.UnrollsOf(x), lanes);
  if (t.lanes() != 1) lane = b_.Mul(lane, b_.Index(t.lanes()));
  lanes *= t.lanes();
  int64_t places = 1;
  for (const UOp* l : locals_) places *= l->src(0)->word();
  places /= alike;
  // Words of an access for each work-item after the other, so that neighbours are in different
  // banks.
  const int64_t words = std::max<int64_t>(1, target_.mem_width / ByteSize(t.scalar()));
  const bool in_words = t.lanes() == 1 && lanes > words && lanes % words == 0;
  if (in_words) {
    const UOp* access = b_.Alu(Op::kFloorDiv, {lane, b_.Index(words)});
    lane = b_.Add(b_.Mul(access, b_.Index(places * words)),
                  b_.Alu(Op::kFloorMod, {lane, b_.Index(words)}));
  }
  // The place of part `numbers` along `specials`.
  const auto place = [&](const std::vector<const UOp*>& numbers) {
    const UOp* sum = lane;
    int64_t stride = in_words ? words : lanes;
    for (const UOp* l : locals_) {
      const auto it = std::find(specials.begin(), specials.end(), l);
      const auto k = static_cast<size_t>(it - specials.begin());
      const bool is_shared = it != specials.end();
      sum = b_.Add(b_.Mul(is_shared ? numbers[k] : l, b_.Index(stride)), sum);
      stride *= is_shared ? left[k].parts : l->src(0)->word();
    }
    return sum;
  };
  const std::vector<const UOp*> outer = LoopsAround(x);
  const UOp* mem = b_.Scratch(DType::Pointer(t.scalar(), places * lanes, AddrSpace::kLocal));
  const UOp* before = mem;
  if (!outer.empty()) {
    // A barrier, so that the next iteration does not overwrite parts that other work-items still
    // read.
    const UOp* wait = b_.context().Make(Op::kBarrier, kVoid, UOpSpan(outer.data(), outer.size()));
    before = b_.After(mem, UOpSpan(&wait, 1));
  }
  std::vector<const UOp*> at;
  for (const Parts& p : left) at.push_back(p.number);
  const UOp* part = b_.Store(b_.IndexPtr(before, place(at), stores), x);
  const UOp* barrier = b_.context().Make(Op::kBarrier, kVoid, {part});
  // What several subgroups have is a few parts, which each work-item combines.
  const bool in_tree = alike > 1 ? parts > 8 : parts == 4 || parts >= 8;
  if (in_tree) {
    // Along one local id after the other: work-items with 0 in the earlier ones hold the partial
    // results along these.
    const UOp* token = barrier;
    const UOp* first = stores;
    for (size_t k = 0; k < left.size(); ++k) {
      token = CombineTree(op, t, mem, token, left[k], first, [&](const UOp* i) {
        at[k] = i;
        return place(at);
      });
      at[k] = b_.Index(0);
      first = analysis::Both(b_, first, b_.Lt(left[k].number, b_.Index(1)));
    }
    return b_.Load(b_.IndexPtr(b_.After(mem, UOpSpan(&token, 1)), place(at)), nullptr, t.lanes());
  }
  std::vector<const UOp*> ranges;
  for (size_t k = 0; k < left.size(); ++k) {
    at[k] = b_.Index(0);
    if (left[k].parts == 1) continue;
    at[k] = b_.Range(b_.Index(left[k].parts));
    ranges.push_back(at[k]);
  }
  const UOp* all = b_.After(mem, UOpSpan(&barrier, 1));
  return Reduce(op, b_.Load(b_.IndexPtr(all, place(at)), nullptr, t.lanes()), ranges);
}

const UOp* ReduceLowering::CombineTree(Op op, DType t, const UOp* mem, const UOp* token,
                                       const Parts& parts, const UOp* who,
                                       llvm::function_ref<const UOp*(const UOp*)> place) {
  int64_t left = parts.parts;
  while (left > 1) {
    // A power of two of parts is left after each step.
    const int64_t half = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(left))) / 2;
    const UOp* before = b_.After(mem, UOpSpan(&token, 1));
    const UOp* mine = analysis::Both(b_, who, b_.Lt(parts.number, b_.Index(left - half)));
    const UOp* own = b_.IndexPtr(before, place(parts.number), mine);
    const UOp* other = b_.IndexPtr(before, place(b_.Add(parts.number, b_.Index(half))), mine);
    const UOp* sum =
        b_.Alu(op, {b_.Load(own, nullptr, t.lanes()), b_.Load(other, nullptr, t.lanes())});
    token = b_.context().Make(Op::kBarrier, kVoid, {b_.Store(own, sum)});
    left = half;
  }
  return token;
}

}  // namespace

std::vector<const UOp*> LoopsAroundStores(const UOp* sink) {
  if (sink->num_srcs != 1 || sink->src(0)->op != Op::kEnd) return {};
  const UOpSpan ranges = sink->src(0)->srcs().subspan(1);
  return {ranges.begin(), ranges.end()};
}

void LowerReduces(Body& body, const passes::Target& target) {
  const std::vector<const UOp*> order = PostOrder(body.root);
  Builder b(*body.context);
  ReduceLowering reduces(b, target, indices::LocalIds(order), LoopsAroundStores(body.root));
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = nullptr;
    const std::vector<const UOp*> rest(srcs.begin() + !srcs.empty(), srcs.end());
    if (u->op == Op::kReduce && !rest.empty() && u->dtype == srcs[0]->dtype) {
      to = reduces.Reduce(static_cast<Op>(u->word()), srcs[0], rest);
    } else if (u->op == Op::kGroupReduce) {
      to = reduces.GroupReduce(static_cast<Op>(u->word()), srcs[0], rest);
    } else {
      to = b.context().Rebuild(u, b.context(), UOpSpan(srcs.data(), srcs.size()));
    }
    map[u] = to;
    body.CarryOver(u, to);
  }
  body.root = map.Get(body.root);
}

}  // namespace tg::lower
