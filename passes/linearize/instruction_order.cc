#include "passes/linearize/instruction_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/op_groups.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::linearize {
namespace {

// Definitions come first in the kernel, sorted by this rank; -1 for other nodes.
int8_t LeafRank(const UOp* u) {
  if (GroupOf(u->op) != OpGroup::kLeaf) return -1;
  switch (LeafOp(u->op)) {
    case LeafOp::kDefineGlobal:
      return 0;
    case LeafOp::kVar:
      return 1;
    case LeafOp::kScratch:
      return 2;
    case LeafOp::kConst:
    case LeafOp::kVConst:
      return 3;
    case LeafOp::kSpecial:
      return 4;
    case LeafOp::kRange:
    case LeafOp::kBuffer:
    case LeafOp::kIota:
    case LeafOp::kCarried:
    case LeafOp::kUnroll:
      return -1;
  }
  TG_UNREACHABLE();
}

// Schedules items. The number of an item is, in this order: the position of a node, the number of a
// join (ExtraOrder), or first_loop_ plus the number of a loop.
class Scheduler {
 public:
  Scheduler(const Nest& nest, const ExtraOrder& extra, std::mt19937_64* shuffle)
      : nest_(nest), extra_(extra), shuffle_(shuffle) {
    num_nodes_ = static_cast<int>(nest.nodes.size());
    first_loop_ = num_nodes_ + static_cast<int>(extra.join_blocks.size());
    num_items_ = first_loop_ + static_cast<int>(nest.loops.size());
  }

  absl::StatusOr<std::vector<Step>> Run() {
    CollectItems();
    CollectNeeds();
    steps_.reserve(num_items_);
    // A loop's body is scheduled at the position of the loop, with a stack of unfinished blocks.
    struct Frame {
      int loop;
      std::vector<int> items;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    auto enter = [&](int loop) -> absl::Status {
      auto items = shuffle_ ? Shuffled(loop) : DepthFirst(loop);
      if (items.size() != items_[loop].size()) {
        return absl::InvalidArgumentError(
            loop == 0 ? "loops of the kernel wait for each other's effects"
                      : absl::StrCat("effects in the loop of range #",
                                     nest_.loops[loop].range->word(), " wait for each other"));
      }
      stack.push_back({loop, std::move(items)});
      return absl::OkStatus();
    };
    if (absl::Status s = enter(0); !s.ok()) return s;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.items.size()) {
        if (frame.loop > 0) steps_.push_back({-1, frame.loop});
        stack.pop_back();
        continue;
      }
      const int item = frame.items[frame.next++];
      if (item < num_nodes_) {
        steps_.push_back({item, -1});
      } else if (item >= first_loop_) {
        const int loop = item - first_loop_;
        steps_.push_back({nest_.at(nest_.loops[loop].range), -1});
        if (absl::Status s = enter(loop); !s.ok()) return s;
      }
    }
    return std::move(steps_);
  }

 private:
  bool IsLeaf(int item) const { return leaf_rank_[item] >= 0; }
  int BlockOf(int item) const {
    if (item >= first_loop_) return nest_.loops[item - first_loop_].parent;
    return item >= num_nodes_ ? extra_.join_blocks[item - num_nodes_] : nest_.block[item];
  }
  // The item of the node at `position` (or of a join) in the block that contains it.
  int ItemOf(int position) const {
    const bool opens = position < num_nodes_ && nest_.opens[position] >= 0;
    return opens ? first_loop_ + nest_.opens[position] : position;
  }
  // Replaces the two ends of an edge by the items of one block that contain them.
  void Lift(int& a, int& b) const {
    int block_a = BlockOf(a), block_b = BlockOf(b);
    while (block_a != block_b) {
      if (nest_.loops[block_a].depth >= nest_.loops[block_b].depth) {
        a = first_loop_ + block_a;
        block_a = nest_.loops[block_a].parent;
      } else {
        b = first_loop_ + block_b;
        block_b = nest_.loops[block_b].parent;
      }
    }
  }

  void CollectItems() {
    items_.resize(nest_.loops.size());
    leaf_rank_.assign(num_items_, -1);
    std::vector<int> leaves;
    for (int p = 0; p < num_nodes_; ++p) {
      const UOp* u = nest_.nodes[p];
      const int block = nest_.block[p];
      if (nest_.opens[p] >= 0) {
        if (u->op == Op::kRange) items_[block].push_back(ItemOf(p));
      } else {
        if (block == 0) leaf_rank_[p] = LeafRank(u);
        (IsLeaf(p) ? leaves : items_[block]).push_back(p);
      }
    }
    std::stable_sort(leaves.begin(), leaves.end(), [&](int a, int b) {
      const int rank = leaf_rank_[a];
      if (rank != leaf_rank_[b]) return rank < leaf_rank_[b];
      return (rank == 0 || rank == 4) && nest_.nodes[a]->word() < nest_.nodes[b]->word();
    });
    items_[0].insert(items_[0].begin(), leaves.begin(), leaves.end());
    for (size_t j = 0; j < extra_.join_blocks.size(); ++j) {
      items_[extra_.join_blocks[j]].push_back(num_nodes_ + static_cast<int>(j));
    }
  }

  // Collects what must precede each item in its block: its operands in the order of evaluation,
  // then the other nodes that must be before it.
  void CollectNeeds() {
    first_operand_.resize(num_items_ + 1);
    operands_.reserve(nest_.source_positions.size());
    lists_.resize(num_items_);
    edges_.push_back({-1, 0});
    needed_.resize(num_items_);
    std::vector<int> registers(num_nodes_);
    const auto dearer = [&](int a, int b) { return registers[a] > registers[b]; };
    llvm::SmallVector<int, 8> sorted;
    for (int p = 0; p < num_nodes_; ++p) {
      const UOp* u = nest_.nodes[p];
      std::span<const int> operands = nest_.sources(static_cast<size_t>(p));
      if (!std::is_sorted(operands.begin(), operands.end(), dearer)) {
        sorted.assign(operands.begin(), operands.end());
        if (sorted.size() == 2) {
          std::swap(sorted[0], sorted[1]);
        } else {
          std::stable_sort(sorted.begin(), sorted.end(), dearer);
        }
        operands = sorted;
      }
      first_operand_[p] = static_cast<int>(operands_.size());
      int live = 0, most = 0;
      for (int s : operands) {
        most = std::max(most, registers[s] + (registers[s] > 0 ? live++ : 0));
        if (IsLeaf(s) && !shuffle_) continue;  // definitions come first anyway
        if (nest_.block[s] == nest_.block[p] && nest_.opens[p] < 0) {
          operands_.push_back(ItemOf(s));
          needed_[operands_.back()] = 1;
        } else {
          AddNeed(s, p);
        }
      }
      // Only results occupy registers; a chain of effects is not an operand.
      if (u->dtype.is_void()) continue;
      const bool is_result = u->dtype.is_value() && !IsLeaf(p);
      registers[p] = is_result ? std::max(most, 1) : most;
    }
    std::fill(first_operand_.begin() + num_nodes_, first_operand_.end(),
              static_cast<int>(operands_.size()));
    for (const auto& [before, after] : extra_.edges) AddNeed(before, after);
  }
  void AddNeed(int before, int after) {
    before = ItemOf(before);
    after = ItemOf(after);
    Lift(before, after);
    if (before == after) return;
    List& list = lists_[after];
    if (edges_[list.last].before == before) return;
    const int edge = static_cast<int>(edges_.size());
    (list.first == 0 ? list.first : edges_[list.last].next) = edge;
    list.last = edge;
    edges_.push_back({before, 0});
    needed_[before] = 1;
  }
  // An iterator over the needs of an item: its operands, then its edges.
  struct Cursor {
    int item, operand, edge;
  };
  Cursor NeedsOf(int item) const { return {item, first_operand_[item], lists_[item].first}; }
  // The next need, or -1 at the end.
  int Next(Cursor& at) const {
    if (at.operand < first_operand_[at.item + 1]) return operands_[at.operand++];
    const Edge& edge = edges_[at.edge];
    at.edge = edge.next;
    return edge.before;
  }

  std::vector<int> DepthFirst(int loop) {
    std::vector<int> order;
    order.reserve(items_[loop].size());
    if (state_.empty()) state_.resize(num_items_);
    std::vector<Cursor> stack;
    // Starts from the leaves, then from items for which nothing in the block waits.
    for (int root : items_[loop]) {
      if (state_[root] || (needed_[root] && !IsLeaf(root))) continue;
      state_[root] = 1;
      stack.push_back(NeedsOf(root));
      while (!stack.empty()) {
        Cursor& at = stack.back();
        const int need = Next(at);
        if (need < 0) {
          state_[at.item] = 2;
          order.push_back(at.item);
          stack.pop_back();
          continue;
        }
        if (state_[need] == 1) return {};  // a cycle
        if (state_[need]) continue;
        state_[need] = 1;
        stack.push_back(NeedsOf(need));
      }
    }
    return order;
  }

  std::vector<int> Shuffled(int loop) {
    if (waits_.empty()) {
      waits_.resize(num_items_);
      users_.resize(num_items_);
      for (int item = 0; item < num_items_; ++item) {
        Cursor at = NeedsOf(item);
        for (int need = Next(at); need >= 0; need = Next(at)) {
          users_[need].push_back(item);
          ++waits_[item];
        }
      }
    }
    std::vector<int> order, ready;
    for (int item : items_[loop]) {
      if (waits_[item] == 0) ready.push_back(item);
    }
    while (!ready.empty()) {
      std::swap(ready[(*shuffle_)() % ready.size()], ready.back());
      const int item = ready.back();
      ready.pop_back();
      order.push_back(item);
      for (int user : users_[item]) {
        if (--waits_[user] == 0) ready.push_back(user);
      }
    }
    return order;
  }

  const Nest& nest_;
  const ExtraOrder& extra_;
  std::mt19937_64* shuffle_;
  int num_nodes_ = 0, first_loop_ = 0, num_items_ = 0;
  std::vector<std::vector<int>> items_;        // by loop
  std::vector<int8_t> leaf_rank_;              // by item: LeafRank in the kernel's block; else -1
  std::vector<int> operands_, first_operand_;  // operands in the item's block; by item: the first
  // The other needs, as a linked list of edges for each item; edge 0 marks the end.
  struct Edge {
    int before, next;
  };
  struct List {
    int first = 0, last = 0;
  };
  std::vector<Edge> edges_;
  std::vector<List> lists_;                       // by item
  std::vector<char> needed_;                      // by item: another item needs it
  std::vector<char> state_;                       // by item: 1 on the stack, 2 in the order
  std::vector<int> waits_;                        // by item: needs not emitted yet (Shuffled)
  std::vector<llvm::SmallVector<int, 4>> users_;  // by item: the items that need it (Shuffled)
  std::vector<Step> steps_;
};

}  // namespace

absl::StatusOr<std::vector<Step>> Schedule(const Nest& nest, const ExtraOrder& extra,
                                           std::mt19937_64* shuffle) {
  return Scheduler(nest, extra, shuffle).Run();
}

}  // namespace tg::linearize
