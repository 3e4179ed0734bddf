#include "passes/kernelize/siblings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "passes/kernelize/concatenate.h"
#include "passes/kernelize/contractions.h"
#include "passes/kernelize/in_place_groups.h"
#include "passes/kernelize/prepare.h"
#include "passes/kernelize/small_results.h"
#include "passes/kernelize/versions.h"
#include "passes/kernelize/waits.h"

namespace tg::kernelize {
namespace {

// Slices are mostly copies, so only the number of arguments limits them.
constexpr size_t kMaxSlices = 64;

bool Shares(const std::vector<const UOp*>& a, const std::vector<const UOp*>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const UOp* u) { return std::find(b.begin(), b.end(), u) != b.end(); });
}

// Whether the draft stores all of a buffer.
bool WritesWhole(const KernelDraft& d) {
  return !d.targets[0] || IsWholeMemory(d.nodes[0]->src(0));
}

// Whether the draft stores a part of a buffer and reads nothing of the buffer.
bool WritesPart(const KernelDraft& d) {
  return d.targets[0] && !d.reads_target &&
         std::none_of(d.inputs.begin(), d.inputs.end(), [&](const UOp* u) {
           return IsVersion(u) && BufferOf(u) == BufferOf(d.targets[0]);
         });
}

// The slice of a buffer that the draft stores, if it reads nothing of that slice. A kernel may
// store many slices, unless they are sums.
std::optional<Slice> StoredSlice(const KernelDraft& d) {
  const bool plain =
      d.nodes.size() == 1 && d.targets[0] && !d.copy && !d.reads_target && d.reduce_terms.empty();
  return plain ? SliceOf(d.nodes[0]->src(0)) : std::nullopt;
}

// Moves slices of one value that become ready one after the other to the level of the last of them,
// since a reader of the value waits for all. `pieces`: assigns of such slices. A slice keeps its
// level if another kernel that overwrites its inputs waits for it.
void DelaySlices(const std::vector<KernelDraft>& drafts,
                 const std::vector<std::optional<Slice>>& slices, const NodeSet& pieces,
                 const WriteAfterRead& order, std::vector<size_t>& level) {
  std::vector<bool> awaited(slices.size());
  for (const std::vector<size_t>& readers : order.drafts) {
    for (size_t r : readers) awaited[r] = true;
  }
  for (const UOp* w : order.writers) {
    for (size_t r : order.stored.Get(w)) awaited[r] = true;
  }
  NodeMap<size_t> last;
  for (size_t i = 0; i < slices.size(); ++i) {
    awaited[i] = awaited[i] || !slices[i] || !pieces.Contains(drafts[i].nodes[0]);
    if (awaited[i]) continue;
    size_t& of = last[slices[i]->of];
    of = std::max(of, level[i]);
  }
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!awaited[i]) level[i] = last.Get(slices[i]->of);
  }
}

// Whether the draft's kernel is scheduled as a tile of matrix instructions, which takes one
// product.
bool IsMatrixTile(const KernelDraft& d, ShapeMap& shapes, const passes::Target& target) {
  if (!target.HasMatrixInstructions() || d.reduce_terms.empty()) return false;
  std::vector<const UOp*> stack = d.nodes;
  NodeSet seen;
  for (const UOp* u : d.inputs) seen.Insert(u);
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.Insert(u)) continue;
    if (u->op == Op::kReduceAxis) {
      return static_cast<Op>(u->word()) == Op::kAdd && IsMatrixProduct(u->src(0), shapes);
    }
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return false;
}

bool WriteOneBuffer(const KernelDraft& a, const KernelDraft& b) {
  return a.targets[0] && b.targets[0] && BufferOf(a.targets[0]) == BufferOf(b.targets[0]);
}

// Whether `b` reads another version of the buffer that `a` stores a part of. A kernel sees one
// version of a buffer, also if the parts are disjoint.
bool ReadsAnotherVersion(const KernelDraft& a, const KernelDraft& b) {
  const UOp* target = a.targets[0];
  return target && std::any_of(b.inputs.begin(), b.inputs.end(), [&](const UOp* u) {
           return u != target && IsVersion(u) && BufferOf(u) == BufferOf(target);
         });
}

}  // namespace

std::vector<std::vector<size_t>> FindSiblings(const std::vector<KernelDraft>& drafts,
                                              const MaterializationPlan& plan,
                                              const NodeSet& pieces, const WriteAfterRead& order,
                                              Placement& placement, ShapeMap& shapes,
                                              const passes::Target& target,
                                              const MaterializationOptions& options) {
  std::vector<size_t> level = Waits(drafts, order).Levels();
  std::vector<std::optional<Slice>> slices;  // by draft
  for (const KernelDraft& d : drafts) slices.push_back(StoredSlice(d));
  DelaySlices(drafts, slices, pieces, order, level);
  std::vector<std::vector<size_t>> groups;
  std::vector<bool> has_group(drafts.size());
  if (options.fuse) {
    groups = FindInPlaceGroups(drafts, order, placement, shapes, kMaxSiblings, options.max_inputs,
                               level);
    for (const std::vector<size_t>& group : groups) {
      for (const size_t i : group) has_group[i] = true;
    }
  }
  std::vector<std::vector<const UOp*>> inputs(groups.size());  // by group
  std::map<std::pair<size_t, std::vector<int64_t>>, std::vector<size_t>> places;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (has_group[i]) continue;
    const KernelDraft& d = drafts[i];
    const Shape& rows = plan.Of(d.nodes[0]).rows;
    const Shape& shape = rows.empty() ? shapes.Of(d.nodes[0]) : rows;
    size_t joined = SIZE_MAX;
    const std::optional<Slice>& slice = slices[i];
    if (options.fuse && d.nodes.size() == 1 && (slice || WritesWhole(d) || WritesPart(d)) &&
        !d.copy && IsStatic(shape) && !IsMatrixTile(d, shapes, target)) {
      // The key that the drafts of a group have in common: the level, the device, the shape, the
      // reduces. On a GPU also whether the work-items of a group may share the reduces, which they
      // may not in a kernel that overwrites what it reads.
      std::vector<int64_t> key = {placement.Of(d.nodes[0])};
      for (const Dim& dim : shape) key.push_back(dim.value());
      key.push_back(-1);
      // Siblings do the same amount of work for a result.
      key.insert(key.end(), d.reduce_terms.begin(), d.reduce_terms.end());
      key.push_back(target.HidesWaits() && d.reads_target && !d.reduce_terms.empty() ? 1 : 0);
      if (slice) key.insert(key.end(), {-1, slice->of->id});
      std::vector<size_t>& here = places[{level[i], std::move(key)}];
      // Slices of one value are taken in order; if the last group has no arguments left, another
      // one begins.
      const size_t from = slice && !here.empty() ? here.size() - 1 : 0;
      for (size_t g : llvm::ArrayRef(here).drop_front(from)) {
        if (groups[g].size() >= (slice ? kMaxSlices : kMaxSiblings)) continue;
        if (!slice && !Shares(inputs[g], d.inputs)) continue;
        std::vector<const UOp*> all = inputs[g];
        for (const UOp* u : d.inputs) {
          if (std::find(all.begin(), all.end(), u) == all.end()) all.push_back(u);
        }
        const bool fits = std::all_of(groups[g].begin(), groups[g].end(), [&](size_t k) {
          if (ReadsAnotherVersion(drafts[k], d) || ReadsAnotherVersion(d, drafts[k])) return false;
          return slice ? AreDisjoint(slices[k]->ranges, slice->ranges)
                       : !WriteOneBuffer(drafts[k], d);
        });
        const size_t arguments = all.size() + (slice ? 1 : 0);
        const int64_t most = options.max_inputs == 0 && slice ? kMaxSlices : options.max_inputs;
        if (!fits || (most != 0 && static_cast<int64_t>(arguments) > most)) continue;
        groups[g].push_back(i);
        inputs[g] = std::move(all);
        joined = g;
        break;
      }
      if (joined == SIZE_MAX) here.push_back(groups.size());
    }
    if (joined != SIZE_MAX) continue;
    groups.push_back({i});
    inputs.push_back(d.inputs);
  }
  if (options.fuse) {
    JoinSmallResults(drafts, order, placement, shapes, target, options.max_inputs, groups);
  }
  return groups;
}

WriteAfterRead OrderOfGroups(const std::vector<std::vector<size_t>>& groups,
                             const WriteAfterRead& order) {
  std::vector<size_t> group_of(order.drafts.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i : groups[g]) group_of[i] = g;
  }
  const auto add = [&](std::vector<size_t>& to, const std::vector<size_t>& from) {
    for (size_t i : from) {
      if (std::find(to.begin(), to.end(), group_of[i]) == to.end()) to.push_back(group_of[i]);
    }
  };
  WriteAfterRead out;
  out.drafts.resize(groups.size());
  for (size_t i = 0; i < order.drafts.size(); ++i) add(out.drafts[group_of[i]], order.drafts[i]);
  // A kernel does not wait for itself: it reads what it overwrites first.
  for (size_t g = 0; g < groups.size(); ++g) std::erase(out.drafts[g], g);
  for (const UOp* w : order.writers) add(out.stored[w], order.stored.Get(w));
  out.writers = order.writers;
  return out;
}

}  // namespace tg::kernelize
