// Accesses to register scratch, in the pieces that all of them cover.
#include "passes/devectorize/memory_cutter.h"

namespace tg::devectorize {

std::vector<RegisterLane> MemoryCutter::RegisterLanesOf(const UOp* access, const UOp* alternative) {
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

template <typename F>
void MemoryCutter::ForEachRegisterPiece(const UOp* address, const std::vector<RegisterLane>& lanes,
                                        const Pieces& pieces, F&& f) {
  const auto size = static_cast<size_t>(PointerOf(address)->dtype.size());
  std::vector<const RegisterLane*> by_element(size, nullptr);
  for (const RegisterLane& l : lanes) by_element[static_cast<size_t>(l.element)] = &l;
  for (const RegisterScratch::Piece& piece : pieces) {
    const RegisterLane* const* first = &by_element[static_cast<size_t>(piece.start)];
    if (!*first) continue;
    f(Address(address, piece.start, (*first)->gate),
      std::span<const RegisterLane* const>(first, static_cast<size_t>(piece.lanes)));
  }
}

template <typename F>
void MemoryCutter::ForEachPieceOf(const UOp* address, const Pieces& pieces, int64_t first,
                                  int64_t lanes, F&& f) {
  for (const RegisterScratch::Piece& piece : pieces) {
    if (piece.start < first || piece.start >= first + lanes) continue;
    f(Address(address, piece.start), piece);
  }
}

std::optional<int64_t> MemoryCutter::FirstOfRun(const UOp* access) const {
  const UOp* address = access->src(0);
  return IsFixed(address) ? FirstConsecutive(address) : std::nullopt;
}

const UOp* MemoryCutter::LoadRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces) {
  const UOp* alternative = srcs.size() > 1 ? srcs[1] : nullptr;
  if (const auto first = FirstOfRun(u)) {
    legalize::Nodes parts;
    ForEachPieceOf(srcs[0], pieces, *first, u->dtype.lanes(), [&](const UOp* address, auto piece) {
      parts.push_back(LoadPiece(u, address, piece.lanes, {}));
    });
    return Concat(b_, legalize::Span(parts));
  }
  // Several lanes may read one element, so the result is assembled by lanes, not by elements.
  const std::vector<RegisterLane> lanes = RegisterLanesOf(u, alternative);
  std::vector<LaneRef> element(static_cast<size_t>(PointerOf(srcs[0])->dtype.size()));
  ForEachRegisterPiece(srcs[0], lanes, pieces, [&](const UOp* address, auto piece) {
    legalize::Nodes alternatives;
    for (const RegisterLane* l : piece) alternatives.push_back(l->alternative);
    const UOp* x =
        LoadPiece(u, address, static_cast<int>(piece.size()), legalize::Span(alternatives));
    for (size_t k = 0; k < piece.size(); ++k) {
      element[static_cast<size_t>(piece[k]->element)] = {x, static_cast<int>(k)};
    }
  });
  LaneRefs result = NoLanes(u, alternative);
  for (const RegisterLane& l : lanes) {
    result[static_cast<size_t>(l.lane)] = element[static_cast<size_t>(l.element)];
  }
  return Assemble(b_, {result.data(), result.size()});
}

const UOp* MemoryCutter::StoreRegisters(const UOp* u, UOpSpan srcs, const Pieces& pieces) {
  const UOp* value = srcs[1];
  legalize::Nodes tokens;
  if (const auto first = FirstOfRun(u)) {
    ForEachPieceOf(srcs[0], pieces, *first, value->dtype.lanes(),
                   [&](const UOp* address, auto piece) {
                     const auto lane = static_cast<int>(piece.start - *first);
                     tokens.push_back(b_.Store(address, Slice(b_, value, lane, piece.lanes)));
                   });
    return Join(legalize::Span(tokens));
  }
  const std::vector<RegisterLane> lanes = RegisterLanesOf(u, nullptr);
  ForEachRegisterPiece(srcs[0], lanes, pieces, [&](const UOp* address, auto piece) {
    LaneRefs refs;
    for (const RegisterLane* l : piece) refs.push_back(OriginOf(b_, value, l->lane));
    tokens.push_back(b_.Store(address, Assemble(b_, {refs.data(), refs.size()})));
  });
  return Join(legalize::Span(tokens));
}

}  // namespace tg::devectorize
