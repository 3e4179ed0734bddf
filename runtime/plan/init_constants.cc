#include "runtime/plan/init_constants.h"

#include <algorithm>
#include <map>

namespace tg::runtime {

std::vector<StepAccess> AccessesOf(const Executable& executable, const ScheduledGraph& graph) {
  std::multimap<int, const CompiledKernel*> kernels;  // of all devices
  for (const DeviceCode& device : executable.devices) {
    for (const CompiledKernel& k : device.kernels) kernels.emplace(k.kernel, &k);
  }
  std::vector<StepAccess> all;
  for (const ScheduledKernel& step : graph.steps) {
    StepAccess& access = all.emplace_back();
    if (step.is_copy()) {
      access = {{step.buffers[1].buffer}, {step.buffers[0].buffer}};
      continue;
    }
    const auto [first, last] = kernels.equal_range(step.kernel);
    for (auto k = first; k != last; ++k) {
      for (const codegen::KernelParam& p : k->second->code.params) {
        if (p.is_var) continue;
        const int buffer = step.buffers[static_cast<size_t>(p.slot)].buffer;
        if (p.reads) access.reads.insert(buffer);
        if (p.writes) access.writes.insert(buffer);
      }
    }
  }
  return all;
}

std::set<int> WrittenBy(const Executable& executable, const ScheduledGraph& graph) {
  std::set<int> written;
  for (const StepAccess& access : AccessesOf(executable, graph)) {
    written.insert(access.writes.begin(), access.writes.end());
  }
  return written;
}

bool IsInitKnown(const Executable& executable, const ScheduledGraph& init) {
  for (const int b : init.buffers) {
    const BufferDecl& decl = executable.buffers[static_cast<size_t>(b)];
    if (decl.role == Role::kInput || decl.role == Role::kOutput) return false;
    const bool has_contents = decl.values.has_value() || !decl.file.empty();
    if (decl.role == Role::kParam && !has_contents) return false;
    if (decl.role != Role::kTemp && !decl.dtype.is_value()) return false;
    for (const DeclDim& d : decl.shape) {
      if (d.is_symbolic()) return false;
    }
  }
  return std::all_of(init.vars.begin(), init.vars.end(), [&](int v) {
    const VarDecl& var = executable.vars[static_cast<size_t>(v)];
    return var.min == var.max;
  });
}

std::set<int> InitConstants(const Executable& executable) {
  const ScheduledGraph* init = FindGraph(executable, kInitGraph);
  if (init == nullptr || !IsInitKnown(executable, *init)) return {};
  std::set<int> states;
  for (const int b : WrittenBy(executable, *init)) {
    if (executable.buffers[static_cast<size_t>(b)].role != Role::kTemp) states.insert(b);
  }
  for (const ScheduledGraph& graph : executable.graphs) {
    if (&graph == init) continue;
    for (const int b : WrittenBy(executable, graph)) {
      if (states.contains(b)) return {};
    }
  }
  return states;
}

}  // namespace tg::runtime
