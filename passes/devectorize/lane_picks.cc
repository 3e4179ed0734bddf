#include "passes/devectorize/lane_picks.h"

#include <algorithm>
#include <span>

#include "llvm/ADT/STLExtras.h"
#include "passes/devectorize/lane_origins.h"
#include "passes/devectorize/lane_positions.h"
#include "passes/devectorize/width.h"

namespace tg::devectorize {
namespace {

bool IsVectorOp(const UOp* u) {
  return u->dtype.lanes() > 1 && IsElementwise(u->op) && u->dtype.is_value();
}

void Add(WantedLanes& wanted, const LanePick& pick) {
  const auto same = [&](const LanePick& p) { return p[0] == pick[0] && p == pick; };
  if (llvm::none_of(wanted.picks, same)) wanted.picks.push_back(pick);
}

// Whether the picks are disjoint, and each of them is worth a separate op: it fills a vector of
// `enough` lanes, or it has at least two lanes that are not consecutive, which would have to be
// shuffled together.
bool AreDisjoint(const std::vector<LanePick>& picks, int lanes, int enough) {
  llvm::SmallVector<bool, 64> taken(static_cast<size_t>(lanes));
  for (const LanePick& p : picks) {
    const bool slice = p.back() - p.front() == static_cast<int64_t>(p.size()) - 1;
    if (static_cast<int>(p.size()) < (slice ? enough : std::min(enough, 2))) return false;
    for (int64_t l : p) {
      if (taken[static_cast<size_t>(l)]) return false;
      taken[static_cast<size_t>(l)] = true;
    }
  }
  return true;
}

// Whether the lanes `v` are whole registers of `width` lanes, so that no shuffle is needed.
bool IsRegisters(std::span<const int64_t> v, int width) {
  return v.size() % static_cast<size_t>(width) == 0 && v[0] % width == 0 && IsConsecutive(v);
}

// Whether a gep may be a reason to compute its source pick by pick. Most are not, since they pick
// whole registers for stores.
bool MayMove(const UOp* gep, const passes::Target& target) {
  const UOp* source = gep->src(0);
  if (source->op == Op::kGep) return true;
  if (!IsVectorOp(source)) return false;
  const int width = AluLanes(target, source);
  return width == 1 || !IsRegisters(gep->list(), width);
}

// Whether `v` picks only equal lanes from a vector of constants whose lanes are not all equal: an
// op on the picked lanes may fold.
bool BecomesOne(const UOp* constants, const LanePick& v) {
  const auto all = constants->list();
  const auto bits = [&](int64_t l) { return all[static_cast<size_t>(l)]; };
  return llvm::any_of(all, [&](int64_t c) { return c != all[0]; }) &&
         llvm::all_of(v, [&](int64_t l) { return bits(l) == bits(v[0]); });
}

// Whether separate ops on the picks of `u`, with picked sources, cost no more ops and shuffles of
// registers of `width` lanes than one op whose result is picked from. Also true if a pick of
// constants may fold. False if all picks are whole registers, which need no shuffle anyway.
bool PaysToSink(const UOp* u, const std::vector<LanePick>& picks, LanePositions& places,
                int width) {
  if (width == 1) return true;  // each lane is a separate register
  if (llvm::all_of(picks, [&](const LanePick& v) { return IsRegisters(Span(v), width); }))
    return false;
  const auto registers = [&](size_t lanes) {
    return static_cast<int>((lanes + static_cast<size_t>(width) - 1) / static_cast<size_t>(width));
  };
  int keep = registers(static_cast<size_t>(u->dtype.lanes())), sink = 0;
  for (const LanePick& v : picks) {
    keep += Shuffles(Span(v), width);
    sink += registers(v.size());
  }
  for (const UOp* s : u->srcs()) {
    const auto becomes_one = [&](const LanePick& v) { return BecomesOne(s, v); };
    if (s->op == Op::kVConst && llvm::any_of(picks, becomes_one)) return true;
    const Positions positions = places.Of(s);
    keep += Shuffles(positions, width);
    for (const LanePick& v : picks) sink += Shuffles(positions, Span(v), width);
  }
  return sink <= keep;
}

}  // namespace

LanePick Compose(std::span<const int64_t> lanes, const LanePick& pick) {
  LanePick out;
  for (int64_t l : pick) out.push_back(lanes[static_cast<size_t>(l)]);
  return out;
}

LanePicks::LanePicks(UOpSpan order, const passes::Target& target) {
  // Visits users before sources. The sources of a node that is no candidate are needed as a whole;
  // such a node is itself no candidate (except a gep), and so on.
  NodeSet whole;
  whole.Reserve(order.back());
  std::vector<const UOp*> candidates;
  bool splits = false, moves = false;
  for (const UOp* u : llvm::reverse(order)) {
    if (u->op == Op::kGep) {
      candidates.push_back(u);
      moves = moves || MayMove(u, target);
    } else if (IsVectorOp(u) && !whole.Contains(u)) {
      candidates.push_back(u);
      splits = true;
    } else {
      for (const UOp* s : u->srcs()) whole.InsertReserved(s);
    }
  }
  if (splits && moves) Find(candidates, whole, target);
}

void LanePicks::Find(UOpSpan candidates, NodeSet& whole, const passes::Target& target) {
  number_.Reserve(candidates[0]->id + 1);
  wanted_.resize(candidates.size() + 1);
  for (size_t i = 0; i < candidates.size(); ++i) {
    number_[candidates[i]] = static_cast<uint32_t>(i + 1);
  }
  // Whether a node may be computed pick by pick: it is a gep, or a candidate that no user so far
  // needs as a whole.
  const auto takes_picks = [&](const UOp* u) {
    return u->op == Op::kGep || (number_.Get(u) != 0 && !whole.Contains(u));
  };
  LanePositions places;
  for (const UOp* u : candidates) {
    WantedLanes& mine = wanted_[number_.Get(u)];
    if (u->op == Op::kGep) {
      mine.whole = whole.Contains(u);
      if (!takes_picks(u->src(0))) continue;
      WantedLanes& source = wanted_[number_.Get(u->src(0))];
      if (mine.whole) Add(source, LanePick(u->list().begin(), u->list().end()));
      for (const LanePick& p : mine.picks) Add(source, Compose(u->list(), p));
      continue;
    }
    if (!whole.Contains(u)) {
      const int width = AluLanes(target, u);
      if (AreDisjoint(mine.picks, u->dtype.lanes(), width) &&
          PaysToSink(u, mine.picks, places, width)) {
        any_ = true;
        for (const LanePick& p : mine.picks) {
          for (const UOp* s : u->srcs()) {
            if (takes_picks(s)) Add(wanted_[number_.Get(s)], p);
          }
        }
        continue;
      }
    }
    for (const UOp* s : u->srcs()) whole.InsertReserved(s);
    mine.picks.clear();
    mine.whole = true;
  }
}

}  // namespace tg::devectorize
