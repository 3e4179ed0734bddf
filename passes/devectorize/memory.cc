#include "passes/devectorize/memory.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/decompose/forward.h"
#include "passes/devectorize/element_runs.h"
#include "passes/devectorize/image_access.h"
#include "passes/devectorize/lane_index.h"
#include "passes/devectorize/lanes.h"
#include "passes/devectorize/register_scratch.h"
#include "passes/devectorize/width.h"
#include "passes/simplify/simplify.h"

namespace tg {
namespace {

// One lane of an access to register scratch.
struct RegisterLane {
  int lane = 0;
  int64_t element = 0;
  const UOp* gate = nullptr;         // null: always
  const UOp* alternative = nullptr;  // of a gated load
};

class Cutter {
 public:
  Cutter(Body& body, const Module& module, const Target& target, UOpSpan order)
      : body_(body),
        target_(target),
        order_(order),
        registers_(body, order_, module, target),
        b_(*body.context),
        index_(b_, module, order_, [&](const UOp* u) { return !IsFixed(u); }),
        module_(module) {}

  absl::StatusOr<MemoryStatistics> Run() {
    ForwardRewrite(body_, order_, [&](const UOp* u, UOpSpan srcs) {
      const UOp* v = Rewrite(u, srcs);
      index_.Visit(u, v);
      return v;
    });
    if (!status_.ok()) return status_;
    return statistics_;
  }

 private:
  const UOp* Rewrite(const UOp* u, UOpSpan srcs);
  const UOp* RewriteLoad(const UOp* u, UOpSpan srcs);
  const UOp* RewriteStore(const UOp* u, UOpSpan srcs);
  const UOp* LoadImage(const UOp* u, UOpSpan srcs);
  const UOp* StoreImage(const UOp* u, UOpSpan srcs);
  // The lanes that happen at all; a null gate where it is known to hold.
  std::vector<LaneAccess> LanesOf(const UOp* access, const UOp* alternative);
  // What its lanes move together; `alternatives`, by lane, receives those of a gated load.
  std::vector<ElementRun> RunsOfAccess(const UOp* access, const UOp* alternative,
                                       std::vector<const UOp*>* alternatives = nullptr);
  // `address` where `gate` holds, if it divides: what is negative elsewhere need not be there.
  Linear Under(const UOp* gate, const Linear& address);
  // Calls f(address, first element's place in the run, width) for each piece of the run.
  template <typename F>
  void ForEachPiece(const UOp* pointer, const ElementRun& run, int widest, F&& f);
  // The same for register scratch; f(address, lane of each element of the piece).
  template <typename F>
  void ForEachRegisterPiece(const UOp* pointer, const std::vector<RegisterLane>& lanes,
                            const std::vector<RegisterScratch::Piece>& pieces, F&& f);
  // The same for register scratch of which lanes consecutive elements from `first` on are accessed;
  // f(address, piece).
  template <typename F>
  void ForEachPieceOf(const UOp* pointer, const std::vector<RegisterScratch::Piece>& pieces,
                      int64_t first, int64_t lanes, F&& f);
  // The first element, where an access to register scratch moves consecutive ones, as they are.
  std::optional<int64_t> FirstOfRun(const UOp* access) const;
  // Whether this `index` is of register scratch and says its elements by itself.
  bool IsFixed(const UOp* u) const {
    return u->num_srcs == 2 && ConstantElement(u, 0) && registers_.PiecesOf(u->src(0));
  }
  // The lanes that happen at all of an access to register scratch.
  std::vector<RegisterLane> RegisterLanesOf(const UOp* access, const UOp* alternative);
  const UOp* Join(UOpSpan tokens) {
    return tokens.size() == 1 ? tokens[0] : b_.context().Make(Op::kNoop, kVoid, tokens);
  }
  // The new state of the pointer that the access goes through: its `index` has been rebuilt.
  static const UOp* PointerOf(const UOp* new_address) { return new_address->src(0); }

  Body& body_;
  const Target& target_;
  const UOpSpan order_;  // sources first
  RegisterScratch registers_;
  Builder b_;
  LaneIndex index_;
  const Module& module_;
  std::optional<Simplifier> simplifier_;
  MemoryStatistics statistics_;
  absl::Status status_;
};

std::vector<LaneAccess> Cutter::LanesOf(const UOp* access, const UOp* alternative) {
  const UOp* address = access->src(0);
  const bool one_address = address->dtype.lanes() == 1;
  std::vector<LaneAccess> lanes;
  lanes.reserve(static_cast<size_t>(AccessType(access).lanes()));
  for (int i = 0; i < AccessType(access).lanes(); ++i) {
    LaneAccess l;
    l.lane = i;
    l.address = index_.At(address->src(1), one_address ? 0 : i);
    if (one_address) l.address.Advance(i);
    if (address->num_srcs > 2) {
      l.gate = index_.GateAt(address->src(2), one_address ? 0 : i);
      if (IsConst(l.gate)) {
        if (!l.gate->word()) continue;
        l.gate = nullptr;
      } else {
        l.address = Under(l.gate, l.address);
      }
    }
    if (l.gate && alternative) l.alternative = Lane(b_, alternative, i);
    lanes.push_back(std::move(l));
  }
  return lanes;
}

std::vector<ElementRun> Cutter::RunsOfAccess(const UOp* access, const UOp* alternative,
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
  return RunsOf(lanes);
}

std::vector<RegisterLane> Cutter::RegisterLanesOf(const UOp* access, const UOp* alternative) {
  const UOp* address = access->src(0);
  std::vector<RegisterLane> lanes;
  if (IsFixed(address)) {
    const bool one_address = address->dtype.lanes() == 1;
    lanes.reserve(static_cast<size_t>(AccessType(access).lanes()));
    for (int i = 0; i < AccessType(access).lanes(); ++i) {
      const int64_t element = *ConstantElement(address, one_address ? 0 : i);
      lanes.push_back({i, one_address ? element + i : element});
    }
    return lanes;
  }
  for (const LaneAccess& l : LanesOf(access, alternative)) {
    lanes.push_back({l.lane, l.address.constant, l.gate, l.alternative});
  }
  return lanes;
}

Linear Cutter::Under(const UOp* gate, const Linear& address) {
  const auto divides = [](const auto& term) {
    const Op op = term.first->op;
    return op == Op::kFloorDiv || op == Op::kFloorMod || op == Op::kCDiv || op == Op::kCMod;
  };
  if (std::none_of(address.terms.begin(), address.terms.end(), divides)) return address;
  const UOp* value = index_.linear().Build(address);
  // Of coordinates only: what is read from memory stays as it is.
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
void Cutter::ForEachPiece(const UOp* pointer, const ElementRun& run, int widest, F&& f) {
  Linear start = run.start;
  for (size_t at = 0; at < run.size();) {
    auto width = std::bit_floor(std::min(run.size() - at, static_cast<size_t>(widest)));
    if (!target_.unaligned_access) {
      const int64_t divisor = index_.linear().Divisor(start);
      while (divisor % static_cast<int64_t>(width) != 0) width /= 2;
    }
    ++(width > 1 ? statistics_.wide_accesses : statistics_.scalar_accesses);
    f(b_.IndexPtr(pointer, index_.linear().Build(start), run.gate), at, width);
    at += width;
    start.Advance(static_cast<int64_t>(width));
  }
}

template <typename F>
void Cutter::ForEachRegisterPiece(const UOp* pointer, const std::vector<RegisterLane>& lanes,
                                  const std::vector<RegisterScratch::Piece>& pieces, F&& f) {
  std::vector<const RegisterLane*> by_element(static_cast<size_t>(pointer->dtype.size()), nullptr);
  for (const RegisterLane& l : lanes) by_element[static_cast<size_t>(l.element)] = &l;
  for (const RegisterScratch::Piece& piece : pieces) {
    const RegisterLane* const* first = &by_element[static_cast<size_t>(piece.start)];
    if (!*first) continue;
    f(b_.IndexPtr(pointer, b_.Index(piece.start), (*first)->gate),
      std::span<const RegisterLane* const>(first, static_cast<size_t>(piece.lanes)));
  }
}

template <typename F>
void Cutter::ForEachPieceOf(const UOp* pointer, const std::vector<RegisterScratch::Piece>& pieces,
                            int64_t first, int64_t lanes, F&& f) {
  for (const RegisterScratch::Piece& piece : pieces) {
    if (piece.start < first || piece.start >= first + lanes) continue;
    f(b_.IndexPtr(pointer, b_.Index(piece.start)), piece);
  }
}

std::optional<int64_t> Cutter::FirstOfRun(const UOp* access) const {
  const UOp* address = access->src(0);
  if (!IsFixed(address)) return std::nullopt;
  const int64_t first = *ConstantElement(address, 0);
  for (int i = 1; i < address->dtype.lanes(); ++i) {
    if (*ConstantElement(address, i) != first + i) return std::nullopt;
  }
  return first;
}

const UOp* Cutter::RewriteLoad(const UOp* u, UOpSpan srcs) {
  const UOp* pointer = PointerOf(srcs[0]);
  const UOp* alternative = srcs.size() > 1 ? srcs[1] : nullptr;
  // What lanes hold that do not happen.
  const auto empty = [&] {
    const UOp* zero = b_.ConstBits(u->dtype.WithLanes(1), 0);
    LaneRefs result(static_cast<size_t>(u->dtype.lanes()), LaneRef{zero, 0});
    for (size_t i = 0; alternative && i < result.size(); ++i) {
      result[i] = OriginOf(b_, alternative, static_cast<int>(i));
    }
    return result;
  };
  const auto load = [&](const UOp* address, int lanes, UOpSpan alternatives) {
    const bool gated = address->num_srcs > 2;
    const UOp* alt = gated && alternative ? Concat(b_, alternatives) : nullptr;
    const DType t = u->dtype.WithLanes(lanes);
    const UOp* x = alt ? b_.context().Make(Op::kLoad, t, {address, alt})
                       : b_.context().Make(Op::kLoad, t, {address});
    body_.CarryOver(u, x);
    return x;
  };
  if (const auto* pieces = registers_.PiecesOf(u->src(0)->src(0))) {
    if (const auto first = FirstOfRun(u)) {
      Nodes parts;
      ForEachPieceOf(
          pointer, *pieces, *first, u->dtype.lanes(),
          [&](const UOp* address, auto piece) { parts.push_back(load(address, piece.lanes, {})); });
      return Concat(b_, Span(parts));
    }
    // Several lanes may read one element, so go by lanes, not by elements.
    const std::vector<RegisterLane> lanes = RegisterLanesOf(u, alternative);
    std::vector<LaneRef> element(static_cast<size_t>(pointer->dtype.size()));
    ForEachRegisterPiece(pointer, lanes, *pieces, [&](const UOp* address, auto piece) {
      Nodes alternatives;
      for (const RegisterLane* l : piece) alternatives.push_back(l->alternative);
      const UOp* x = load(address, static_cast<int>(piece.size()), Span(alternatives));
      for (size_t k = 0; k < piece.size(); ++k) {
        element[static_cast<size_t>(piece[k]->element)] = {x, static_cast<int>(k)};
      }
    });
    LaneRefs result = empty();
    for (const RegisterLane& l : lanes) {
      result[static_cast<size_t>(l.lane)] = element[static_cast<size_t>(l.element)];
    }
    return Assemble(b_, {result.data(), result.size()});
  }
  std::vector<const UOp*> alternative_of(static_cast<size_t>(alternative ? u->dtype.lanes() : 0));
  const int widest = MemoryLanes(target_, pointer->dtype.scalar());
  const std::vector<ElementRun> runs = RunsOfAccess(u, alternative, &alternative_of);
  // Most accesses read what their lanes want one after the other.
  int next = 0;
  const bool in_order = llvm::all_of(runs,
                                     [&](const ElementRun& run) {
                                       next += static_cast<int>(run.size());
                                       return run.IsInOrder(next - static_cast<int>(run.size()));
                                     }) &&
                        next == u->dtype.lanes();
  Nodes parts;
  LaneRefs result;
  if (!in_order) result = empty();
  for (const ElementRun& run : runs) {
    ForEachPiece(pointer, run, widest, [&](const UOp* address, size_t at, size_t width) {
      Nodes alternatives;
      for (size_t k = 0; alternative && k < width; ++k) {
        alternatives.push_back(alternative_of[static_cast<size_t>(run.LanesOf(at + k)[0])]);
      }
      const UOp* x = load(address, static_cast<int>(width), Span(alternatives));
      if (in_order) {
        parts.push_back(x);
        return;
      }
      for (size_t k = 0; k < width; ++k) {
        for (int lane : run.LanesOf(at + k)) {
          result[static_cast<size_t>(lane)] = {x, static_cast<int>(k)};
        }
      }
    });
  }
  return in_order ? Concat(b_, Span(parts)) : Assemble(b_, {result.data(), result.size()});
}

const UOp* Cutter::RewriteStore(const UOp* u, UOpSpan srcs) {
  const UOp* pointer = PointerOf(srcs[0]);
  const UOp* value = srcs[1];
  Nodes tokens;
  if (const auto* pieces = registers_.PiecesOf(u->src(0)->src(0))) {
    if (const auto first = FirstOfRun(u)) {
      ForEachPieceOf(pointer, *pieces, *first, value->dtype.lanes(),
                     [&](const UOp* address, auto piece) {
                       const auto lane = static_cast<int>(piece.start - *first);
                       tokens.push_back(b_.Store(address, Slice(b_, value, lane, piece.lanes)));
                     });
      return Join(Span(tokens));
    }
    const std::vector<RegisterLane> lanes = RegisterLanesOf(u, nullptr);
    ForEachRegisterPiece(pointer, lanes, *pieces, [&](const UOp* address, auto piece) {
      LaneRefs refs;
      for (const RegisterLane* l : piece) refs.push_back(OriginOf(b_, value, l->lane));
      tokens.push_back(b_.Store(address, Assemble(b_, {refs.data(), refs.size()})));
    });
    return Join(Span(tokens));
  }
  const int widest = MemoryLanes(target_, pointer->dtype.scalar());
  for (const ElementRun& run : RunsOfAccess(u, nullptr)) {
    const int lane = run.LanesOf(0)[0];
    const bool in_order = run.IsInOrder(lane);
    ForEachPiece(pointer, run, widest, [&](const UOp* address, size_t at, size_t width) {
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
  return Join(Span(tokens));
}

const UOp* Cutter::LoadImage(const UOp* u, UOpSpan srcs) {
  const UOp* alternative = srcs.size() > 1 ? srcs[1] : nullptr;
  LaneRefs result(static_cast<size_t>(u->dtype.lanes()));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = alternative ? OriginOf(b_, alternative, static_cast<int>(i))
                            : LaneRef{b_.Const(kF32, 0), 0};
  }
  for (const LaneAccess& l : LanesOf(u, alternative)) {
    LaneRef x = LoadImageElement(b_, index_.linear(), PointerOf(srcs[0]), l.address, l.gate);
    body_.CarryOver(u, x.node);
    // A gated texel reads 0, which is another alternative's place.
    const bool is_zero = !l.alternative || l.alternative == b_.Const(kF32, 0);
    if (l.gate && !is_zero) {
      x = {b_.Where(l.gate, Assemble(b_, {&x, 1}), l.alternative), 0};
    }
    result[static_cast<size_t>(l.lane)] = x;
    ++statistics_.wide_accesses;
  }
  return Assemble(b_, {result.data(), result.size()});
}

const UOp* Cutter::StoreImage(const UOp* u, UOpSpan srcs) {
  Nodes tokens;
  for (const ElementRun& run : RunsOf(LanesOf(u, nullptr))) {
    Linear start = run.start;
    if (run.size() % 4 != 0 || index_.linear().Divisor(start) % 4 != 0) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(body_.Describe(u),
                       ": an image is written by whole texels, four channels in one work-item"));
      return u;
    }
    for (size_t at = 0; at < run.size(); at += 4, start.Advance(4)) {
      LaneRefs refs;
      for (size_t k = 0; k < 4; ++k)
        refs.push_back(OriginOf(b_, srcs[1], run.LanesOf(at + k).back()));
      tokens.push_back(
          b_.Store(TexelAddress(b_, index_.linear(), PointerOf(srcs[0]), start, run.gate),
                   Assemble(b_, {refs.data(), refs.size()})));
      ++statistics_.wide_accesses;
    }
  }
  return Join(Span(tokens));
}

const UOp* Cutter::Rewrite(const UOp* u, UOpSpan srcs) {
  const bool is_access = (u->op == Op::kLoad || u->op == Op::kStore) &&
                         u->src(0)->op == Op::kIndex && !u->src(0)->dtype.is_image();
  if ((u->op == Op::kLoad || u->op == Op::kStore) && AddressesImageElements(u->src(0))) {
    return u->op == Op::kLoad ? LoadImage(u, srcs) : StoreImage(u, srcs);
  }
  if (is_access) {
    // A scalar access is left alone; register scratch may have wider pieces around it.
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
  // Tokens: a join is taken apart where several may stand.
  Nodes flat;
  for (const UOp* s : srcs) {
    if (s->op == Op::kNoop && s->dtype.is_void()) {
      flat.append(s->srcs().begin(), s->srcs().end());
    } else {
      flat.push_back(s);
    }
  }
  if (u->op == Op::kAfter) {
    return b_.After(srcs[0], Span(flat).subspan(1));
  }
  if (u->op == Op::kEnd) {
    // No effect is left in the loop: neither is the loop.
    if (srcs[0]->op == Op::kNoop && srcs[0]->num_srcs == 0) return srcs[0];
    return WithSources(b_, u, srcs);
  }
  return WithSources(b_, u, Span(flat));
}

}  // namespace

absl::StatusOr<MemoryStatistics> CutMemory(Body& body, const Module& module, const Target& target,
                                           UOpSpan order) {
  return Cutter(body, module, target, order).Run();
}

}  // namespace tg
