#include "passes/kernelize/in_place_groups.h"

#include <algorithm>
#include <numeric>

#include "ir/op_groups.h"
#include "passes/kernelize/prepare.h"
#include "passes/kernelize/versions.h"
#include "passes/kernelize/waits.h"

namespace tg::kernelize {
namespace {

// Whether the draft reads of `version` the element that it computes, and nothing else of its
// buffer.
bool ReadsInPlace(const KernelDraft& d, const UOp* version) {
  NodeSet leaves, seen, seen_moved;
  for (const UOp* u : d.inputs) {
    if (u != version && IsVersion(u) && BufferOf(u) == BufferOf(version)) return false;
    leaves.Insert(u);
  }
  std::vector<const UOp*> stack = {ComputedValue(d.nodes[0])};
  std::vector<const UOp*> moved;  // what is read at another place
  while (!stack.empty() || !moved.empty()) {
    const bool is_moved = stack.empty();
    std::vector<const UOp*>& from = is_moved ? moved : stack;
    const UOp* u = from.back();
    from.pop_back();
    if (u == version) {
      if (is_moved) return false;
      continue;
    }
    if (!(is_moved ? seen_moved : seen).Insert(u)) continue;
    if (leaves.Contains(u) || IsStored(u)) continue;
    std::vector<const UOp*>& to = is_moved || !IsElementwise(u->op) ? moved : stack;
    to.insert(to.end(), u->srcs().begin(), u->srcs().end());
  }
  return true;
}

bool HasFewArguments(const std::vector<KernelDraft>& drafts, const std::vector<size_t>& members,
                     int64_t max_inputs) {
  NodeSet all;
  int64_t count = 0;
  for (const size_t m : members) {
    for (const UOp* u : drafts[m].inputs) count += all.Insert(u) ? 1 : 0;
    count += drafts[m].targets[0] && !all.Insert(drafts[m].targets[0]) ? 0 : 1;
  }
  return max_inputs == 0 || count <= max_inputs;
}

// Whether one kernel may hold both, of which `w` overwrites what `r` reads.
bool Fits(const KernelDraft& w, const KernelDraft& r, Placement& placement, ShapeMap& shapes) {
  return IsElementwiseDraft(r, shapes) && shapes.Of(w.nodes[0]) == shapes.Of(r.nodes[0]) &&
         placement.Of(w.nodes[0]) == placement.Of(r.nodes[0]) &&
         (!r.targets[0] || BufferOf(r.targets[0]) != BufferOf(w.targets[0])) &&
         ReadsInPlace(r, w.targets[0]);
}

class Grouper {
 public:
  Grouper(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order, Placement& placement,
          ShapeMap& shapes, size_t max_members, int64_t max_inputs, std::vector<size_t>& level)
      : drafts_(drafts),
        order_(order),
        placement_(placement),
        shapes_(shapes),
        max_members_(max_members),
        max_inputs_(max_inputs),
        level_(level),
        waits_(drafts, WithoutReaders(order)),
        group_of_(drafts.size()) {
    std::iota(group_of_.begin(), group_of_.end(), size_t{0});
    for (size_t i = 0; i < drafts.size(); ++i) groups_.push_back({i});
    for (const std::vector<size_t>& together : order.together) {
      for (const size_t i : together) {
        groups_[i].clear();
        group_of_[i] = together[0];
      }
      groups_[together[0]] = together;
    }
  }

  std::vector<std::vector<size_t>> Run() {
    std::vector<size_t> writers;
    for (size_t i = 0; i < drafts_.size(); ++i) {
      const bool waits =
          !order_.drafts[i].empty() && drafts_[i].targets[0] && groups_[group_of_[i]].size() == 1;
      if (waits && IsElementwiseDraft(drafts_[i], shapes_)) writers.push_back(i);
    }
    // A writer's readers may be writers too, which have less before them.
    std::stable_sort(writers.begin(), writers.end(),
                     [&](size_t a, size_t b) { return level_[a] < level_[b]; });
    for (const size_t writer : writers) Join(writer);
    std::vector<std::vector<size_t>> found;
    for (std::vector<size_t>& group : groups_) {
      if (group.size() < 2) continue;
      std::sort(group.begin(), group.end());
      found.push_back(std::move(group));
    }
    return found;
  }

 private:
  static WriteAfterRead WithoutReaders(const WriteAfterRead& order) {
    WriteAfterRead rest;
    rest.drafts.resize(order.drafts.size());
    rest.stored = order.stored;
    rest.writers = order.writers;
    return rest;
  }

  // Puts the writer into the group of its last readers.
  void Join(size_t writer) {
    size_t level = 0;
    for (const size_t r : order_.drafts[writer]) level = std::max(level, level_[r]);
    if (level >= level_[writer] || !IsReadyAt(writer, level)) return;
    std::vector<size_t> members = {writer};
    for (const size_t r : order_.drafts[writer]) {
      if (level_[r] != level) continue;
      if (!Fits(drafts_[writer], drafts_[r], placement_, shapes_)) return;
      for (const size_t m : groups_[group_of_[r]]) {
        if (std::find(members.begin(), members.end(), m) == members.end()) members.push_back(m);
      }
    }
    if (members.size() > max_members_ || !HasFewArguments(drafts_, members, max_inputs_)) {
      return;
    }
    level_[writer] = level;
    for (const size_t m : members) {
      groups_[group_of_[m]].clear();
    }
    for (const size_t m : members) group_of_[m] = writer;
    groups_[writer] = std::move(members);
  }

  // Whether all that the writer waits for, but for the readers, is below the level.
  bool IsReadyAt(size_t writer, size_t level) const {
    std::vector<size_t> stack = waits_.before()[writer];
    std::vector<size_t> joins;  // visited
    while (!stack.empty()) {
      const size_t v = stack.back();
      stack.pop_back();
      if (v < drafts_.size()) {
        if (level_[v] >= level) return false;
      } else if (std::find(joins.begin(), joins.end(), v) == joins.end()) {
        joins.push_back(v);
        stack.insert(stack.end(), waits_.before()[v].begin(), waits_.before()[v].end());
      }
    }
    return true;
  }

  const std::vector<KernelDraft>& drafts_;
  const WriteAfterRead& order_;
  Placement& placement_;
  ShapeMap& shapes_;
  const size_t max_members_;
  const int64_t max_inputs_;
  std::vector<size_t>& level_;
  const Waits waits_;
  std::vector<size_t> group_of_;
  std::vector<std::vector<size_t>> groups_;
};

}  // namespace

bool IsElementwiseDraft(const KernelDraft& d, ShapeMap& shapes) {
  return d.nodes.size() == 1 && !d.copy && d.reduce_terms.empty() && d.vars.empty() &&
         IsStatic(shapes.Of(d.nodes[0])) && (!d.targets[0] || IsWholeMemory(d.nodes[0]->src(0)));
}

bool CanUpdateTogether(const std::vector<KernelDraft>& drafts, const std::vector<size_t>& members,
                       Placement& placement, ShapeMap& shapes, size_t max_members,
                       int64_t max_inputs) {
  if (members.size() > max_members) return false;
  for (const size_t w : members) {
    if (!drafts[w].targets[0]) return false;
    for (const size_t r : members) {
      if (r == w ? !IsElementwiseDraft(drafts[r], shapes)
                 : !Fits(drafts[w], drafts[r], placement, shapes)) {
        return false;
      }
    }
  }
  return HasFewArguments(drafts, members, max_inputs);
}

std::vector<std::vector<size_t>> FindInPlaceGroups(const std::vector<KernelDraft>& drafts,
                                                   const WriteAfterRead& order,
                                                   Placement& placement, ShapeMap& shapes,
                                                   size_t max_members, int64_t max_inputs,
                                                   std::vector<size_t>& level) {
  const bool has_readers = std::any_of(order.drafts.begin(), order.drafts.end(),
                                       [](const auto& readers) { return !readers.empty(); });
  if (!has_readers && order.together.empty()) return {};
  return Grouper(drafts, order, placement, shapes, max_members, max_inputs, level).Run();
}

}  // namespace tg::kernelize
