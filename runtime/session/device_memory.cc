#include "runtime/session/device_memory.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "runtime/base/available_memory.h"
#include "runtime/plan/temporaries.h"
#include "runtime/report/format.h"

namespace tg::runtime {
namespace {

// Buffers of a CPU are in the machine's memory, which other processes use too.
uint64_t AvailableOn(const DeviceMemory& device) {
  const DeviceInfo& info = device.context->info();
  const uint64_t own =
      info.global_memory - std::min<uint64_t>(info.global_memory, device.held.in_use_bytes);
  if (info.kind != DeviceKind::kCpu) return own;
  return std::min(own, AvailableMemory() + device.held.cached_bytes);
}

std::vector<std::pair<const VarDecl*, int64_t>> SizesOf(const Declarations& decls,
                                                        const GraphMemory& memory,
                                                        const VarMap& vars) {
  std::set<std::string> names;
  for (const auto& [buffer, bytes] : memory.buffers) {
    for (const DeclDim& dim : decls.buffers[static_cast<size_t>(buffer)].shape) {
      dim.ForEachVar([&](const std::string& name) { names.insert(name); });
    }
  }
  std::vector<std::pair<const VarDecl*, int64_t>> sizes;
  for (const VarDecl& var : decls.vars) {
    if (!names.contains(var.name) || var.min == var.max) continue;
    const auto value = vars.find(var.name);
    sizes.emplace_back(&var, value == vars.end() ? var.max : value->second);
  }
  return sizes;
}

}  // namespace

std::string MemoryShortage::ToString() const {
  const auto bytes = [](uint64_t n) { return FormatBytes(static_cast<double>(n)); };
  std::string text = Cat("graph @", graph, " needs ", bytes(needed_bytes), " of memory (",
                         bytes(temporary_bytes), " of it for temporaries) on ", device, ", where ",
                         bytes(available_bytes), " of ", bytes(device_bytes), " are available");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& [var, value] = sizes[i];
    text += Cat(i > 0 ? ", " : "; it was compiled for ", "@", var->name, " from ", var->min, " to ",
                var->max, " and has ", value);
  }
  return text;
}

absl::StatusOr<std::optional<MemoryShortage>> FindMemoryShortage(
    const Declarations& decls, std::span<const ScheduledGraph* const> graphs, const VarMap& vars,
    std::span<const DeviceMemory> devices, const NamedBuffers& allocated) {
  TG_ASSIGN_OR_RETURN(const auto by_name, MemoryOf(decls, graphs, vars));
  for (const DeviceMemory& device : devices) {
    GraphMemory memory;
    for (const std::string& name : device.names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;
      memory.stored_bytes += found->second.stored_bytes;
      memory.temporary_bytes += found->second.temporary_bytes;
      memory.buffers.insert(found->second.buffers.begin(), found->second.buffers.end());
    }
    for (const auto& [buffer, bytes] : memory.buffers) {
      const BufferDecl& decl = decls.buffers[static_cast<size_t>(buffer)];
      const auto existing = allocated.find(decl.name);
      if (existing == allocated.end() || existing->second->size() < bytes) continue;
      memory.stored_bytes -= bytes;
    }
    MemoryShortage shortage;
    shortage.needed_bytes = memory.stored_bytes + memory.temporary_bytes;
    shortage.available_bytes = AvailableOn(device);
    if (shortage.needed_bytes <= shortage.available_bytes) continue;
    shortage.graph = graphs[0]->name;
    shortage.device = device.context->name();
    shortage.temporary_bytes = memory.temporary_bytes;
    shortage.device_bytes = device.context->info().global_memory;
    shortage.sizes = SizesOf(decls, memory, vars);
    return shortage;
  }
  return std::nullopt;
}

}  // namespace tg::runtime
