#include "runtime/session/choose_devices.h"

#include <algorithm>

#include "base/status.h"
#include "ir/devices.h"

namespace tg::runtime {
namespace {

// Names the first declaration that requests the device: "m.uop:7: buffer @w is on device 'gpu'".
std::string WhoAsksFor(const Module& module, std::string_view name) {
  const auto at = [&](Location loc) {
    return loc.line > 0 ? Cat(module.path, module.path.empty() ? "line " : ":", loc.line, ": ")
                        : std::string();
  };
  for (const BufferDecl& buffer : module.buffers) {
    if (buffer.device != name) continue;
    return Cat(at(buffer.loc), "buffer @", buffer.name, " is on device '", name, "'");
  }
  for (const auto& graph : module.graphs) {
    for (const UOp* u : PostOrder(graph->body.root)) {
      if (u->op != Op::kCopy) continue;
      if (graph->body.context->String(static_cast<StringId>(u->word())) != name) continue;
      return Cat(at(graph->body.side.loc(u)), "graph @", graph->name, " copies to device '", name,
                 "'");
    }
  }
  return Cat("device '", name, "'");
}

}  // namespace

absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceRequest& request,
                                                        std::span<const Device> devices) {
  std::vector<std::string> names = DeviceNames(module);
  for (const auto& [name, text] : request.named) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string known;
    for (const std::string& n : names) {
      if (!n.empty()) known += Cat(known.empty() ? ": " : ", ", "'", n, "'");
    }
    return InvalidArgument("module @", module.name, " has no device '", name, "'",
                           known.empty() ? "; it names none" : Cat("; it names", known));
  }
  if (names.empty()) names = {""};
  const bool single = names.size() == 1;
  if (!single && !names[0].empty() && !request.plain.empty()) {
    return InvalidArgument("module @", module.name, " has ", names.size(), " devices, '", names[0],
                           "' and others: which is to be '", request.plain,
                           "' is said as in --device='", names[0], "=", request.plain, "'");
  }
  std::vector<ChosenDevice> chosen;
  for (const std::string& name : names) {
    const auto named = request.named.find(name);
    const bool is_plain = name.empty() || (single && !request.plain.empty());
    const std::string& text = named != request.named.end() ? named->second
                              : is_plain                   ? request.plain
                                                           : name;
    absl::StatusOr<Device> device = ChooseDevice(devices, text);
    if (!device.ok() && !is_plain && named == request.named.end()) {
      return NotFound(WhoAsksFor(module, name), ": ", std::string(device.status().message()),
                      "which it is can be said, as in --device='", name, "=cpu'");
    }
    if (!device.ok()) return device.status();
    chosen.push_back({name, *std::move(device)});
  }
  return chosen;
}

}  // namespace tg::runtime
