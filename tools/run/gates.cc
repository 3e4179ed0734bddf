#include "tools/run/gates.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/temporaries.h"
#include "runtime/report/format.h"
#include "runtime/session/tensors.h"

namespace tg::run {
namespace {

using runtime::FormatBytes;
using runtime::ScheduledKernel;

constexpr size_t kMaxListed = 5;  // kernels or buffers that a message names

std::string KernelText(const Kernel& kernel) {
  std::string made_of;
  for (const std::string& what : kernel.metadata) made_of += Cat(made_of.empty() ? "" : ", ", what);
  return made_of.empty() ? kernel.name : Cat(kernel.name, " [", made_of, "]");
}

absl::Status CheckKernels(const Module& module, const runtime::ScheduledGraph& graph,
                          int64_t most) {
  int64_t count = 0;
  std::string beyond;
  for (const ScheduledKernel& item : graph.steps) {
    if (item.is_copy() || ++count <= most) continue;
    if (count > most + static_cast<int64_t>(kMaxListed)) continue;
    beyond += Cat(beyond.empty() ? "" : ", ", count, " ",
                  KernelText(*module.kernels[static_cast<size_t>(item.kernel)]));
  }
  if (count <= most) return absl::OkStatus();
  const int64_t unnamed = count - most - static_cast<int64_t>(kMaxListed);
  if (unnamed > 0) beyond += Cat(", and ", unnamed, " more");
  return absl::FailedPreconditionError(
      Cat("graph @", graph.name, " runs ", count, count == 1 ? " kernel" : " kernels",
          ", more than --max-kernels=", most, "; beyond it: ", beyond));
}

absl::Status CheckMemory(const Module& module, std::span<const runtime::ScheduledGraph> graphs,
                         const Gates& gates) {
  const std::vector<const runtime::ScheduledGraph*> all = runtime::AddressesOf(graphs);
  TG_ASSIGN_OR_RETURN(const auto by_device, runtime::MemoryOf(module, all));
  std::map<int, size_t> sizes;  // by buffer
  size_t stored = 0, temporary = 0;
  for (const auto& [device, memory] : by_device) {
    stored += memory.stored_bytes;
    temporary += memory.temporary_bytes;
    sizes.insert(memory.buffers.begin(), memory.buffers.end());
  }
  if (stored + temporary <= static_cast<size_t>(*gates.max_memory_bytes)) return absl::OkStatus();
  std::vector<std::pair<size_t, int>> largest;
  for (const auto& [buffer, bytes] : sizes) largest.emplace_back(bytes, buffer);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto bytes = [](size_t n) { return FormatBytes(static_cast<double>(n)); };
  std::string list;
  for (size_t i = 0; i < std::min(largest.size(), kMaxListed); ++i) {
    const BufferDecl& buffer = module.buffers[static_cast<size_t>(largest[i].second)];
    list += Cat(i > 0 ? ", " : "", RoleName(buffer.role), " @", buffer.name, " ",
                runtime::DeclaredType(buffer), " ", bytes(largest[i].first));
  }
  return absl::FailedPreconditionError(
      Cat("the buffers of graph @", graphs[0].name, " take ", bytes(stored + temporary), " (",
          bytes(temporary), " of temporaries), more than --max-memory=", gates.max_memory_text,
          "; the largest: ", list));
}

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  constexpr std::array<std::pair<std::string_view, double>, 14> kUnits = {{{"", 1},
                                                                           {"b", 1},
                                                                           {"k", 1e3},
                                                                           {"kb", 1e3},
                                                                           {"m", 1e6},
                                                                           {"mb", 1e6},
                                                                           {"g", 1e9},
                                                                           {"gb", 1e9},
                                                                           {"t", 1e12},
                                                                           {"tb", 1e12},
                                                                           {"kib", 0x1p10},
                                                                           {"mib", 0x1p20},
                                                                           {"gib", 0x1p30},
                                                                           {"tib", 0x1p40}}};
  const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                  [&](const auto& entry) { return entry.first == unit; });
  const double bytes = found == kUnits.end() ? -1 : number * found->second;
  if (error != std::errc() || !(bytes >= 0 && bytes < 0x1p62)) {
    return InvalidArgument("'", text, "' is not a size such as 65536, 64MB or 1.5GiB");
  }
  return static_cast<int64_t>(bytes);
}

absl::Status CheckGates(const Module& module, const Graph& graph, const Gates& gates) {
  if (!gates.max_kernels && !gates.max_memory_bytes) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(const std::vector<runtime::ScheduledGraph> graphs,
                      runtime::ScheduleRun(module, graph));
  if (gates.max_kernels) {
    TG_RETURN_IF_ERROR(CheckKernels(module, graphs[0], *gates.max_kernels));
  }
  return gates.max_memory_bytes ? CheckMemory(module, graphs, gates) : absl::OkStatus();
}

}  // namespace tg::run
