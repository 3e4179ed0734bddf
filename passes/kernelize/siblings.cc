#include "passes/kernelize/siblings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "passes/kernelize/versions.h"
#include "passes/kernelize/waits.h"

namespace tg {
namespace {

// A kernel of more results is no faster, only longer: queries, keys, values and a gate are four.
// Eight products of one shape are two calls of one kernel, which is compiled in half the time.
constexpr size_t kMostSiblings = 4;

bool Shares(const std::vector<const UOp*>& a, const std::vector<const UOp*>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const UOp* u) { return std::find(b.begin(), b.end(), u) != b.end(); });
}

// Whether the draft stores all of a buffer.
bool WritesWhole(const KernelDraft& d) {
  return !d.targets[0] || IsWholeMemory(d.nodes[0]->src(0));
}

bool WriteOneBuffer(const KernelDraft& a, const KernelDraft& b) {
  return a.targets[0] && b.targets[0] && BufferOf(a.targets[0]) == BufferOf(b.targets[0]);
}

}  // namespace

std::vector<std::vector<size_t>> FindSiblings(const std::vector<KernelDraft>& drafts,
                                              const RealizePlan& plan, const WriteAfterRead& order,
                                              Placement& placement, ShapeMap& shapes,
                                              const Target& target, const RealizeOptions& options) {
  const std::vector<size_t> level = Waits(drafts, order).Levels();
  std::vector<std::vector<size_t>> groups;
  std::vector<std::vector<const UOp*>> inputs;  // by group
  std::map<std::pair<size_t, std::vector<int64_t>>, std::vector<size_t>> places;
  for (size_t i = 0; i < drafts.size(); ++i) {
    const KernelDraft& d = drafts[i];
    const Shape& rows = plan.realized[i].rows;
    const Shape& shape = rows.empty() ? shapes.Of(d.nodes[0]) : rows;
    size_t joined = SIZE_MAX;
    if (options.fuse && WritesWhole(d) && !d.copy && IsStatic(shape)) {
      // What must be equal: the level, the device, the shape, the reduces; and on a GPU, whether
      // the work-items of a group may share these, which those who overwrite what they read do not.
      std::vector<int64_t> key = {placement.Of(d.nodes[0])};
      for (const Dim& dim : shape) key.push_back(dim.value());
      key.push_back(-1);
      // Siblings do the same amount of work for a result.
      key.insert(key.end(), d.reduce_terms.begin(), d.reduce_terms.end());
      key.push_back(target.is_gpu && d.reads_target && !d.reduce_terms.empty() ? 1 : 0);
      std::vector<size_t>& here = places[{level[i], std::move(key)}];
      for (size_t g : here) {
        std::vector<const UOp*> all = inputs[g];
        for (const UOp* u : d.inputs) {
          if (std::find(all.begin(), all.end(), u) == all.end()) all.push_back(u);
        }
        const bool apart = std::none_of(groups[g].begin(), groups[g].end(),
                                        [&](size_t k) { return WriteOneBuffer(drafts[k], d); });
        const bool fits =
            options.max_inputs == 0 || static_cast<int64_t>(all.size()) <= options.max_inputs;
        if (!Shares(inputs[g], d.inputs) || groups[g].size() >= kMostSiblings || !fits || !apart)
          continue;
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
  for (const UOp* w : order.writers) add(out.stored[w], order.stored.Get(w));
  out.writers = order.writers;
  return out;
}

}  // namespace tg
