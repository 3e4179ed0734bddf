#include "codegen/clike/render_plan.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "codegen/clike/cat.h"

namespace tg::clike {
namespace {

// Returns whether the op's text may be inlined into its users.
bool MayMove(const UOp* u) {
  return IsElementwise(u->op) || u->op == Op::kIndex || u->op == Op::kGep || u->op == Op::kSplat ||
         u->op == Op::kVectorize || u->op == Op::kCat || u->op == Op::kNoop;
}

}  // namespace

Plan::Plan(const Kernel& kernel) {
  const auto& order = kernel.body.linear;
  places_.resize(kernel.body.context->num_nodes());
  const std::vector<RegisterUse> register_uses = FindUses(order);
  FindBlocks(order);
  FindLastTexts(order);
  FindPieces(order, register_uses);
}

std::vector<Plan::RegisterUse> Plan::FindUses(const std::vector<const UOp*>& order) {
  std::vector<RegisterUse> register_uses;
  std::vector<const UOp*> ifs;  // gates of the enclosing ifs
  for (size_t p = 0; p < order.size(); ++p) {
    const UOp* u = order[p];
    const int at = static_cast<int>(p);
    places_[u->id].position = at;
    auto use = [&](const UOp* s) {
      Place& place = places_[s->id];
      if (++place.uses == 1) place.user = at;
    };
    const uint32_t n = u->op == Op::kIndex ? 2 : u->num_srcs;
    for (uint32_t i = 0; i < n; ++i) {
      const UOp* s = u->src(i);
      use(s);
      if (s->dtype.is_pointer() && s->dtype.space() == AddrSpace::kReg) {
        register_uses.push_back({at, i});
      }
    }
    if (u->op == Op::kIf) ifs.push_back(u->src(0));
    if (u->op == Op::kEndIf && !ifs.empty()) ifs.pop_back();
    // An access uses its gate, except for a store inside an `if` with the same gate. Work-items of
    // a subgroup access together, without gates.
    if (GroupOf(u->op) == OpGroup::kSubgroup) continue;
    for (const UOp* address : u->srcs().first(NumAddresses(u->op))) {
      if (address->op != Op::kIndex || address->num_srcs < 3) continue;
      const UOp* gate = address->src(2);
      if (std::find(ifs.begin(), ifs.end(), gate) == ifs.end()) use(gate);
    }
  }
  return register_uses;
}

void Plan::FindBlocks(const std::vector<const UOp*>& order) {
  parent_ = {-1};
  begin_ = {-1};
  end_ = {static_cast<int>(order.size())};
  depth_ = {0};
  block_.resize(order.size());
  int block = 0;
  for (size_t p = 0; p < order.size(); ++p) {
    const UOp* u = order[p];
    const auto at = static_cast<int>(p);
    if (u->op == Op::kEnd || u->op == Op::kEndIf) {
      const size_t closed = u->op == Op::kEnd ? u->num_srcs - 1 : 1;
      for (size_t i = 0; i < closed && block > 0; ++i) {
        end_[block] = at;
        block = parent_[block];
      }
    }
    block_[p] = block;
    if (u->op == Op::kRange || u->op == Op::kIf) {
      parent_.push_back(block);
      begin_.push_back(at);
      end_.push_back(static_cast<int>(order.size()));
      depth_.push_back(depth_[block] + (u->op == Op::kRange));
      block = static_cast<int>(parent_.size()) - 1;
    }
  }
}

void Plan::FindLastTexts(const std::vector<const UOp*>& order) {
  last_text_.resize(order.size());
  for (size_t p = order.size(); p-- > 0;) {
    const UOp* u = order[p];
    int mine = static_cast<int>(p);
    if (MayMove(u)) mine = std::max(mine, last_text_[p]);
    // A loop's bound is read in every iteration, so its text is needed until the loop ends.
    if (u->op == Op::kRange) mine = end_[block_[p + 1]];
    for (const UOp* s : u->srcs()) {
      int& last = last_text_[position(s)];
      last = std::max(last, mine);
    }
  }
}

void Plan::FindPieces(const std::vector<const UOp*>& order, std::span<const RegisterUse> uses) {
  struct Found {
    int scratch;      // position of the scratch
    int64_t element;  // the first accessed element
    int lanes;
    int at;  // position of the access
  };
  std::vector<Found> all;
  std::vector<bool> named(order.size(), true);  // by position of the scratch
  for (const RegisterUse use : uses) {
    // A scratch is an array if an address of it has any use other than a plain access at a constant
    // element.
    const UOp* u = order[static_cast<size_t>(use.user)];
    const UOp* address = u->src(use.source);
    const bool first = use.source == 0;
    if (u->op == Op::kAfter || u->op == Op::kIf || (u->op == Op::kIndex && first)) continue;
    const UOp* memory = MemoryOf(address);
    const int scratch = position(memory);
    if (u->op == Op::kWgmma && first && address->op == Op::kIndex && IsConst(address->src(1))) {
      for (int64_t e = 0; e < u->word(1) / 2; ++e) {
        all.push_back({scratch, address->src(1)->word() + e, 1, use.user});
      }
      continue;
    }
    const bool plain = (u->op == Op::kLoad || u->op == Op::kStore) && first &&
                       address->op == Op::kIndex && IsConst(address->src(1)) &&
                       (address->num_srcs == 2 || u->op == Op::kStore);
    const DType value = u->op == Op::kStore ? u->src(1)->dtype : u->dtype;
    if (!plain || value.scalar() != memory->dtype.scalar()) {
      named[static_cast<size_t>(scratch)] = false;
      continue;
    }
    all.push_back({scratch, address->src(1)->word(), value.lanes(), use.user});
  }
  // Groups the accesses by element and keeps their order.
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return std::tie(a.scratch, a.element) < std::tie(b.scratch, b.element);
  });
  for (size_t i = 1; i < all.size(); ++i) {
    const Found &a = all[i - 1], &b = all[i];
    if (a.scratch != b.scratch) continue;
    const bool equal_or_disjoint =
        a.element == b.element ? a.lanes == b.lanes : a.element + a.lanes <= b.element;
    if (!equal_or_disjoint) named[static_cast<size_t>(a.scratch)] = false;
  }
  int number = 0;
  std::vector<int> accesses;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const Found& f = all[begin];
    accesses.clear();
    for (; end < all.size() && all[end].scratch == f.scratch && all[end].element == f.element;
         ++end) {
      accesses.push_back(all[end].at);
    }
    if (!named[static_cast<size_t>(f.scratch)]) continue;
    const UOp* scratch = order[static_cast<size_t>(f.scratch)];
    Piece piece;
    piece.name = Cat("acc", number++);
    piece.scalar = scratch->dtype.scalar();
    piece.lanes = f.lanes;
    piece.element = f.element;
    piece.first = accesses[0];
    for (int at : accesses) {
      piece.last = std::max({piece.last, at, last_text_[at]});
      if (WritesMemory(order[static_cast<size_t>(at)]->op)) piece.stores.push_back(at);
    }
    DeclareAtStore(order, piece, accesses);
    pieces_[scratch].push_back(std::move(piece));
  }
}

// The first store declares the variable if it is in the innermost block that holds every access.
void Plan::DeclareAtStore(const std::vector<const UOp*>& order, Piece& piece,
                          std::span<const int> accesses) {
  int common = block_[accesses[0]];
  const auto widen = [&](int block) {
    while (common != block) {
      int& later = common > block ? common : block;  // the block that does not contain the other
      later = parent_[later];
    }
  };
  for (int a : accesses) {
    widen(block_[a]);
    // A load's text may be inlined further out, into a later position.
    if (order[a]->op == Op::kLoad) widen(block_[last_text_[a]]);
  }
  piece.declare = order[piece.first]->op != Op::kStore || block_[piece.first] != common;
}

const Piece* Plan::PieceOf(const UOp* address, int64_t further) const {
  const auto found = pieces_.find(MemoryOf(address));
  if (found == pieces_.end()) return nullptr;
  const std::vector<Piece>& pieces = found->second;
  const int64_t element = address->src(1)->word() + further;
  const auto piece = std::lower_bound(pieces.begin(), pieces.end(), element,
                                      [](const Piece& p, int64_t e) { return p.element < e; });
  TG_CHECK(piece != pieces.end() && piece->element == element);
  return &*piece;
}

const std::vector<Piece>& Plan::PiecesOf(const UOp* scratch) const {
  static const std::vector<Piece> kNone;
  const auto found = pieces_.find(scratch);
  return found == pieces_.end() ? kNone : found->second;
}

bool Plan::StaysValid(const UOp* load, const Piece& piece) const {
  const int from = position(load);
  int to = last_text_[from];
  // If a loop begins after the load, every iteration reads the text.
  for (int b = block_[to]; b > 0 && begin_[b] > from; b = parent_[b]) to = std::max(to, end_[b]);
  // A store at `to` evaluates its value first, unless the text is still needed after it.
  const auto it = std::upper_bound(piece.stores.begin(), piece.stores.end(), from);
  return it == piece.stores.end() || *it >= to;
}

}  // namespace tg::clike
