// V410: on which devices values are.
#include "ir/devices.h"
#include "ir/verify/body_check.h"

namespace tg::verify {

void CheckDevices(BodyCheck& c) {
  if (!NamesDevices(c.module, {c.order.data(), c.order.size()})) return;
  DeviceMap devices(c.module, *c.body.context);
  const auto place = [&](DeviceId device) { return "on " + devices.Describe(device); };
  for (const UOp* u : c.order) {
    const UOp* first = nullptr;
    for (const UOp* s : SourcesOnOneDevice(u)) {
      const DeviceId device = devices.Of(s);
      if (device == kAnyDevice) continue;
      if (!first) first = s;
      const DeviceId other = devices.Of(first);
      if (device == other) continue;
      c.Error(Rule::kDevice, u,
              c.Name(first) + " is " + place(other) + ", " + c.Name(s) + " " + place(device) +
                  "; copy moves a value to another device");
      return;
    }
  }
  const UOp* sink = c.body.root;
  const auto targets = sink->list();
  for (size_t i = 0; i < targets.size(); ++i) {
    const DeviceId value = devices.Of(sink->src(i));
    if (!targets[i] || value == kAnyDevice) continue;
    const std::string name(c.String(targets[i]));
    const DeviceId device = devices.OfBuffer(name);
    if (device == value) continue;
    c.Error(Rule::kDevice, sink,
            "'@" + name + "' is " + place(device) + ", " + c.Name(sink->src(i)) + " " +
                place(value) + "; copy moves a value to another device");
    return;
  }
}

}  // namespace tg::verify
