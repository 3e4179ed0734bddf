#include "passes/devectorize/register_scratch.h"

#include <bit>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/devectorize/lane_origins.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {

DType AccessType(const UOp* access) {
  return access->op == Op::kLoad ? access->dtype : access->src(1)->dtype;
}

std::optional<int64_t> FirstConsecutive(const UOp* index) {
  const UOp* at = index->src(1);
  if (IsConst(at)) return at->word();
  if (at->op != Op::kVConst) return std::nullopt;
  return IsConsecutive(at->list()) ? std::optional(at->list()[0]) : std::nullopt;
}

namespace {

bool IsAccess(const UOp* u) {
  return (u->op == Op::kLoad || u->op == Op::kStore) && u->src(0)->op == Op::kIndex;
}

bool IsRegister(const UOp* base) {
  return base->op == Op::kScratch && base->dtype.is_pointer() &&
         base->dtype.space() == AddrSpace::kReg;
}

}  // namespace

RegisterScratch::RegisterScratch(Body& body, UOpSpan order, const Module& module,
                                 const passes::Target& target) {
  for (const UOp* u : order) {
    if (!IsRegister(u)) continue;
    if (u->dtype.size() == DType::kUnknownSize) {
      demoted_.Insert(u);
      continue;
    }
    Memory& m = memories_.emplace_back();
    m.scratch = u;
    m.cut.resize(static_cast<size_t>(u->dtype.size()) + 1);
    of_[u] = static_cast<int>(memories_.size());
  }
  if (memories_.empty()) return;

  Builder b(*body.context);
  LaneIndex index(b, module, order, [&](const UOp* u) {
    const bool asks = u->num_srcs > 2 || !ConstantElement(u, 0);
    return asks && of_.Get(MemoryOf(u->src(0))) != 0;
  });
  for (const UOp* u : order) {
    index.Visit(u, u);
    if (IsCopy(u->op)) {
      // A copy moves consecutive elements, which variables cannot do.
      for (const UOp* address : u->srcs().first(2)) {
        if (IsRegister(MemoryOf(address))) demoted_.Insert(MemoryOf(address));
      }
    }
    if (IsAccess(u) && of_.Get(MemoryOf(u->src(0)->src(0)))) NoteAccess(u, index);
  }
  for (Memory& m : memories_) {
    if (demoted_.Contains(m.scratch)) continue;
    const int64_t size = m.scratch->dtype.size();
    const int widest = AluLanes(target, m.scratch->dtype.scalar());
    for (int64_t at = 0; at < size;) {
      int64_t end = at + 1;
      while (end < size && !m.cut[static_cast<size_t>(end)]) ++end;
      for (; at < end; at += m.pieces.back().lanes) {
        const auto lanes = std::min<int64_t>(widest, end - at);
        m.pieces.push_back({at, static_cast<int>(std::bit_floor(static_cast<uint64_t>(lanes)))});
      }
    }
  }
}

void RegisterScratch::NoteAccess(const UOp* access, const LaneIndex& index) {
  const UOp* address = access->src(0);
  const UOp* scratch = MemoryOf(address->src(0));
  if (demoted_.Contains(scratch)) return;
  Memory& m = memories_[static_cast<size_t>(of_.Get(scratch) - 1)];
  const int64_t size = scratch->dtype.size();
  const int lanes = AccessType(access).lanes();
  const bool one_address = address->dtype.lanes() == 1;

  // The usual case: consecutive constant elements without a gate.
  if (address->num_srcs == 2) {
    const std::optional<int64_t> first = FirstConsecutive(address);
    if (first && *first >= 0 && *first <= size - lanes) {
      m.cut[static_cast<size_t>(*first)] = m.cut[static_cast<size_t>(*first + lanes)] = true;
      return;
    }
  }
  // The accessed elements and the gate of each, sorted by element.
  llvm::SmallVector<std::pair<int64_t, const UOp*>, 16> elements;
  for (int i = 0; i < lanes; ++i) {
    const int from = one_address ? 0 : i;
    std::optional<int64_t> at = ConstantElement(address, from);
    if (!at) {
      const AffineExpr& form = index.At(address->src(1), from);
      if (form.is_constant()) at = form.constant;
    }
    const int64_t offset = i - from;
    if (!at || *at < 0 || *at >= size - offset) {
      demoted_.Insert(scratch);
      return;
    }
    const UOp* gate = address->num_srcs > 2 ? index.GateAt(address->src(2), from) : nullptr;
    elements.emplace_back(*at + offset, gate);
  }
  llvm::stable_sort(elements, llvm::less_first());
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto [element, gate] = elements[i];
    const bool follows = i > 0 && elements[i - 1].first >= element - 1;
    const bool same_gate = follows && elements[i - 1].second == gate;
    if (follows && elements[i - 1].first == element && !same_gate) {
      // Two lanes access this element under different gates, so no piece has a single gate.
      demoted_.Insert(scratch);
      return;
    }
    if (!same_gate) m.cut[static_cast<size_t>(element)] = true;
    if (i + 1 == elements.size() || elements[i + 1].first > element + 1)
      m.cut[static_cast<size_t>(element + 1)] = true;
  }
}

const std::vector<RegisterScratch::Piece>* RegisterScratch::PiecesOf(const UOp* pointer) const {
  const UOp* base = MemoryOf(pointer);
  const int at = of_.Get(base);
  if (at == 0 || demoted_.Contains(base)) return nullptr;
  return &memories_[static_cast<size_t>(at - 1)].pieces;
}

}  // namespace tg::devectorize
