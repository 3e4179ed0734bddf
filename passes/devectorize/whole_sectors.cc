#include "passes/devectorize/whole_sectors.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/affine.h"
#include "passes/legalize/forward.h"

namespace tg::devectorize {
namespace {

using analysis::AffineExpr;

constexpr int64_t kWordBytes = 4;  // of what work-items exchange at a time
constexpr int64_t kMostItems = 8;  // that exchange words

const UOp* GateOf(const UOp* store) {
  return store->src(0)->num_srcs > 2 ? store->src(0)->src(2) : nullptr;
}

// A store of a word a work-item.
struct WordStore {
  const UOp* store;
  AffineExpr index;
};

// What a body says about the work-items of a group.
struct Items {
  explicit Items(UOpSpan order) {
    const auto any_source = [](const UOp* u, const NodeSet& set) {
      return llvm::any_of(u->srcs(), [&](const UOp* s) { return set.Contains(s); });
    };
    for (const UOp* u : order) {
      const bool is_local = IsLocalId(u);
      if (is_local && u->src(0)->op == Op::kConst) {
        group *= u->src(0)->word();
        if (u->word() == int64_t(SpecialName::kLocal0)) lane = u, width = u->src(0)->word();
      }
      if (is_local || u->op == Op::kLoad || any_source(u, varies)) varies.Insert(u);
      if (u == lane || any_source(u, of_lane)) of_lane.Insert(u);
      if (u->op == Op::kRange && varies.Contains(u->src(0))) loop_alike = false;
    }
  }

  const UOp* lane = nullptr;  // the coordinate of neighbours; null: its size is not constant
  int64_t width = 0;          // of that coordinate
  int64_t group = 1;
  bool loop_alike = true;  // each loop has as many iterations for all of a group
  NodeSet varies;          // what may differ in a group
  NodeSet of_lane;         // what depends on `lane`
};

class SectorFiller {
 public:
  SectorFiller(Body& body, const passes::Target& target, const Items& items)
      : b_(*body.context), target_(target), items_(items) {}

  // Finds sets of stores, and makes the one that replaces each.
  bool Find(UOpSpan order) {
    using Key = std::vector<int64_t>;  // what the stores of a set have in common
    std::map<Key, std::vector<WordStore>> sets;
    NodeSet after;  // what depends on such a store
    for (const UOp* u : order) {
      if (llvm::any_of(u->srcs(), [&](const UOp* s) { return after.Contains(s); })) {
        after.Insert(u);
        continue;
      }
      std::optional<WordStore> word = WordOf(u);
      if (!word) continue;
      after.Insert(u);
      const UOp* address = u->src(0);
      Key key = {address->src(0)->id, u->src(1)->dtype.lanes(),
                 static_cast<int64_t>(u->src(1)->dtype.scalar())};
      llvm::sort(word->index.terms,
                 [](const auto& a, const auto& b) { return a.node->id < b.node->id; });
      for (const auto& [node, coef] : word->index.terms) {
        key.push_back(node->id);
        key.push_back(coef);
      }
      sets[key].push_back(*std::move(word));
    }
    for (auto& [key, stores] : sets) Join(stores);
    return !replaced_.empty();
  }

  const UOp* Replaced(const UOp* u) const {
    const auto at = replaced_.find(u);
    return at == replaced_.end() ? nullptr : at->second;
  }

 private:
  std::optional<WordStore> WordOf(const UOp* u) const {
    if (u->op != Op::kStore || StrideOf(u) != 1 || u->src(0)->op != Op::kIndex) return std::nullopt;
    const UOp* address = u->src(0);
    const DType value = u->src(1)->dtype;
    const int64_t lanes = value.lanes(), bytes = ByteSize(value.scalar()) * lanes;
    if (address->dtype.space() != AddrSpace::kGlobal || address->dtype.is_image() ||
        address->dtype.scalar() != value.scalar() || bytes != kWordBytes || value.is_bool() ||
        bytes * items_.width >= target_.sector_bytes) {
      return std::nullopt;
    }
    if (const UOp* gate = GateOf(u); gate && items_.of_lane.Contains(gate)) return std::nullopt;
    std::optional<AffineExpr> index = analysis::ParseAffine(address->src(1));
    // The words of neighbours are next to each other, and the vectors that replace them aligned.
    if (!index || index->CoefOf(items_.lane) != lanes) return std::nullopt;
    for (const auto& [node, coef] : index->terms) {
      if (node == items_.lane) continue;
      if (items_.of_lane.Contains(node) || coef % (lanes * items_.width) != 0) return std::nullopt;
    }
    if (index->constant % (lanes * items_.width) != 0) return std::nullopt;
    return WordStore{u, *std::move(index)};
  }

  // Joins each `width` stores whose vectors follow each other.
  void Join(std::vector<WordStore>& stores) {
    llvm::sort(stores,
               [](const auto& a, const auto& b) { return a.index.constant < b.index.constant; });
    const auto width = static_cast<size_t>(items_.width);
    for (size_t first = 0; first + width <= stores.size();) {
      const UOp* const store = stores[first].store;
      const int64_t piece = store->src(1)->dtype.lanes();
      legalize::Nodes pieces, gates;
      while (pieces.size() < width) {
        const WordStore& next = stores[first + pieces.size()];
        const int64_t from = next.index.constant - stores[first].index.constant;
        if (from != static_cast<int64_t>(pieces.size()) * piece * items_.width) break;
        pieces.push_back(next.store->src(1));
        gates.push_back(GateOf(next.store));
      }
      if (pieces.size() < width) {
        ++first;
        continue;
      }
      const UOp* const made = JoinedStore(store, legalize::Span(pieces), std::move(gates));
      for (size_t i = 0; i < width; ++i) replaced_[stores[first + i].store] = made;
      first += width;
    }
  }

  // The gate of the vector that a work-item stores: of the words, whose gates are the same in all
  // work-items, it has the one with its own number. Null if there is none.
  const UOp* OwnGate(legalize::Nodes gates) {
    const bool differ = llvm::any_of(gates, [&](const UOp* gate) { return gate != gates[0]; });
    if (!differ) return gates[0];
    for (const UOp*& gate : gates) {
      if (!gate) gate = b_.Const(kBool, 1);
    }
    for (size_t half = 1; half < gates.size(); half *= 2) {
      for (size_t i = 0; i < gates.size(); i += 2 * half) {
        if (gates[i] == gates[i + half]) continue;
        const UOp* const second = b_.Const(items_.lane->dtype, static_cast<double>(i + half));
        gates[i] = b_.Where(b_.Lt(items_.lane, second), gates[i], gates[i + half]);
      }
    }
    return gates[0];
  }

  const UOp* JoinedStore(const UOp* store, UOpSpan pieces, legalize::Nodes gates) {
    Context& ctx = b_.context();
    const UOp* const words = b_.Cat(pieces);
    const UOp* const value = ctx.Make(Op::kTransposeItems, words->dtype, {&words, 1},
                                      ctx.MakeAttr(Op::kTransposeItems, {items_.width}));
    const UOp* const address = store->src(0);
    const UOp* const index = address->src(1);
    const int64_t step = (items_.width - 1) * pieces[0]->dtype.lanes();
    const UOp* const gate = OwnGate(std::move(gates));
    legalize::Nodes of_address = {address->src(0), nullptr};
    if (gate) of_address.push_back(gate);
    const UOp* const lane =
        items_.lane->dtype == index->dtype ? items_.lane : b_.Cast(items_.lane, index->dtype);
    of_address[1] = b_.Add(index, b_.Mul(lane, b_.Const(index->dtype, step)));
    return b_.Store(ctx.Make(Op::kIndex, address->dtype, legalize::Span(of_address)), value);
  }

  Builder b_;
  const passes::Target& target_;
  const Items& items_;
  std::map<const UOp*, const UOp*> replaced_;
};

}  // namespace

void FillSectors(Body& body, const passes::Target& target, RootOrder& root_order) {
  if (target.sector_bytes == 0 || !target.inline_ptx) return;
  const UOpSpan order = root_order.Get();
  const Items items(order);
  // An exchange needs all work-items of a subgroup.
  if (!items.lane || !items.loop_alike || items.width < 2 || items.width > kMostItems ||
      !std::has_single_bit(static_cast<uint64_t>(items.width)) ||
      items.group % target.subgroup_size != 0 || items.width * kWordBytes > target.mem_width) {
    return;
  }
  SectorFiller filler(body, target, items);
  if (!filler.Find(order)) return;
  Builder b(*body.context);
  legalize::ForwardRewrite(body, order, [&](const UOp* u, UOpSpan srcs) {
    const UOp* const replaced = filler.Replaced(u);
    return replaced ? replaced : legalize::WithSources(b, u, srcs);
  });
}

}  // namespace tg::devectorize
