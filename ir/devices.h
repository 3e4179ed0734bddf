// The device of each value of a graph.
//
// A buffer is on the device that its declaration names, a copy on its target device, and a computed
// value on the device of its sources. Constants, iota and variables, and values that depend on
// them alone, are on every device.
#ifndef TG_IR_DEVICES_H_
#define TG_IR_DEVICES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"
#include "llvm/ADT/StringMap.h"

namespace tg {

// A device of a module, numbered in the order of first use.
using DeviceId = int;
inline constexpr DeviceId kAnyDevice = 0;      // of a constant
inline constexpr DeviceId kDefaultDevice = 1;  // has no name

// The sources of a node that have to be on one device. Excludes sources that the op only waits
// for, and the source of a copy between devices.
UOpSpan SourcesOnOneDevice(const UOp* u);

// Whether a graph with these nodes may use several devices: a buffer names one, or there is a copy.
bool NamesDevices(const Module& module, UOpSpan nodes);

// The devices that the module's graphs use, without duplicates: the default device, "", first if
// it is used, then in the order of declarations and copies.
std::vector<std::string> DeviceNames(const Module& module);

// Devices of the nodes of one context, including nodes that are made later. A buffer must be
// declared before a query.
class DeviceMap {
 public:
  DeviceMap(const Module& module, const Context& context);

  DeviceId Of(const UOp* u);
  DeviceId OfBuffer(std::string_view name);
  // The number of a device by its name; "" is the default one.
  DeviceId Number(std::string_view name);
  const std::string& Name(DeviceId device) const { return names_[static_cast<size_t>(device)]; }
  // "the default device" or "device 'gpu'", for messages.
  std::string Describe(DeviceId device) const;

 private:
  DeviceId FromSources(const UOp* u) const;

  const Module& module_;
  const Context& context_;
  std::vector<std::string> names_ = {"", ""};
  llvm::StringMap<DeviceId> numbers_, buffers_;
  NodeMap<DeviceId> known_;  // 1 + the device
};

}  // namespace tg

#endif  // TG_IR_DEVICES_H_
