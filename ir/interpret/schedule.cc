#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/step_list.h"
#include "ir/op_groups.h"
#include "ir/walk.h"

namespace tg::interpret {
namespace {

using Nodes = std::vector<const UOp*>;

// Sorted ids of range nodes.
using RangeSet = std::vector<uint32_t>;

bool Contains(const RangeSet& set, const UOp* r) {
  return std::binary_search(set.begin(), set.end(), r->id);
}
bool Includes(const RangeSet& all, const RangeSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Has an effect, other than that of opening and closing blocks.
bool IsEffect(Op op) {
  if (GroupOf(op) != OpGroup::kOrder) return YieldsToken(op) && op != Op::kKernel;
  switch (OrderOp(op)) {
    case OrderOp::kBarrier:
    case OrderOp::kCommit:
    case OrderOp::kWait:
      return true;
    case OrderOp::kSink:
    case OrderOp::kAfter:
    case OrderOp::kEnd:
    case OrderOp::kIf:
    case OrderOp::kEndIf:
    case OrderOp::kNoop:
      return false;
  }
  TG_UNREACHABLE();
}

class Scheduler {
 public:
  explicit Scheduler(const Body& body) : body_(body) {}
  absl::StatusOr<Steps> Run();

 private:
  // What one place in a block holds: a node, or the loop over `range` around what `closers` close.
  struct Item {
    Nodes closers;  // of a loop
    const UOp* range = nullptr;
    Nodes inner;  // in post-order; of a node: itself
    std::vector<size_t> users, blocked;
    int waits_hard = 0, waits_soft = 0;
    bool done = false;
  };

  void FindOpenRanges();
  void FindLoadsBeforeStores();
  // The ranges that `closer` closes, outermost first.
  Nodes Closes(const UOp* closer) const;
  // How many of them are among the enclosing loops `open`.
  size_t Depth(const UOp* closer, const RangeSet& open) const;
  absl::Status Block(const Nodes& nodes, const RangeSet& open, const Nodes& pending, int depth);
  absl::StatusOr<std::vector<Item>> Items(const Nodes& nodes, const RangeSet& open,
                                          const Nodes& pending);
  absl::Status Emit(const Item& item, const RangeSet& open, int depth);
  absl::Status Fail(const UOp* u, std::string message) const {
    return absl::InvalidArgumentError(NodeLabel(body_, "order", u) + message);
  }

  const Body& body_;
  Nodes order_;
  NodeMap<size_t> position_;
  NodeMap<RangeSet> open_;
  NodeMap<Nodes> stores_after_;  // of a load
  NodeMap<int> emitted_;
  Steps steps_;
};

Nodes Scheduler::Closes(const UOp* u) const {
  Nodes ranges;
  if (u->op == Op::kEnd || u->op == Op::kReduce) {
    for (const UOp* r : u->srcs().subspan(1)) ranges.push_back(r);
  } else if (u->op == Op::kSink) {
    // A sink ends what is still open.
    RangeSet all;
    for (const UOp* s : u->srcs()) {
      for (uint32_t id : open_.Get(s)) all.push_back(id);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (uint32_t id : all) ranges.push_back(body_.context->node(id));
  }
  return ranges;
}

void Scheduler::FindOpenRanges() {
  for (const UOp* u : order_) {
    RangeSet set;
    for (const UOp* s : u->srcs()) {
      RangeSet merged;
      const RangeSet& from = open_.Get(s);
      std::set_union(set.begin(), set.end(), from.begin(), from.end(), std::back_inserter(merged));
      set = std::move(merged);
    }
    if (u->op == Op::kRange) {
      set.insert(std::lower_bound(set.begin(), set.end(), u->id), u->id);
    }
    for (const UOp* r : Closes(u)) std::erase(set, r->id);
    open_[u] = std::move(set);
  }
}

void Scheduler::FindLoadsBeforeStores() {
  Nodes stores;
  for (const UOp* u : order_) {
    if (WritesMemory(u->op)) stores.push_back(u);
  }
  const size_t words = (stores.size() + 63) / 64;
  NodeMap<std::vector<uint64_t>> before;  // the stores that a node depends on
  size_t next = 0;
  for (const UOp* u : order_) {
    std::vector<uint64_t> set(words);
    for (const UOp* s : u->srcs()) {
      const auto& from = before.Get(s);
      for (size_t w = 0; w < words; ++w) set[w] |= from[w];
    }
    if (ReadsMemory(u->op)) {
      const UOp* memory = MemoryOf(u->src(AddressRead(u->op)));
      for (size_t i = 0; i < stores.size(); ++i) {
        if (stores[i] == u || (set[i / 64] >> (i % 64) & 1)) continue;
        if (MemoryOf(stores[i]->src(0)) == memory) stores_after_[u].push_back(stores[i]);
      }
    }
    if (next < stores.size() && stores[next] == u) {
      set[next / 64] |= uint64_t{1} << (next % 64);
      ++next;
    }
    before[u] = std::move(set);
  }
}

size_t Scheduler::Depth(const UOp* closer, const RangeSet& open) const {
  const Nodes ranges = Closes(closer);
  size_t depth = 0;
  while (depth < ranges.size() && Contains(open, ranges[depth])) ++depth;
  return depth;
}

// `pending` are closers of enclosing loops; `nodes` what is computed here or in loops inside.
absl::StatusOr<std::vector<Scheduler::Item>> Scheduler::Items(const Nodes& nodes,
                                                              const RangeSet& open,
                                                              const Nodes& pending) {
  const auto is_here = [&](const UOp* u) {
    return Includes(open, open_.Get(u)) ||
           std::find(pending.begin(), pending.end(), u) != pending.end();
  };
  std::vector<Item> items;
  NodeSet mine;
  for (const UOp* u : nodes) mine.Insert(u);
  for (const UOp* u : nodes) {
    if (u->op == Op::kRange || !is_here(u)) continue;
    Item item;
    const Nodes ranges = Closes(u);
    const size_t depth = Depth(u, open);
    if (depth > 0 && std::find(pending.begin(), pending.end(), u) == pending.end()) {
      return Fail(u, "closes a loop that is still open around it");
    }
    if (depth == ranges.size()) {
      item.inner = {u};
    } else {
      item.closers = {u};
      item.range = ranges[depth];
      // All that the closer needs and that is not computed in this block.
      NodeSet seen;
      Nodes stack = {u};
      seen.Insert(u);
      while (!stack.empty()) {
        const UOp* top = stack.back();
        stack.pop_back();
        item.inner.push_back(top);
        for (const UOp* s : top->srcs()) {
          if (mine.Contains(s) && !is_here(s) && seen.Insert(s)) stack.push_back(s);
        }
      }
      std::sort(item.inner.begin(), item.inner.end(),
                [&](const UOp* a, const UOp* b) { return position_.Get(a) < position_.Get(b); });
    }
    items.push_back(std::move(item));
  }
  // Loops around one effect are one loop.
  NodeMap<size_t> owner;  // 1 + index of the item that holds an effect
  std::vector<Item> merged;
  for (Item& item : items) {
    size_t into = 0;
    if (item.range) {
      for (const UOp* u : item.inner) {
        if (IsEffect(u->op) && owner.Get(u)) into = owner.Get(u);
      }
    }
    if (into == 0) {
      merged.push_back(std::move(item));
      into = merged.size();
    } else {
      Item& first = merged[into - 1];
      if (first.range != item.range) {
        return Fail(item.closers[0], "closes loops in another order than a sibling");
      }
      first.closers.push_back(item.closers[0]);
      Nodes both;
      std::set_union(first.inner.begin(), first.inner.end(), item.inner.begin(), item.inner.end(),
                     std::back_inserter(both), [&](const UOp* a, const UOp* b) {
                       return position_.Get(a) < position_.Get(b);
                     });
      first.inner = std::move(both);
    }
    for (const UOp* u : merged[into - 1].inner) {
      if (!IsEffect(u->op) || !merged[into - 1].range) continue;
      if (owner.Get(u) && owner.Get(u) != into) {
        return Fail(u, "lies in loops that cannot be joined");
      }
      owner[u] = into;
    }
  }
  return merged;
}

absl::Status Scheduler::Emit(const Item& item, const RangeSet& open, int depth) {
  if (!item.range) {
    const UOp* u = item.inner[0];
    ++emitted_[u];
    const bool reduce = u->op == Op::kReduce && u->num_srcs > 1;
    steps_.push_back({reduce ? StepKind::kReduceStep : StepKind::kEval, u, 0});
    return absl::OkStatus();
  }
  if (depth > 200) return Fail(item.range, "loops are nested too deeply");
  const auto reduces = [&](StepKind kind) {
    for (const UOp* c : item.closers) {
      if (c->op == Op::kReduce && Depth(c, open) == 0) steps_.push_back({kind, c, 0});
    }
  };
  reduces(StepKind::kReduceBegin);
  const size_t begin = steps_.size();
  steps_.push_back({StepKind::kLoop, item.range, 0});
  RangeSet inside = open;
  inside.insert(std::lower_bound(inside.begin(), inside.end(), item.range->id), item.range->id);
  if (absl::Status s = Block(item.inner, inside, item.closers, depth + 1); !s.ok()) return s;
  steps_.push_back({StepKind::kEndLoop, item.range, begin + 1});
  steps_[begin].jump = steps_.size();
  reduces(StepKind::kReduceEnd);
  return absl::OkStatus();
}

absl::Status Scheduler::Block(const Nodes& nodes, const RangeSet& open, const Nodes& pending,
                              int depth) {
  auto made = Items(nodes, open, pending);
  if (!made.ok()) return made.status();
  std::vector<Item>& items = *made;
  // An inner node may be in several items; what is computed here is in one.
  NodeMap<std::vector<size_t>> items_of;
  for (size_t i = 0; i < items.size(); ++i) {
    for (const UOp* u : items[i].inner) items_of[u].push_back(i);
  }
  const auto edge = [&](size_t from, size_t to, bool hard) {
    if (from == to) return;
    (hard ? items[from].users : items[from].blocked).push_back(to);
    ++(hard ? items[to].waits_hard : items[to].waits_soft);
  };
  for (size_t i = 0; i < items.size(); ++i) {
    for (const UOp* u : items[i].inner) {
      for (const UOp* s : u->srcs()) {
        for (size_t from : items_of.Get(s)) {
          // A source inside the same loop is computed there.
          const auto& own = items_of.Get(s);
          if (std::find(own.begin(), own.end(), i) == own.end()) edge(from, i, true);
        }
      }
      for (const UOp* store : stores_after_.Get(u)) {
        for (size_t to : items_of.Get(store)) edge(i, to, false);
      }
    }
  }
  // Ready items, the first in post-order first; `soft` ones wait only for loads that come earlier.
  const auto rank = [&](size_t i) { return position_.Get(items[i].inner.back()); };
  std::set<std::pair<size_t, size_t>> ready, soft;
  const auto offer = [&](size_t i) {
    if (items[i].done || items[i].waits_hard > 0) return;
    soft.erase({rank(i), i});
    (items[i].waits_soft > 0 ? soft : ready).insert({rank(i), i});
  };
  for (size_t i = 0; i < items.size(); ++i) offer(i);
  size_t left = items.size();
  while (!ready.empty() || !soft.empty()) {
    auto& from = ready.empty() ? soft : ready;
    const size_t i = from.begin()->second;
    from.erase(from.begin());
    items[i].done = true;
    --left;
    if (absl::Status s = Emit(items[i], open, depth); !s.ok()) return s;
    for (size_t to : items[i].blocked) {
      --items[to].waits_soft;
      offer(to);
    }
    for (size_t to : items[i].users) {
      --items[to].waits_hard;
      offer(to);
    }
  }
  if (left > 0) {
    for (const Item& item : items) {
      if (item.range && !item.done) {
        return Fail(item.range, "is needed again after an `end` has closed it");
      }
    }
    return Fail(items[0].inner[0], "depends on itself");
  }
  return absl::OkStatus();
}

absl::StatusOr<Steps> Scheduler::Run() {
  order_ = PostOrder(body_.root);
  for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  FindOpenRanges();
  FindLoadsBeforeStores();
  if (absl::Status s = Block(order_, {}, {}, 0); !s.ok()) return s;
  for (const UOp* u : order_) {
    if (IsEffect(u->op) && emitted_.Get(u) != 1) return Fail(u, "would happen in several loops");
  }
  return std::move(steps_);
}

}  // namespace

absl::StatusOr<Steps> ScheduleGraph(const Body& body) { return Scheduler(body).Run(); }

}  // namespace tg::interpret
