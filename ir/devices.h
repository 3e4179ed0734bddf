// On which device each value of a graph is.
//
// A buffer is on the device that its declaration names, a copy on the one that it goes to, and what
// is computed on that of its sources. Constants, places and variables, and what is made of them
// alone, are on every device.
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

// A device of a module, numbered as it is met.
using DeviceId = int;
inline constexpr DeviceId kAnyDevice = 0;      // of a constant
inline constexpr DeviceId kDefaultDevice = 1;  // has no name

// The sources of a node that have to be on one device. Those of an op that only waits for its
// sources, or takes a value from one device to another, are not among them.
UOpSpan SourcesOnOneDevice(const UOp* u);

// Whether there may be several devices where a graph has these nodes: a buffer names one, or there
// is a copy.
bool NamesDevices(const Module& module, UOpSpan nodes);

// The devices of what the module's graphs use, each once: the default one, "", first where it is
// there, then in the order of the declarations and copies.
std::vector<std::string> DeviceNames(const Module& module);

// Of the nodes of one context, new ones too. A buffer must be declared before it is asked for.
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
