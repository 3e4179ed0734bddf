#include "runtime/plan/input_dependence.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "ir/interpret/kernel.h"
#include "ir/walk.h"

namespace tg::runtime {
namespace {

// Adds the names of the buffers that the graph writes.
void AddWritten(const Graph& graph, std::set<std::string_view>& written) {
  const tg::Context& context = *graph.body.context;
  const auto name = [&](int64_t word) { return context.String(static_cast<StringId>(word)); };
  for (const UOp* u : PostOrder(graph.body.root)) {
    if (u->op == Op::kAssign) written.insert(name(BufferOf(u->src(0))->word()));
    if (u->op != Op::kSink) continue;
    for (const int64_t target : u->list()) {
      if (target) written.insert(name(target));
    }
  }
}

}  // namespace

std::vector<bool> StepsThatDependOnInput(const Module& module,
                                         std::span<const ScheduledKernel> schedule,
                                         std::span<const ScheduledLoop> loops) {
  // A state that @init alone writes is a constant of the other graphs.
  std::set<std::string_view> by_init, by_others, counters;
  for (const auto& graph : module.graphs) {
    AddWritten(*graph, graph->name == kInitGraph ? by_init : by_others);
  }
  for (const ScheduledLoop& loop : loops) counters.insert(loop.step);
  std::vector<bool> depends;  // by buffer
  for (const BufferDecl& b : module.buffers) {
    const bool is_constant = by_init.contains(b.name) && !by_others.contains(b.name);
    depends.push_back(b.role == Role::kInput || (b.role == Role::kState && !is_constant));
  }
  std::vector<bool> steps(schedule.size(), false);
  const auto visit = [&](size_t at) {
    const ScheduledKernel& step = schedule[at];
    const size_t n = step.buffers.size();
    // A copy writes its first operand.
    std::vector<bool> stored(n, false);
    if (!step.is_copy()) {
      const Kernel& kernel = *module.kernels[static_cast<size_t>(step.kernel)];
      stored = interpret::StoredSlots(kernel, n);
      stored.resize(n, false);
    } else if (n > 0) {
      stored[0] = true;
    }
    bool is_reached =
        steps[at] || std::any_of(step.vars.begin(), step.vars.end(), [&](const VarUse& var) {
          return !var.bound && !counters.contains(var.name);
        });
    for (size_t i = 0; i < n; ++i) {
      if (!stored[i] && depends[static_cast<size_t>(step.buffers[i].buffer)]) is_reached = true;
    }
    for (size_t i = 0; i < n; ++i) {
      // A part that no input reaches leaves the rest of the buffer as it was.
      if (stored[i] && is_reached) depends[static_cast<size_t>(step.buffers[i].buffer)] = true;
    }
    steps[at] = is_reached;
  };
  // An iteration reads what an earlier one wrote: repeated until no pair of buffers changes.
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < schedule.size(); ++i) visit(i);
    for (const ScheduledLoop& loop : loops) {
      for (const auto& [first, second] : loop.pairs) {
        if (!depends[static_cast<size_t>(second)] || depends[static_cast<size_t>(first)]) continue;
        changes = depends[static_cast<size_t>(first)] = true;
      }
    }
  }
  return steps;
}

}  // namespace tg::runtime
