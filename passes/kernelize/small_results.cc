#include "passes/kernelize/small_results.h"

#include <algorithm>
#include <map>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "passes/kernelize/in_place_groups.h"
#include "passes/kernelize/waits.h"

namespace tg::kernelize {
namespace {

// With more arguments, a kernel takes longer to compile and saves little.
constexpr size_t kMostBuffers = 64;

// By group: whether a kernel outside of it, or an assign that has no kernel, waits for a member.
std::vector<bool> AwaitedGroups(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order,
                                const std::vector<std::vector<size_t>>& groups) {
  std::vector<size_t> group_of(drafts.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const size_t i : groups[g]) group_of[i] = g;
  }
  std::vector<bool> awaited(groups.size());
  const Waits waits(drafts, order);
  for (size_t v = 0; v < waits.before().size(); ++v) {
    for (const size_t i : waits.before()[v]) {
      if (i >= drafts.size()) continue;
      const bool inside = v < drafts.size() && group_of[v] == group_of[i];
      if (!inside) awaited[group_of[i]] = true;
    }
  }
  for (const UOp* w : order.writers) {
    for (const size_t i : order.stored.Get(w)) awaited[group_of[i]] = true;
  }
  return awaited;
}

// How many buffers a kernel of these drafts has.
size_t NumBuffers(const std::vector<KernelDraft>& drafts, const std::vector<size_t>& group) {
  NodeSet all;
  size_t count = 0;
  for (const size_t i : group) {
    for (const UOp* u : drafts[i].inputs) count += all.Insert(u) ? 1 : 0;
    for (const UOp* u : drafts[i].targets) count += !u || all.Insert(u) ? 1 : 0;
  }
  return count;
}

}  // namespace

void JoinSmallResults(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order,
                      Placement& placement, ShapeMap& shapes, const passes::Target& target,
                      int64_t max_inputs, std::vector<std::vector<size_t>>& groups) {
  const std::vector<bool> awaited = AwaitedGroups(drafts, order, groups);
  const size_t most =
      max_inputs == 0 ? kMostBuffers : std::min(kMostBuffers, static_cast<size_t>(max_inputs));
  // By device and shape: the group that others of the same key join while buffers are left.
  std::map<std::pair<int64_t, std::vector<int64_t>>, size_t> open;
  for (size_t g = 0; g < groups.size(); ++g) {
    const bool small = llvm::all_of(groups[g], [&](size_t i) {
      return drafts[i].reads_target && IsElementwiseDraft(drafts[i], shapes) &&
             NumElements(shapes.Of(drafts[i].nodes[0])) <= target.small_grid;
    });
    if (awaited[g] || !small || groups[g].size() < 2) continue;
    const KernelDraft& first = drafts[groups[g][0]];
    std::vector<int64_t> shape;
    for (const Dim& dim : shapes.Of(first.nodes[0])) shape.push_back(dim.value());
    const auto [place, is_new] =
        open.try_emplace({placement.Of(first.nodes[0]), std::move(shape)}, g);
    if (is_new) continue;
    std::vector<size_t> all = groups[place->second];
    all.insert(all.end(), groups[g].begin(), groups[g].end());
    if (NumBuffers(drafts, all) > most) {
      place->second = g;
      continue;
    }
    llvm::sort(all);
    groups[place->second] = std::move(all);
    groups[g].clear();
  }
  llvm::erase_if(groups, [](const std::vector<size_t>& group) { return group.empty(); });
}

}  // namespace tg::kernelize
