#include "passes/linearize/nest.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "passes/linearize/range_sets.h"

namespace tg::linearize {
namespace {

// Whether a node must stay in the block of the loops that it depends on. Any other node may be
// moved into the loops of its users, where it is computed more often than needed. (See Hoist: a
// load stays in a loop that may have no iterations, because its address may be invalid then.)
bool IsPinned(const UOp* u) {
  return YieldsToken(u->op) || u->op == Op::kRange || u->op == Op::kScratch || u->dtype.is_void();
}

class Finder {
 public:
  Finder(const Kernel& kernel, analysis::Bounds& bounds, std::mt19937_64* shuffle)
      : kernel_(kernel), bounds_(bounds), shuffle_(shuffle) {}

  absl::StatusOr<Nest> Run() {
    nest_.nodes = PostOrder(kernel_.body.root);
    Number();
    const int left = open_.back();
    if (left != 0) {
      return Error(absl::StrCat(RangeText(sets_[left][0]), " is not closed by any end"));
    }
    if (absl::Status s = NestLoops(); !s.ok()) return s;
    if (absl::Status s = Place(); !s.ok()) return s;
    return std::move(nest_);
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("linearize: kernel @", kernel_.name, ": ", what));
  }
  const UOp* Range(int r) const { return nest_.nodes[ranges_[r]]; }
  std::string RangeText(int r) const { return absl::StrCat("range #", Range(r)->word()); }
  std::vector<int> Closed(const UOp* end) const {
    std::vector<int> closed;
    for (const UOp* r : end->srcs().subspan(1)) {
      const auto range = std::lower_bound(ranges_.begin(), ranges_.end(), nest_.at(r));
      closed.push_back(static_cast<int>(range - ranges_.begin()));
    }
    return closed;
  }

  // Numbers the nodes, and finds the ranges that are open at each.
  void Number() {
    const size_t n = nest_.nodes.size();
    nest_.position.resize(kernel_.body.root->id + 1);  // sources have smaller ids
    size_t num_sources = 0;
    for (const UOp* u : nest_.nodes) num_sources += u->num_srcs;
    nest_.source_positions.resize(num_sources);
    nest_.first_source.resize(n);
    open_.resize(n);
    uint32_t next = 0;
    for (size_t p = 0; p < n; ++p) {
      const UOp* u = nest_.nodes[p];
      nest_.position[u->id] = static_cast<int>(p);
      nest_.first_source[p] = next;
      int open = 0;
      for (const UOp* source : u->srcs()) {
        const int s = nest_.at(source);
        nest_.source_positions[next++] = s;
        open = sets_.Union(open, open_[s]);
      }
      if (u->op == Op::kRange) {
        around_.push_back(open);
        open = sets_.With(open, static_cast<int>(ranges_.size()));
        ranges_.push_back(static_cast<int>(p));
      } else if (u->op == Op::kEnd) {
        ends_.push_back(p);
        open = sets_.Without(open, Closed(u));
      }
      open_[p] = open;
    }
  }

  absl::Status NestLoops() {
    std::vector<int> closings(ranges_.size(), 0);
    for (size_t p : ends_) {
      for (int r : Closed(nest_.nodes[p])) {
        around_[r] = sets_.Union(around_[r], open_[p]);
        ++closings[r];
      }
    }
    if (!CloseAround()) return Error("two ranges lie inside each other");
    // An `end` that closes several ranges does not determine their order. A range that must contain
    // another one is outside of it; otherwise the range that more `end`s share is outside;
    // otherwise the order is as listed, the outermost first.
    for (size_t p : ends_) {
      std::vector<int> closed = Closed(nest_.nodes[p]);
      if (closed.size() < 2) continue;
      std::stable_sort(closed.begin(), closed.end(), [&](int a, int b) {
        const size_t da = sets_[around_[a]].size(), db = sets_[around_[b]].size();
        return da != db ? da < db : closings[a] > closings[b];
      });
      for (size_t i = 1; i < closed.size(); ++i) {
        around_[closed[i]] = sets_.With(around_[closed[i]], closed[i - 1]);
      }
      if (!CloseAround()) return Error("two ranges lie inside each other");
    }
    return MakeTree();
  }

  // Computes the transitive closure. Returns false if a range would contain itself.
  bool CloseAround() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t r = 0; r < around_.size(); ++r) {
        int all = around_[r];
        for (int a : std::vector<int>(sets_[all])) all = sets_.Union(all, around_[a]);
        changed |= all != around_[r];
        around_[r] = all;
        if (sets_.Holds(all, static_cast<int>(r))) return false;
      }
    }
    return true;
  }

  absl::Status MakeTree() {
    std::vector<int> order(ranges_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    auto depth = [&](int r) { return sets_[around_[r]].size(); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return depth(a) < depth(b); });
    loop_of_.assign(ranges_.size(), 0);
    nest_.loops.emplace_back();
    for (int r : order) {
      Loop loop;
      loop.range = Range(r);
      loop.parent = 0;
      loop.depth = static_cast<int>(depth(r)) + 1;
      int last = -1;
      for (int a : sets_[around_[r]]) {
        if (nest_.loops[loop_of_[a]].depth != loop.depth - 1) continue;
        last = a;
        loop.parent = loop_of_[a];
      }
      if (depth(r) > 0 && (last < 0 || sets_.With(around_[last], last) != around_[r])) {
        return Error(absl::StrCat(RangeText(r), " lies in loops that do not hold each other"));
      }
      loop.runs = bounds_.Min(loop.range->src(0)) > 0;
      loop_of_[r] = static_cast<int>(nest_.loops.size());
      nest_.loops.push_back(std::move(loop));
    }
    return absl::OkStatus();
  }

  // The innermost loop of a set of open ranges; -1 if their loops do not contain each other.
  int LoopOf(int set) {
    int& loop = loop_of_set_[static_cast<size_t>(set)];
    if (loop == kUnknown) loop = FindLoopOf(set);
    return loop;
  }
  int FindLoopOf(int set) {
    if (set == 0) return 0;
    int inner = sets_[set][0];
    for (int r : sets_[set]) {
      if (nest_.loops[loop_of_[r]].depth > nest_.loops[loop_of_[inner]].depth) inner = r;
    }
    const int all = sets_.With(around_[inner], inner);
    return sets_.Union(all, set) == all ? loop_of_[inner] : -1;
  }

  absl::Status Place() {
    const size_t n = nest_.nodes.size();
    nest_.block.resize(n);
    nest_.opens.assign(n, -1);
    loop_of_set_.assign(sets_.size(), kUnknown);
    for (size_t p = 0; p < n; ++p) {
      const UOp* u = nest_.nodes[p];
      const int loop = LoopOf(open_[p]);
      if (loop < 0) {
        return Error(absl::StrCat(
            "a ", std::string(Mnemonic(u->op)), " depends on ", RangeText(sets_[open_[p]][0]),
            " and ", RangeText(sets_[open_[p]].back()), ", of which neither loop holds the other"));
      }
      nest_.block[p] = loop;
      if (u->op == Op::kRange) {
        nest_.opens[p] = loop;
        nest_.block[p] = nest_.loops[loop].parent;
      } else if (u->op == Op::kEnd && u->num_srcs > 1) {
        if (absl::Status s = PlaceEnd(static_cast<int>(p)); !s.ok()) return s;
      }
    }
    Hoist();
    return absl::OkStatus();
  }

  absl::Status PlaceEnd(int p) {
    int outer = -1;
    const std::vector<int> closed = Closed(nest_.nodes[p]);
    int inner_depth = 0;
    for (int r : closed) {
      Loop& loop = nest_.loops[loop_of_[r]];
      loop.ends.push_back(p);
      inner_depth = std::max(inner_depth, loop.depth);
      if (outer < 0 || loop.depth < nest_.loops[outer].depth) outer = loop_of_[r];
    }
    if (inner_depth - nest_.loops[outer].depth + 1 != static_cast<int>(closed.size())) {
      return Error("an end closes ranges with an open one between them");
    }
    nest_.opens[p] = outer;
    nest_.block[p] = nest_.loops[outer].parent;
    return absl::OkStatus();
  }

  // Chooses the block of each node between the outermost possible one, where it is now, and the
  // innermost block that contains all of its users. It stays outermost, except that a value that
  // depends on a load moves inward into loops that may have no iterations, unless the address of
  // the load is valid in any case or these loops overwrite what it reads. With shuffle_, it moves
  // inward by a random number of loops.
  void Hoist() {
    const auto runs = [](const Loop& loop) { return loop.runs; };
    if (!shuffle_ && std::all_of(nest_.loops.begin(), nest_.loops.end(), runs)) return;
    FindWrites();
    const std::vector<char> tainted = FindTainted();
    std::vector<int> users(nest_.nodes.size(), -1);  // the innermost loop that holds all users
    for (size_t p = nest_.nodes.size(); p-- > 0;) {
      const UOp* u = nest_.nodes[p];
      const int outermost = nest_.block[p];
      if (!IsPinned(u) && users[p] >= 0 && (tainted[p] || shuffle_)) {
        int at = users[p];
        while (at != outermost) {
          const bool may_stay = u->op != Op::kLoad || !Writes(at, MemoryOf(u->src(0)));
          const bool must_stay = tainted[p] && !nest_.loops[at].runs;
          if (may_stay && (must_stay || (shuffle_ && (*shuffle_)() % 2))) break;
          at = nest_.loops[at].parent;
        }
        nest_.block[p] = at;
        const bool is_read = u->op == Op::kLoad && tainted[p];
        for (int l = users[p]; is_read && l != at; l = nest_.loops[l].parent) {
          if (!nest_.loops[l].runs) nest_.early.push_back({static_cast<int>(p), l});
        }
      }
      const bool closes = u->op == Op::kEnd && u->num_srcs > 1;
      for (int s : nest_.sources(p)) {
        // The bound of a range must be computed outside of its loop; an `end` is in the block of
        // the loop around the one that it closes.
        int& where = users[s];
        const int mine =
            closes && nest_.nodes[s]->op != Op::kRange ? LoopOf(open_[s]) : nest_.block[p];
        where = where < 0 ? mine : nest_.Common(where, mine);
      }
    }
  }

  // Whether the load may be executed wherever its sources are: it depends on a store to the same
  // constant address of a scratch, without a gate, in a loop that the load is in.
  bool IsWritten(size_t p) const {
    const UOp* load = nest_.nodes[p];
    const UOp* address = load->src(0);
    if (address->op != Op::kIndex || address->num_srcs > 2 || !IsConst(address->src(1)))
      return false;
    if (MemoryOf(address)->op != Op::kScratch) return false;
    NodeSet seen;
    std::vector<const UOp*> stack = {address->src(0)};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (!u->dtype.is_void() && u->op != Op::kAfter && u->op != Op::kIndex) continue;
      if (!seen.Insert(u)) continue;
      const UOp* to = u->op == Op::kStore ? u->src(0) : nullptr;
      if (to && to->op == Op::kIndex && to->num_srcs == 2 && to->src(1) == address->src(1) &&
          MemoryOf(to) == MemoryOf(address) && u->src(1)->dtype.lanes() == load->dtype.lanes() &&
          ReachOf(u) == ReachOf(load) &&
          nest_.Common(nest_.block[nest_.at(u)], nest_.block[p]) == nest_.block[nest_.at(u)]) {
        return true;
      }
      stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
    }
    return false;
  }

  // By position: whether the value depends on a load whose address may be invalid.
  std::vector<char> FindTainted() const {
    std::vector<char> tainted(nest_.nodes.size(), 0);
    for (size_t p = 0; p < nest_.nodes.size(); ++p) {
      const UOp* u = nest_.nodes[p];
      if (u->dtype.is_void()) continue;
      tainted[p] = u->op == Op::kLoad && !IsWritten(p);
      for (int s : nest_.sources(p)) tainted[p] |= tainted[s];
    }
    return tainted;
  }

  // Computes writes_[loop]: the memories that the loop stores to. A load that does not depend on a
  // loop must not be moved into it if the loop overwrites the memory that it reads.
  void FindWrites() {
    writes_.resize(nest_.loops.size());
    for (size_t p = 0; p < nest_.nodes.size(); ++p) {
      const UOp* u = nest_.nodes[p];
      if (!WritesMemory(u->op)) continue;
      const UOp* base = MemoryOf(u->src(0));
      for (int l = nest_.block[p]; l > 0 && !Writes(l, base); l = nest_.loops[l].parent) {
        writes_[l].push_back(base);
      }
    }
  }
  bool Writes(int loop, const UOp* base) const {
    const auto& all = writes_[loop];
    return std::find(all.begin(), all.end(), base) != all.end();
  }

  const Kernel& kernel_;
  analysis::Bounds& bounds_;
  std::mt19937_64* shuffle_;
  Nest nest_;
  RangeSets sets_;
  std::vector<int> ranges_;   // positions
  std::vector<size_t> ends_;  // positions
  std::vector<int> open_;     // by position: the set of ranges that a user of the node is inside of
  std::vector<int> around_;   // by range: the set of ranges whose loops contain its loop
  std::vector<int> loop_of_;  // by range: its number in nest_.loops
  std::vector<std::vector<const UOp*>> writes_;
  static constexpr int kUnknown = -2;
  std::vector<int> loop_of_set_;  // by set: the cached result of FindLoopOf, or kUnknown
};

}  // namespace

int Nest::Common(int a, int b) const {
  while (a != b) {
    if (loops[a].depth < loops[b].depth) std::swap(a, b);
    a = loops[a].parent;
  }
  return a;
}

absl::StatusOr<Nest> FindLoops(const Kernel& kernel, analysis::Bounds& bounds,
                               std::mt19937_64* shuffle) {
  return Finder(kernel, bounds, shuffle).Run();
}

}  // namespace tg::linearize
