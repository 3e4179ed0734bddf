// Decides on which device each value of a graph over several devices is computed and stored, and
// simplifies the copies between devices.
#ifndef TG_PASSES_KERNELIZE_PLACEMENT_H_
#define TG_PASSES_KERNELIZE_PLACEMENT_H_

#include <optional>
#include <string>

#include "ir/builder.h"
#include "ir/devices.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::kernelize {

// A value computed from constants and indices alone (ir/devices.h: on every device) is computed on
// the devices of its users.
class Placement {
 public:
  // `order`: what the root reaches, sources first.
  Placement(const Module& module, const Body& body, UOpSpan order);

  // Whether the graph may be over several devices.
  bool several() const { return devices_.has_value(); }
  // The device of a node of the body; never kAnyDevice.
  DeviceId Of(const UOp* u);
  // Empty: the default device.
  std::string Name(DeviceId device) const { return devices_ ? devices_->Name(device) : ""; }
  // Whether `u` is computed from constants and indices alone, in a graph over several devices.
  bool IsOnAny(const UOp* u) { return devices_ && devices_->Of(u) == kAnyDevice; }
  // Whether IsOnAny holds and `u` has users on several devices, each of which would need memory for
  // it.
  bool IsEverywhere(const UOp* u) const { return user_.Get(u) == kSeveral; }

 private:
  static constexpr DeviceId kSeveral = -1;

  std::optional<DeviceMap> devices_;  // nullopt: there is only the default device
  NodeMap<DeviceId> user_;            // values on every device: the device of the users; 0: no user
};

// Returns the replacement of the copy `u` of `x`: `x` itself if it is on the target device already
// or on every device; for a chain of copies a single copy of its source. Movement ops that drop no
// element are moved behind the copy, so that they need no kernel before it.
const UOp* SimplifyCopy(Builder& b, DeviceMap& devices, ShapeMap& shapes, const UOp* u,
                        const UOp* x, llvm::function_ref<bool(const Shape&)> has_no_elements);

// Makes every device compute the values for which IsEverywhere holds: adds these nodes to `fused`,
// and replaces a `contiguous` that several devices would need by its source.
void FuseEverywhere(const Module& module, Body& body, NodeSet& fused, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_PLACEMENT_H_
