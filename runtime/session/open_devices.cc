#include "runtime/session/open_devices.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "ir/devices.h"
#include "passes/kernelize/kernelize.h"
#include "passes/schedule/schedule.h"
#include "runtime/devices/devices.h"
#include "runtime/session/device_target.h"

namespace tg::runtime {
namespace {

// Returns whether code compiled for one device is valid for the other. Targets with equal names on
// equal devices are equal (ChooseTarget).
bool AreAlike(const Context& context_a, const passes::Target& target_a, const Context& context_b,
              const passes::Target& target_b) {
  const DeviceInfo &a = context_a.info(), &b = context_b.info();
  return target_a.name == target_b.name && a.name == b.name && a.platform == b.platform &&
         a.driver_version == b.driver_version && a.compute_units == b.compute_units;
}

}  // namespace

absl::StatusOr<std::vector<ChosenDevice>> ChooseDevices(const Module& module,
                                                        const DeviceRequest& request) {
  if (request.opened != nullptr) {
    const std::vector<std::string> names = DeviceNames(module);
    if (names.size() > 1 || !request.named.empty()) {
      return InvalidArgument("module @", module.name,
                             " is over several devices, and one that is open is given");
    }
    return std::vector<ChosenDevice>{
        {names.empty() ? "" : names[0], request.opened->device(), request.opened}};
  }
  const bool single = request.named.empty() && DeviceNames(module).size() <= 1;
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices,
                      single ? ListDevicesFor(request.plain) : ListDevices());
  return ChooseDevices(module, request, devices);
}

absl::Status OpenDevices(const Module& module, std::span<const ChosenDevice> chosen,
                         std::string_view wish, bool profiling, DeviceSessionOptions& options) {
  std::vector<Device> devices;
  for (const ChosenDevice& c : chosen) devices.push_back(c.device);
  std::vector<std::shared_ptr<Context>> contexts;
  if (chosen.size() == 1 && chosen[0].context != nullptr) {
    contexts = {chosen[0].context};
    TG_RETURN_IF_ERROR(CheckProfiling(*contexts[0], profiling));
  } else {
    TG_ASSIGN_OR_RETURN(contexts, OpenContexts(devices, profiling));
  }
  options.context = contexts[0];
  options.names.clear();
  options.others.clear();
  TG_ASSIGN_OR_RETURN(options.target, ChooseTarget(wish, module.target, contexts[0]->info()));
  for (size_t i = 0; i < chosen.size(); ++i) {
    // The module may have two names for one device of the machine.
    if (contexts[i] == contexts[0]) {
      options.names.push_back(chosen[i].name);
      continue;
    }
    const auto known = std::find_if(options.others.begin(), options.others.end(),
                                    [&](const NamedDevice& d) { return d.context == contexts[i]; });
    if (known != options.others.end()) {
      known->names.push_back(chosen[i].name);
      continue;
    }
    NamedDevice& device = options.others.emplace_back();
    device.names = {chosen[i].name};
    device.context = contexts[i];
    TG_ASSIGN_OR_RETURN(device.target, ChooseTarget(wish, module.target, contexts[i]->info()));
  }
  return absl::OkStatus();
}

absl::Status CompileForDevices(Module& module, const passes::Pipeline& pipeline,
                               passes::PassManagerOptions passes, DeviceSessionOptions& options) {
  passes.target = &options.target;
  if (options.others.empty()) return passes::PassManager(pipeline, passes).Run(module);
  const auto kernels = std::find_if(
      pipeline.begin(), pipeline.end(),
      [](const passes::PipelineStep& s) { return s.pass == &kernelize::kKernelizePass; });
  const auto behind = kernels == pipeline.end() ? pipeline.begin() : kernels + 1;
  TG_RETURN_IF_ERROR(passes::PassManager({pipeline.begin(), behind}, passes).Run(module));
  const passes::Pipeline rest(behind, pipeline.end());
  const std::unique_ptr<Module> graphs = Clone(module);
  TG_RETURN_IF_ERROR(passes::PassManager(rest, passes).Run(module));
  for (size_t i = 0; i < options.others.size(); ++i) {
    NamedDevice& device = options.others[i];
    if (AreAlike(*device.context, device.target, *options.context, options.target)) continue;
    const auto same =
        std::find_if(options.others.begin(), options.others.begin() + static_cast<ptrdiff_t>(i),
                     [&](const NamedDevice& d) {
                       return AreAlike(*device.context, device.target, *d.context, d.target);
                     });
    if (same != options.others.begin() + static_cast<ptrdiff_t>(i)) {
      device.module = same->module;
      continue;
    }
    std::unique_ptr<Module> own = Clone(*graphs);
    passes.target = &device.target;
    TG_RETURN_IF_ERROR(passes::PassManager(rest, passes).Run(*own));
    if (own->kernels.size() != module.kernels.size()) {
      return absl::InternalError(Cat("kernels of ", device.context->name(), ": ",
                                     own->kernels.size(), ", not ", module.kernels.size()));
    }
    device.module = std::move(own);
  }
  return absl::OkStatus();
}

absl::Status UseSchedules(const std::string& file, const DeviceSessionOptions& options,
                          passes::Pipeline& pipeline) {
  const auto step = std::find_if(
      pipeline.begin(), pipeline.end(),
      [](const passes::PipelineStep& s) { return s.pass == &schedule::kSchedulePass; });
  if (step == pipeline.end())
    return InvalidArgument("--schedules: the pipeline has no pass schedule");
  step->options["file"] = file;
  step->options["driver"] = DriverText(options.context->info());
  return absl::OkStatus();
}

}  // namespace tg::runtime
