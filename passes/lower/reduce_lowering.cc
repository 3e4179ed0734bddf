#include "passes/lower/reduce_lowering.h"

#include <algorithm>
#include <bit>

#include "ir/interpret/scalar.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/indexing.h"

namespace tg {

const UOp* ReduceLowering::Reduce(Op op, const UOp* x, const std::vector<const UOp*>& unrolls,
                                  const std::vector<const UOp*>& ranges) {
  const DType t = x->dtype;
  if (!unrolls.empty() && !ranges.empty()) {
    const std::vector<const UOp*> varying = free_.UnrollsOf(x);
    int64_t lanes = t.lanes();
    for (const UOp* u : varying) lanes *= u->word(1);
    const bool all = std::all_of(unrolls.begin(), unrolls.end(), [&](const UOp* u) {
      return std::find(varying.begin(), varying.end(), u) != varying.end();
    });
    if (all && lanes * std::max<int64_t>(1, ByteSize(t.scalar()) / 4) <= max_accumulators_) {
      return Reduce(op, Reduce(op, x, {}, ranges), unrolls, {});
    }
  }
  // A horizontal reduce: the unrolled terms become lanes of one vector, which is reduced to one
  // lane. Along an axis on which x does not depend, all terms are equal and x is repeated.
  if (!unrolls.empty()) {
    const std::vector<const UOp*> varying = free_.UnrollsOf(x);
    llvm::SmallVector<int64_t, 8> axes = {0};
    int lanes = t.lanes(), copies = 1;
    for (const UOp* u : unrolls) {
      const int size = static_cast<int>(u->word(1));
      if (std::find(varying.begin(), varying.end(), u) == varying.end()) {
        copies *= size;
        continue;
      }
      axes.push_back(u->word(0));
      ++axes[0];
      lanes *= size;
    }
    Context& ctx = b_.context();
    if (axes[0] > 0) {
      x = ctx.Make(Op::kContract, t.WithLanes(lanes), {x},
                   ctx.MakeAttr(Op::kContract, {axes.data(), axes.size()}));
    }
    llvm::SmallVector<const UOp*, 8> repeated(static_cast<size_t>(copies), x);
    if (copies > 1) x = b_.Cat({repeated.data(), repeated.size()});
    if (x->dtype != t) {
      x = ctx.Make(Op::kReduce, t, {x}, ctx.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)}));
    }
  }
  if (ranges.empty()) return x;

  int64_t count = 1;
  const UOp* i = LaneNumber(b_, free_.UnrollsOf(x), count);
  std::vector<const UOp*> outer = free_.RangesOf(x);
  std::erase_if(outer, [&](const UOp* r) {
    return std::find(ranges.begin(), ranges.end(), r) != ranges.end();
  });
  const UOp* acc = b_.Scratch(DType::Pointer(t.scalar(), count * t.lanes(), AddrSpace::kReg));
  if (t.lanes() != 1) i = b_.Mul(i, b_.Index(t.lanes()));
  const UOp* init = b_.Store(b_.IndexPtr(b_.After(acc, outer), i),
                             b_.ConstBits(t, ReduceIdentity(op, t.scalar())));
  std::vector<const UOp*> tokens = {init};
  tokens.insert(tokens.end(), ranges.begin(), ranges.end());
  const UOp* at = b_.IndexPtr(b_.After(acc, tokens), i);
  const UOp* step = b_.Store(at, b_.Alu(op, {b_.Load(at, nullptr, t.lanes()), x}));
  const UOp* done = EndAll(step, ranges);
  return b_.Load(b_.IndexPtr(b_.After(acc, UOpSpan(&done, 1)), i), nullptr, t.lanes());
}

const UOp* ReduceLowering::EndAll(const UOp* step, const std::vector<const UOp*>& ranges) {
  std::vector<const UOp*> open;  // ranges that the next `end` closes together
  for (size_t k = ranges.size(); k-- > 0;) {
    std::vector<const UOp*> tokens;
    for (const auto& [range, store] : in_steps_) {
      if (range == ranges[k]) tokens.push_back(store);
    }
    if (!tokens.empty()) {
      tokens.push_back(open.empty() ? step : b_.End(step, open));
      step = b_.context().Make(Op::kNoop, kVoid, tokens);
      open.clear();
    }
    open.insert(open.begin(), ranges[k]);
  }
  return b_.End(step, open);
}

const UOp* ReduceLowering::GroupReduce(Op op, const UOp* x, const std::vector<const UOp*>& specials,
                                       const std::vector<const UOp*>& locals) {
  const DType t = x->dtype;
  int64_t lanes = 1;
  const UOp* lane = LaneNumber(b_, free_.UnrollsOf(x), lanes);
  if (t.lanes() != 1) lane = b_.Mul(lane, b_.Index(t.lanes()));
  lanes *= t.lanes();
  int64_t group = 1;
  for (const UOp* l : locals) group *= l->src(0)->word();
  // The place of the work-item whose coordinate in `specials` is `other`.
  const auto place = [&](const std::vector<const UOp*>& other) {
    const UOp* sum = lane;
    int64_t stride = lanes;
    for (const UOp* l : locals) {
      const auto it = std::find(specials.begin(), specials.end(), l);
      const UOp* c = it == specials.end() ? l : other[static_cast<size_t>(it - specials.begin())];
      sum = b_.Add(b_.Mul(c, b_.Index(stride)), sum);
      stride *= l->src(0)->word();
    }
    return sum;
  };
  const std::vector<const UOp*> outer = free_.RangesOf(x);
  const UOp* mem = b_.Scratch(DType::Pointer(t.scalar(), group * lanes, AddrSpace::kLocal));
  const UOp* before = mem;
  if (!outer.empty()) {
    // A barrier, so that the next iteration does not overwrite parts that other work-items still
    // read.
    const UOp* wait = b_.context().Make(Op::kBarrier, kVoid, UOpSpan(outer.data(), outer.size()));
    before = b_.After(mem, UOpSpan(&wait, 1));
  }
  const UOp* part = b_.Store(b_.IndexPtr(before, place(specials)), x);
  const UOp* barrier = b_.context().Make(Op::kBarrier, kVoid, {part});
  int64_t parts = 1;
  for (const UOp* s : specials) parts *= s->src(0)->word();
  if (parts == 4 || parts >= 8) {
    // Along one local id after the other: work-items with 0 in the earlier ones hold the partial
    // results along these.
    const UOp* token = barrier;
    const UOp* first = nullptr;
    std::vector<const UOp*> at = specials;
    for (size_t k = 0; k < specials.size(); ++k) {
      token = CombineTree(op, t, mem, token, specials[k], first, [&](const UOp* i) {
        at[k] = i;
        return place(at);
      });
      at[k] = b_.Index(0);
      first = Both(b_, first, b_.Lt(specials[k], b_.Index(1)));
    }
    return b_.Load(b_.IndexPtr(b_.After(mem, UOpSpan(&token, 1)), place(at)), nullptr, t.lanes());
  }
  std::vector<const UOp*> ranges;
  for (const UOp* s : specials) ranges.push_back(b_.Range(s->src(0)));
  const UOp* all = b_.After(mem, UOpSpan(&barrier, 1));
  return Reduce(op, b_.Load(b_.IndexPtr(all, place(ranges)), nullptr, t.lanes()), {}, ranges);
}

const UOp* ReduceLowering::CombineTree(Op op, DType t, const UOp* mem, const UOp* token,
                                       const UOp* special, const UOp* who,
                                       llvm::function_ref<const UOp*(const UOp*)> place) {
  int64_t left = special->src(0)->word();
  while (left > 1) {
    // A power of two of parts is left after each step.
    const int64_t half = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(left))) / 2;
    const UOp* before = b_.After(mem, UOpSpan(&token, 1));
    const UOp* mine = Both(b_, who, b_.Lt(special, b_.Index(left - half)));
    const UOp* own = b_.IndexPtr(before, place(special), mine);
    const UOp* other = b_.IndexPtr(before, place(b_.Add(special, b_.Index(half))), mine);
    const UOp* sum =
        b_.Alu(op, {b_.Load(own, nullptr, t.lanes()), b_.Load(other, nullptr, t.lanes())});
    token = b_.context().Make(Op::kBarrier, kVoid, {b_.Store(own, sum)});
    left = half;
  }
  return token;
}

void MakeReducesExplicit(Body& body) {
  Builder b(*body.context);
  ReduceLowering reduces(b);
  const std::vector<const UOp*> order = PostOrder(body.root);
  std::vector<const UOp*> locals;
  for (const UOp* u : order) {
    const bool local = u->op == Op::kSpecial && u->word() >= int64_t(SpecialName::kLocal0);
    if (local) locals.push_back(u);
  }
  std::sort(locals.begin(), locals.end(),
            [](const UOp* a, const UOp* c) { return a->word() < c->word(); });
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = nullptr;
    const std::vector<const UOp*> rest(srcs.begin() + !srcs.empty(), srcs.end());
    if (u->op == Op::kReduce && !rest.empty() && u->dtype == srcs[0]->dtype) {
      to = reduces.Reduce(static_cast<Op>(u->word()), srcs[0], {}, rest);
    } else if (u->op == Op::kGroupReduce) {
      to = reduces.GroupReduce(static_cast<Op>(u->word()), srcs[0], rest, locals);
    } else {
      to = b.context().Rebuild(u, b.context(), UOpSpan(srcs.data(), srcs.size()));
    }
    map[u] = to;
    body.CarryOver(u, to);
  }
  body.root = map.Get(body.root);
}

}  // namespace tg
