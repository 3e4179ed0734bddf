#include "passes/linearize/memory_order.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/op_groups.h"

namespace tg::linearize {
namespace {

struct Access {
  int position = 0;
  const UOp* version = nullptr;  // the pointer that is indexed
  // Elements [begin, end) if the address is constant; otherwise begin = -1, for any element.
  int64_t begin = -1;
  int64_t end = -1;

  bool MayTouch(const Access& other) const {
    return begin < 0 || other.begin < 0 || (begin < other.end && other.begin < end);
  }
};

struct Memory {
  const UOp* base = nullptr;
  std::vector<Access> loads, stores;
};

class Orderer {
 public:
  explicit Orderer(const Nest& nest) : nest_(nest) {}

  ExtraOrder Run() {
    Collect();
    MarkBarriers();
    for (Memory& m : memories_) {
      // Stores to neighbouring elements are in one chunk, so that most loads conflict with few
      // chunks.
      std::stable_sort(m.stores.begin(), m.stores.end(), [](const Access& a, const Access& b) {
        return static_cast<uint64_t>(a.begin) < static_cast<uint64_t>(b.begin);
      });
      const DType type = m.base->dtype;
      const auto space = type.is_pointer() ? type.space() : AddrSpace::kGlobal;
      const bool shared = space == AddrSpace::kGlobal || space == AddrSpace::kLocal;
      const bool barriers = shared && num_barriers_ > 0 && !m.loads.empty();
      const StoresAt stores_at = barriers ? FindStoresAt(m) : StoresAt();
      for (size_t first = 0; !m.loads.empty() && first < m.stores.size(); first += 64) {
        OrderChunk(m, first, std::min(first + 64, m.stores.size()),
                   barriers ? &stores_at : nullptr);
      }
    }
    OrderBatches();
    return std::move(order_);
  }

 private:
  // The entry of memories_ for the memory to which the address belongs; made if there is none.
  Memory& MemoryOf(const UOp* address) {
    const UOp* base = tg::MemoryOf(address);
    int& number = number_[static_cast<size_t>(nest_.at(base))];
    if (number < 0) {
      number = static_cast<int>(memories_.size());
      memories_.push_back({base, {}, {}});
    }
    return memories_[static_cast<size_t>(number)];
  }
  // `reach`: the distance, in elements, of the last accessed element from the first.
  void Add(std::vector<Access> Memory::*list, int position, const UOp* address, int64_t reach) {
    Memory& memory = MemoryOf(address);
    Access access{position, address};
    if (address->op == Op::kIndex) {
      access.version = address->src(0);
      if (IsConst(address->src(1)) && !memory.base->dtype.is_image()) {
        const int64_t first = address->src(1)->word();
        access.begin = std::min(first, first + reach);
        access.end = std::max(first, first + reach) + 1;
      }
    }
    (memory.*list).push_back(access);
  }

  void AddMemory(int p, const UOp* u) {
    switch (MemoryOp(u->op)) {
      case MemoryOp::kLoad:
        Add(&Memory::loads, p, u->src(0), ReachOf(u));
        break;
      case MemoryOp::kStore:
        Add(&Memory::stores, p, u->src(0), ReachOf(u));
        break;
      case MemoryOp::kCopyAsync:
        Add(&Memory::stores, p, u->src(0), u->word() - 1);
        Add(&Memory::loads, p, u->src(1), u->word() - 1);
        batched_.push_back(p);
        break;
      case MemoryOp::kCopyTransposed:
        Add(&Memory::stores, p, u->src(0), (u->word(1) - 1) * u->word(2) + u->word(0) - 1);
        // The elements may lie in either direction from the address, so that any part may be
        // accessed.
        Add(&Memory::loads, p, u->src(1), 0);
        MemoryOf(u->src(1)).loads.back().begin = -1;
        break;
      case MemoryOp::kIndex:
      case MemoryOp::kStage:
        break;
    }
  }

  void AddOrder(int p, const UOp* u) {
    switch (OrderOp(u->op)) {
      case OrderOp::kCommit:
      case OrderOp::kWait:
        batched_.push_back(p);
        break;
      case OrderOp::kBarrier:
        barriers_.push_back(p);
        break;
      case OrderOp::kSink:
      case OrderOp::kAfter:
      case OrderOp::kEnd:
      case OrderOp::kIf:
      case OrderOp::kEndIf:
      case OrderOp::kNoop:
        break;
    }
  }

  void AddSubgroup(int p, const UOp* u) {
    switch (SubgroupOp(u->op)) {
      case SubgroupOp::kLdMatrix:
        // A work-item reads elements that others addressed, so that any part may be accessed.
        Add(&Memory::loads, p, u->src(0), 0);
        MemoryOf(u->src(0)).loads.back().begin = -1;
        break;
      case SubgroupOp::kWgmma:
        Add(&Memory::stores, p, u->src(0), u->word(1) / 2 - 1);
        for (const UOp* factor : u->srcs().subspan(1)) {
          Add(&Memory::loads, p, factor, 0);
          MemoryOf(factor).loads.back().begin = -1;
        }
        break;
      case SubgroupOp::kShuffle:
      case SubgroupOp::kTransposeItems:
      case SubgroupOp::kWmma:
        break;
    }
  }

  void Collect() {
    number_.assign(nest_.nodes.size(), -1);
    for (size_t i = 0; i < nest_.nodes.size(); ++i) {
      const UOp* u = nest_.nodes[i];
      const int p = static_cast<int>(i);
      const OpGroup group = GroupOf(u->op);
      if (group == OpGroup::kMemory) AddMemory(p, u);
      if (group == OpGroup::kOrder) AddOrder(p, u);
      if (group == OpGroup::kSubgroup) AddSubgroup(p, u);
    }
  }

  // Computes barred_: by position, a bit for each barrier that the node depends on; and items_: by
  // position, a bit for each dimension whose local id the node depends on.
  void MarkBarriers() {
    num_barriers_ = barriers_.size();
    const size_t words = (num_barriers_ + 63) / 64;
    if (words == 0) return;
    items_.assign(nest_.nodes.size(), 0);
    barred_.assign(nest_.nodes.size(), std::vector<uint64_t>(words));
    size_t next = 0;
    for (size_t p = 0; p < nest_.nodes.size(); ++p) {
      const UOp* u = nest_.nodes[p];
      if (IsLocalId(u)) {
        items_[p] = static_cast<uint8_t>(1u << (u->word() - int64_t(SpecialName::kLocal0)));
      }
      all_items_ |= items_[p];
      for (int s : nest_.sources(p)) {
        items_[p] |= items_[s];
        const auto& from = barred_[s];
        for (size_t w = 0; w < words; ++w) barred_[p][w] |= from[w];
      }
      if (next < num_barriers_ && barriers_[next] == static_cast<int>(p)) {
        barred_[p][next / 64] |= uint64_t{1} << (next % 64);
        ++next;
      }
    }
  }

  // The last barrier that the store waits at and the load does not, or -1. A barrier outside of the
  // loop that both are in is passed before that loop begins, so that it is never between them.
  int BarrierBetween(int load, int store) const {
    const int around = nest_.Common(nest_.block[load], nest_.block[store]);
    for (size_t w = barred_[store].size(); w-- > 0;) {
      uint64_t only = barred_[store][w] & ~barred_[load][w];
      while (only) {
        const size_t last = 63 - static_cast<size_t>(__builtin_clzll(only));
        const int barrier = barriers_[w * 64 + last];
        if (nest_.Common(around, nest_.block[barrier]) == around) return barrier;
        only ^= uint64_t{1} << last;
      }
    }
    return -1;
  }

  // Maps each index expression to the positions of the plain stores to `m` at it.
  using StoresAt = std::map<int, llvm::SmallVector<int, 1>>;
  StoresAt FindStoresAt(const Memory& m) const {
    StoresAt result;
    for (const Access& s : m.stores) {
      const UOp* u = nest_.nodes[static_cast<size_t>(s.position)];
      if (u->op != Op::kStore || u->src(0)->op != Op::kIndex) continue;
      result[nest_.at(u->src(0)->src(1))].push_back(s.position);
    }
    return result;
  }

  // Whether the work-item that loads also stores to all elements of the load, in the loop of
  // `store` and behind the same barriers. No other work-item's `store` writes to them then: the two
  // stores would race. That the address depends on all numbers of the work-item excludes stores of
  // one value by several work-items, which are no race.
  bool StoresToLoaded(const StoresAt& stores_at, int load, int store) const {
    const UOp* l = nest_.nodes[static_cast<size_t>(load)];
    if (l->op != Op::kLoad || l->src(0)->op != Op::kIndex) return false;
    const UOp* from = l->src(0);
    const auto found = stores_at.find(nest_.at(from->src(1)));
    if (found == stores_at.end() || items_[found->first] != all_items_) return false;
    for (const int p : found->second) {
      const UOp* s = nest_.nodes[static_cast<size_t>(p)];
      const UOp* to = s->src(0);
      const bool whenever_loaded =
          to->num_srcs == 2 || (from->num_srcs == 3 && from->src(2) == to->src(2));
      if (whenever_loaded && s->src(1)->dtype.lanes() == l->dtype.lanes() &&
          ReachOf(s) == ReachOf(l) && nest_.block[p] == nest_.block[store] &&
          barred_[p] == barred_[store]) {
        return true;
      }
    }
    return false;
  }

  // `at`: null if no barrier matters to the memory.
  void OrderChunk(const Memory& m, size_t first, size_t last, const StoresAt* at) {
    const bool barriers = at != nullptr;
    Access whole = m.stores[first];  // the union of the elements that the chunk may access
    int begin = whole.position;
    for (size_t i = first; i < last; ++i) {
      const Access& s = m.stores[i];
      begin = std::min(begin, s.position);
      whole.begin = std::min(whole.begin, s.begin);
      whole.end = std::max(whole.end, s.end);
    }
    int end = begin;  // one after the last position of a load that the chunk may conflict with
    for (const Access& load : m.loads) {
      if (load.MayTouch(whole)) end = std::max(end, load.position + 1);
    }
    // Computes behind_[p]: the stores of this chunk on which node p depends, for p from begin to
    // end.
    behind_.resize(nest_.nodes.size());
    std::fill(behind_.begin() + begin, behind_.begin() + end, 0);
    for (size_t i = first; i < last; ++i) {
      behind_[static_cast<size_t>(m.stores[i].position)] |= uint64_t{1} << (i - first);
    }
    for (int p = begin; p < end; ++p) {
      for (int s : nest_.sources(static_cast<size_t>(p))) {
        if (s >= begin) behind_[p] |= behind_[s];
      }
    }
    // Stores to one version, in one block, at unknown addresses. A load is before all of them or
    // after all of them.
    struct Group {
      uint64_t members = 0;
      int join = -1;
    };
    std::map<std::pair<int, int>, Group> groups;
    uint64_t grouped = 0;
    for (size_t i = first; !barriers && i < last; ++i) {
      const Access& s = m.stores[i];
      if (s.begin >= 0) continue;
      const std::pair<int, int> key(nest_.at(s.version),
                                    nest_.block[static_cast<size_t>(s.position)]);
      groups[key].members |= uint64_t{1} << (i - first);
      grouped |= uint64_t{1} << (i - first);
    }
    for (const Access& load : m.loads) {
      if (!load.MayTouch(whole)) continue;
      const uint64_t seen = load.position < begin ? 0 : behind_[load.position];
      uint64_t single =
          ~seen &
          (grouped ^ (last - first == 64 ? ~uint64_t{0} : (uint64_t{1} << (last - first)) - 1));
      for (auto& [key, group] : groups) {
        if ((seen & group.members) || group.members == (group.members & -group.members)) {
          single |= group.members & ~seen;
          continue;
        }
        if (group.join < 0) {
          group.join = static_cast<int>(nest_.nodes.size() + order_.join_blocks.size());
          order_.join_blocks.push_back(key.second);
          for (uint64_t rest = group.members; rest; rest &= rest - 1) {
            const auto i = first + static_cast<size_t>(__builtin_ctzll(rest));
            order_.edges.emplace_back(group.join, m.stores[i].position);
          }
        }
        order_.edges.emplace_back(load.position, group.join);
      }
      for (; single; single &= single - 1) {
        const Access& store = m.stores[first + static_cast<size_t>(__builtin_ctzll(single))];
        if (store.position == load.position || !load.MayTouch(store)) continue;
        order_.edges.emplace_back(load.position, store.position);
        const int barrier = barriers ? BarrierBetween(load.position, store.position) : -1;
        if (barrier >= 0 && !StoresToLoaded(*at, load.position, store.position)) {
          order_.edges.emplace_back(load.position, barrier);
        }
      }
    }
  }

  // `commit` and `wait` refer to the number of copies and batches so far in their block, so that
  // the order of these must be kept.
  void OrderBatches() {
    std::map<int, int> last;  // by block
    for (int p : batched_) {
      const auto [it, first] = last.try_emplace(nest_.block[p], p);
      if (!first) order_.edges.emplace_back(it->second, p);
      it->second = p;
    }
  }

  const Nest& nest_;
  ExtraOrder order_;
  std::vector<Memory> memories_;         // in order of first access
  std::vector<int> number_;              // by position of its base: the memory's number, or -1
  std::vector<int> barriers_, batched_;  // positions of barriers; of copies, commits and waits
  size_t num_barriers_ = 0;
  std::vector<std::vector<uint64_t>> barred_;
  std::vector<uint8_t> items_;
  uint8_t all_items_ = 0;
  std::vector<uint64_t> behind_;
};

}  // namespace

ExtraOrder OrderMemory(const Nest& nest) { return Orderer(nest).Run(); }

}  // namespace tg::linearize
