#include "passes/linearize/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::linearize {
namespace {

// Definitions come first in the kernel, in this order.
int LeafRank(const UOp* u) {
  switch (u->op) {
    case Op::kDefineGlobal:
      return 0;
    case Op::kVar:
      return 1;
    case Op::kScratch:
      return 2;
    case Op::kConst:
    case Op::kVConst:
      return 3;
    case Op::kSpecial:
      return 4;
    default:
      return -1;
  }
}

// Items: a node by its position, a join by its number, then one for each loop.
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
    // A loop's body is scheduled where the loop stands, by a stack of blocks under way.
    struct Frame {
      int loop;
      std::vector<int> items;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    auto enter = [&](int loop) -> absl::Status {
      auto items = shuffle_ ? Shuffled(loop) : DepthFirst(loop);
      if (static_cast<int>(items.size()) != count_[loop]) {
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
  bool IsLeaf(int item) const { return item < num_nodes_ && LeafRank(nest_.nodes[item]) >= 0; }
  bool IsItem(int position) const { return nest_.opens[position] < 0; }
  int BlockOf(int item) const {
    if (item >= first_loop_) return nest_.loops[item - first_loop_].parent;
    return item >= num_nodes_ ? extra_.join_blocks[item - num_nodes_] : nest_.block[item];
  }
  // The items of one block that stand for the two ends of an edge; false where they are one item.
  bool Lift(int& a, int& b) const {
    const bool plain = a < num_nodes_ && b < num_nodes_ && IsItem(a) && IsItem(b);
    if (plain && nest_.block[a] == nest_.block[b]) return a != b;
    if (a < num_nodes_ && !IsItem(a)) a = first_loop_ + nest_.opens[a];
    if (b < num_nodes_ && !IsItem(b)) b = first_loop_ + nest_.opens[b];
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
    return a != b;
  }

  void CollectItems() {
    const size_t loops = nest_.loops.size();
    count_.assign(loops, 0);
    items_.resize(loops);
    auto add = [&](int block, int item) {
      items_[block].push_back(item);
      ++count_[block];
    };
    std::vector<int> leaves;
    for (int p = 0; p < num_nodes_; ++p) {
      if (nest_.block[p] == 0 && LeafRank(nest_.nodes[p]) >= 0) leaves.push_back(p);
    }
    std::stable_sort(leaves.begin(), leaves.end(), [&](int a, int b) {
      const UOp *u = nest_.nodes[a], *v = nest_.nodes[b];
      const int ru = LeafRank(u), rv = LeafRank(v);
      if (ru != rv) return ru < rv;
      return (ru == 0 || ru == 4) && u->word() < v->word();
    });
    for (int p : leaves) add(0, p);
    for (int p = 0; p < num_nodes_; ++p) {
      const int opens = nest_.opens[p];
      if (opens < 0) {
        if (nest_.block[p] != 0 || LeafRank(nest_.nodes[p]) < 0) add(nest_.block[p], p);
      } else if (nest_.nodes[p]->op == Op::kRange) {
        add(nest_.block[p], first_loop_ + opens);
      }
    }
    for (size_t j = 0; j < extra_.join_blocks.size(); ++j) {
      add(extra_.join_blocks[j], num_nodes_ + static_cast<int>(j));
    }
  }

  // needs_[item]: what has to precede it in its block, operands in order of evaluation.
  void CollectNeeds() {
    needs_.resize(num_items_);
    std::vector<int> registers(num_nodes_, 0);
    struct Operand {
      int position, registers;
    };
    std::vector<Operand> operands;
    const auto dearer = [](const Operand& a, const Operand& b) {
      return a.registers > b.registers;
    };
    for (int p = 0; p < num_nodes_; ++p) {
      const UOp* u = nest_.nodes[p];
      operands.clear();
      for (int s : nest_.sources(static_cast<size_t>(p))) operands.push_back({s, registers[s]});
      if (operands.size() == 2) {
        if (dearer(operands[1], operands[0])) std::swap(operands[0], operands[1]);
      } else if (!std::is_sorted(operands.begin(), operands.end(), dearer)) {
        std::stable_sort(operands.begin(), operands.end(), dearer);
      }
      int kept = 0;
      for (const Operand& s : operands) {
        registers[p] = std::max(registers[p], s.registers + (s.registers > 0 ? kept++ : 0));
        AddNeed(s.position, p);
      }
      // Results that occupy a register; a chain of effects is no operand.
      if (!u->dtype.is_value() || u->dtype.is_void() || LeafRank(u) >= 0) {
        registers[p] = u->dtype.is_void() ? 0 : registers[p];
      } else {
        registers[p] = std::max(registers[p], 1);
      }
    }
    for (const auto& [before, after] : extra_.edges) AddNeed(before, after);
  }
  void AddNeed(int before, int after) {
    if (!Lift(before, after)) return;
    auto& list = needs_[after];
    if (list.empty() || list.back() != before) list.push_back(before);
  }

  std::vector<int> DepthFirst(int loop) {
    std::vector<int> order;
    order.reserve(items_[loop].size());
    if (state_.empty()) {
      state_.assign(num_items_, 0);
      needed_.assign(num_items_, 0);
    }
    // From the leaves, then from what nothing in the block waits for.
    std::vector<int> roots;
    for (int item : items_[loop]) {
      for (int need : needs_[item]) needed_[need] = 1;
    }
    for (int item : items_[loop]) {
      if (!needed_[item] || IsLeaf(item)) roots.push_back(item);
    }
    std::vector<std::pair<int, size_t>> stack;
    for (int root : roots) {
      if (state_[root]) continue;
      state_[root] = 1;
      stack.emplace_back(root, 0);
      while (!stack.empty()) {
        auto& [item, next] = stack.back();
        if (next == needs_[item].size()) {
          state_[item] = 2;
          order.push_back(item);
          stack.pop_back();
          continue;
        }
        const int need = needs_[item][next++];
        if (state_[need] == 1) return {};  // a cycle
        if (state_[need]) continue;
        state_[need] = 1;
        stack.emplace_back(need, 0);
      }
    }
    return order;
  }

  std::vector<int> Shuffled(int loop) {
    if (users_.empty()) {
      users_.resize(num_items_);
      for (int item = 0; item < num_items_; ++item) {
        for (int need : needs_[item]) users_[need].push_back(item);
      }
    }
    std::vector<int> order, ready;
    std::vector<int>& waits = state_;
    if (waits.empty()) waits.assign(num_items_, 0);
    for (int item : items_[loop]) {
      waits[item] = static_cast<int>(needs_[item].size());
      if (waits[item] == 0) ready.push_back(item);
    }
    while (!ready.empty()) {
      std::swap(ready[(*shuffle_)() % ready.size()], ready.back());
      const int item = ready.back();
      ready.pop_back();
      order.push_back(item);
      for (int user : users_[item]) {
        if (--waits[user] == 0) ready.push_back(user);
      }
    }
    return order;
  }

  const Nest& nest_;
  const ExtraOrder& extra_;
  std::mt19937_64* shuffle_;
  int num_nodes_ = 0, first_loop_ = 0, num_items_ = 0;
  std::vector<std::vector<int>> items_;  // by loop
  std::vector<int> count_;
  std::vector<llvm::SmallVector<int, 4>> needs_, users_;  // by item
  std::vector<int> state_;
  std::vector<char> needed_;
  std::vector<Step> steps_;
};

}  // namespace

absl::StatusOr<std::vector<Step>> Schedule(const Nest& nest, const ExtraOrder& extra,
                                           std::mt19937_64* shuffle) {
  return Scheduler(nest, extra, shuffle).Run();
}

}  // namespace tg::linearize
