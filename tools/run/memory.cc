#include "tools/run/memory.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "runtime/base/available_memory.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/temporaries.h"
#include "runtime/report/format.h"

namespace tg::run {
namespace {

// `text`, and the options that give sizes to variables which no file decides.
absl::Status TooLarge(const std::string& text, std::span<const VarDecl* const> vars,
                      const SizeOptions& options) {
  std::string advice;
  for (const VarDecl* var : vars) {
    if (options.fixed.contains(var->name)) continue;
    const auto named = options.dimensions.find(var->name);
    advice += Cat(advice.empty() ? "; " : " ",
                  "--var=", named == options.dimensions.end() ? var->name : named->second, "=",
                  std::max<int64_t>(var->min, 1));
  }
  if (!advice.empty()) advice += " makes it smaller";
  return absl::ResourceExhaustedError(text + advice);
}

}  // namespace

absl::Status CheckRandomInputs(const Module& module, std::span<const BufferDecl* const> buffers,
                               const runtime::VarMap& vars, const SizeOptions& options) {
  double bytes = 0;
  std::vector<const VarDecl*> open;
  for (const BufferDecl* buffer : buffers) {
    TG_ASSIGN_OR_RETURN(const size_t size, runtime::BufferBytes(module, *buffer, vars));
    bytes += static_cast<double>(size);
    for (const DeclDim& dim : buffer->shape) {
      dim.ForEachVar([&](const std::string& name) {
        const VarDecl* var = module.FindVar(name);
        const bool is_new = std::find(open.begin(), open.end(), var) == open.end();
        if (!vars.contains(name) && is_new) open.push_back(var);
      });
    }
  }
  const auto available = static_cast<double>(runtime::AvailableMemory());
  if (bytes <= available) return absl::OkStatus();
  std::string text = Cat("random inputs take ", runtime::FormatBytes(bytes), " of memory, where ",
                         runtime::FormatBytes(available), " are available");
  for (const VarDecl* var : open) {
    text += Cat(var == open[0] ? "; random inputs have " : ", ", "@", var->name, " = ", var->max);
  }
  return TooLarge(text, open, options);
}

absl::Status CheckDeviceMemory(const Module& compiled, const Graph& graph,
                               const runtime::VarMap& vars,
                               std::span<const runtime::DeviceMemory> devices,
                               const SizeOptions& options) {
  // A graph that cannot be planned is an error when it is run.
  const absl::StatusOr<std::vector<runtime::ScheduledGraph>> graphs =
      runtime::ScheduleRun(compiled, graph);
  if (!graphs.ok()) return absl::OkStatus();
  const absl::StatusOr<std::optional<runtime::MemoryShortage>> shortage =
      runtime::FindMemoryShortage(compiled, runtime::AddressesOf(*graphs), vars, devices);
  if (!shortage.ok() || !shortage->has_value()) return absl::OkStatus();
  std::vector<const VarDecl*> open;
  for (const auto& [var, value] : (*shortage)->sizes) open.push_back(var);
  return TooLarge((*shortage)->ToString(), open, options);
}

}  // namespace tg::run
