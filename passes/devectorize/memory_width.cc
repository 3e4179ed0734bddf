#include "passes/devectorize/memory_width.h"

#include <algorithm>
#include <bit>

#include "llvm/ADT/STLExtras.h"
#include "passes/devectorize/image_access.h"
#include "passes/devectorize/memory_cutter.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {

std::vector<LaneAccess> MemoryCutter::LanesOf(const UOp* access, const UOp* alternative) {
  const UOp* address = access->src(0);
  const bool one_address = address->dtype.lanes() == 1;
  std::vector<LaneAccess> lanes;
  lanes.reserve(static_cast<size_t>(AccessType(access).lanes()));
  // Consecutive lanes often have the same gate and addresses that differ by a constant; then the
  // address under the gate is simplified once.
  const UOp* gate = nullptr;
  AffineExpr plain, under;
  for (int i = 0; i < AccessType(access).lanes(); ++i) {
    LaneAccess l;
    l.lane = i;
    l.address = index_.At(address->src(1), one_address ? 0 : i);
    if (one_address) l.address.Advance(i * StrideOf(access));
    if (address->num_srcs > 2) {
      l.gate = index_.GateAt(address->src(2), one_address ? 0 : i);
      if (IsConst(l.gate)) {
        if (!l.gate->word()) continue;
        l.gate = nullptr;
      } else {
        if (l.gate != gate || l.address.terms != plain.terms) {
          gate = l.gate;
          plain = l.address;
          under = Under(gate, plain);
        }
        const int64_t distance = l.address.constant - plain.constant;
        l.address = under;
        l.address.Advance(distance);
      }
    }
    if (l.gate && alternative) l.alternative = Lane(b_, alternative, i);
    lanes.push_back(std::move(l));
  }
  return lanes;
}

std::vector<ElementRun> MemoryCutter::RunsOfAccess(const UOp* access, const UOp* alternative,
                                                   std::vector<const UOp*>* alternatives) {
  const UOp* address = access->src(0);
  if (address->num_srcs == 2 && address->dtype.lanes() > 1) {
    const UOp* at = address->src(1);
    const std::span<const int64_t> offsets = index_.OffsetsOf(at);
    if (!offsets.empty()) return RunsOf(index_.BaseOf(at), offsets);
  }
  const std::vector<LaneAccess> lanes = LanesOf(access, alternative);
  if (alternatives && alternative) {
    for (const LaneAccess& l : lanes) (*alternatives)[static_cast<size_t>(l.lane)] = l.alternative;
  }
  return FewerUnderMasks(access, lanes, RunsOf(lanes));
}

AffineExpr MemoryCutter::Under(const UOp* gate, const AffineExpr& address) {
  const auto divides = [](const auto& term) {
    const Op op = term.node->op;
    return op == Op::kFloorDiv || op == Op::kFloorMod || op == Op::kCDiv || op == Op::kCMod;
  };
  if (std::none_of(address.terms.begin(), address.terms.end(), divides)) return address;
  const UOp* value = index_.linear().Build(address);
  // Only expressions of coordinates are simplified; values that are read from memory stay as they
  // are.
  for (const UOp* u : PostOrder(value)) {
    if (!IsElementwise(u->op) && u->op != Op::kRange && u->op != Op::kSpecial &&
        u->op != Op::kVar && !IsConst(u)) {
      return address;
    }
  }
  if (!simplifier_) simplifier_.emplace(*body_.context, &module_);
  return index_.linear().FormOf(simplifier_->Under(gate, value));
}

template <typename F>
void MemoryCutter::ForEachPiece(const UOp* address, const ElementRun& run, int widest, bool whole,
                                F&& f) {
  const auto most = static_cast<size_t>(widest);
  AffineExpr start = run.start;
  for (size_t at = 0; at < run.size();) {
    auto width = std::bit_floor(std::min(run.size() - at, most));
    if (whole && !run.gates.empty() && run.size() > most) width = most;
    if (!target_.unaligned_access) {
      const int64_t divisor = index_.linear().Divisor(start);
      while (divisor % static_cast<int64_t>(width) != 0) width /= 2;
    }
    ++(width > 1 ? statistics_.wide_accesses : statistics_.scalar_accesses);
    f(Address(address, start, GateOf(run, at, width)), at, width);
    at += width;
    start.Advance(static_cast<int64_t>(width));
  }
}

LaneRefs MemoryCutter::NoLanes(const UOp* u, const UOp* alternative) {
  const UOp* zero = b_.ConstBits(u->dtype.WithLanes(1), 0);
  LaneRefs result(static_cast<size_t>(u->dtype.lanes()), LaneRef{zero, 0});
  for (size_t i = 0; alternative && i < result.size(); ++i) {
    result[i] = OriginOf(b_, alternative, static_cast<int>(i));
  }
  return result;
}

const UOp* MemoryCutter::LoadPiece(const UOp* u, const UOp* address, int lanes,
                                   UOpSpan alternatives) {
  const bool gated = address->num_srcs > 2;
  const UOp* alt = gated && u->num_srcs > 1 ? Concat(b_, alternatives) : nullptr;
  const DType t = u->dtype.WithLanes(lanes);
  const UOp* x = alt ? b_.context().Make(Op::kLoad, t, {address, alt})
                     : b_.context().Make(Op::kLoad, t, {address});
  body_.CarryOver(u, x);
  return x;
}

const UOp* MemoryCutter::RewriteLoad(const UOp* u, UOpSpan srcs) {
  const UOp* pointer = PointerOf(srcs[0]);
  const UOp* alternative = srcs.size() > 1 ? srcs[1] : nullptr;
  if (const auto* pieces = registers_.PiecesOf(u->src(0)->src(0))) {
    return LoadRegisters(u, srcs, *pieces);
  }
  std::vector<const UOp*> alternative_of(static_cast<size_t>(alternative ? u->dtype.lanes() : 0));
  const int widest = MemoryLanes(target_, pointer->dtype.scalar());
  const std::vector<ElementRun> runs = RunsOfAccess(u, alternative, &alternative_of);
  // Most accesses provide their lanes in order.
  int next = 0;
  const bool in_order = llvm::all_of(runs,
                                     [&](const ElementRun& run) {
                                       next += static_cast<int>(run.size());
                                       return run.IsInOrder(next - static_cast<int>(run.size()));
                                     }) &&
                        next == u->dtype.lanes();
  legalize::Nodes parts;
  if (!alternative) {
    for (const StridedGroup& group : StridedGroups(u, runs)) {
      const DType t = u->dtype.WithLanes(group.lanes);
      parts.push_back(b_.context().Make(u->op, t, {Address(srcs[0], group.start)}, group.stride));
      body_.CarryOver(u, parts.back());
    }
    if (!parts.empty()) return Concat(b_, legalize::Span(parts));
  }
  LaneRefs result;
  if (!in_order) result = NoLanes(u, alternative);
  for (const ElementRun& run : runs) {
    // Whole vectors are assembled by fewer instructions.
    const bool whole = !in_order;
    ForEachPiece(srcs[0], run, widest, whole, [&](const UOp* address, size_t at, size_t width) {
      const size_t own = std::min(width, run.size() - at);
      legalize::Nodes alternatives;
      for (size_t k = 0; alternative && k < width; ++k) {
        const UOp* instead =
            k < own ? alternative_of[static_cast<size_t>(run.LanesOf(at + k)[0])] : nullptr;
        // Under a mask, an element may be one that is always loaded.
        if (!instead) instead = b_.ConstBits(u->dtype.WithLanes(1), 0);
        alternatives.push_back(instead);
      }
      const UOp* x = LoadPiece(u, address, static_cast<int>(width), legalize::Span(alternatives));
      if (in_order) {
        parts.push_back(x);
        return;
      }
      for (size_t k = 0; k < own; ++k) {
        for (int lane : run.LanesOf(at + k)) {
          result[static_cast<size_t>(lane)] = {x, static_cast<int>(k)};
        }
      }
    });
  }
  return in_order ? Concat(b_, legalize::Span(parts))
                  : Assemble(b_, {result.data(), result.size()});
}

const UOp* MemoryCutter::RewriteStore(const UOp* u, UOpSpan srcs) {
  const UOp* pointer = PointerOf(srcs[0]);
  const UOp* value = srcs[1];
  legalize::Nodes tokens;
  if (const auto* pieces = registers_.PiecesOf(u->src(0)->src(0))) {
    return StoreRegisters(u, srcs, *pieces);
  }
  const int widest = MemoryLanes(target_, pointer->dtype.scalar());
  const std::vector<ElementRun> runs = RunsOfAccess(u, nullptr);
  for (const StridedGroup& group : StridedGroups(u, runs)) {
    const UOp* part = Slice(b_, value, group.first_lane, group.lanes);
    tokens.push_back(
        b_.context().Make(u->op, kVoid, {Address(srcs[0], group.start), part}, group.stride));
  }
  if (!tokens.empty()) return Join(legalize::Span(tokens));
  for (const ElementRun& run : runs) {
    const int lane = run.LanesOf(0)[0];
    const bool in_order = run.IsInOrder(lane);
    ForEachPiece(
        srcs[0], run, widest, /*whole=*/false, [&](const UOp* address, size_t at, size_t width) {
          if (in_order) {
            tokens.push_back(b_.Store(
                address, Slice(b_, value, lane + static_cast<int>(at), static_cast<int>(width))));
            return;
          }
          LaneRefs refs;
          for (size_t k = 0; k < width; ++k) {
            refs.push_back(OriginOf(b_, value, run.LanesOf(at + k).back()));
          }
          tokens.push_back(b_.Store(address, Assemble(b_, {refs.data(), refs.size()})));
        });
  }
  return Join(legalize::Span(tokens));
}

const UOp* MemoryCutter::Rewrite(const UOp* u, UOpSpan srcs) {
  const bool is_access = (u->op == Op::kLoad || u->op == Op::kStore) &&
                         u->src(0)->op == Op::kIndex && !u->src(0)->dtype.is_image();
  if ((u->op == Op::kLoad || u->op == Op::kStore) && AddressesImageElements(u->src(0))) {
    return u->op == Op::kLoad ? LoadImage(u, srcs) : StoreImage(u, srcs);
  }
  if (is_access) {
    // A scalar access without a gate needs no splitting, unless it is to register scratch, where
    // the lanes and addresses of pieces count.
    const bool scalar = AccessType(u).lanes() == 1 && u->src(0)->num_srcs == 2;
    if (!scalar || registers_.PiecesOf(u->src(0)->src(0))) {
      return u->op == Op::kLoad ? RewriteLoad(u, srcs) : RewriteStore(u, srcs);
    }
  }
  switch (u->op) {
    case Op::kIndex:
      return b_.context().Make(u->op, srcs[0]->dtype.WithLanes(u->dtype.lanes()), srcs);
    case Op::kScratch:
      if (!registers_.IsDemoted(u)) return u;
      return b_.context().Make(
          u->op,
          DType::Pointer(u->dtype.scalar(), u->dtype.size(), AddrSpace::kPrivate, u->dtype.lanes()),
          srcs, u->attr);
    default:
      break;
  }
  // An op with any number of tokens as sources takes the tokens that a noop joins directly.
  legalize::Nodes flat;
  for (const UOp* s : srcs) {
    if (s->op == Op::kNoop && s->dtype.is_void()) {
      flat.append(s->srcs().begin(), s->srcs().end());
    } else {
      flat.push_back(s);
    }
  }
  if (u->op == Op::kAfter) {
    return b_.After(srcs[0], legalize::Span(flat).subspan(1));
  }
  if (u->op == Op::kEnd) {
    // If no effect is left in the loop, the loop is removed.
    if (srcs[0]->op == Op::kNoop && srcs[0]->num_srcs == 0) return srcs[0];
    return legalize::WithSources(b_, u, srcs);
  }
  return legalize::WithSources(b_, u, legalize::Span(flat));
}

absl::StatusOr<MemoryStatistics> CutMemory(
    Body& body, const Module& module, const passes::Target& target, UOpSpan order,
    legalize::IndexTypes& types, llvm::function_ref<const UOp*(const UOp* u, UOpSpan srcs)> other) {
  return MemoryCutter(body, module, target, order, types).Run(other);
}

}  // namespace tg::devectorize
