// Where the values of a graph over several devices are computed and stored, and the copies between
// them.
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

namespace tg {

// What constants and places make (ir/devices.h: on every device) is where its users are.
class Placement {
 public:
  // `order`: what the root reaches, sources first.
  Placement(const Module& module, const Body& body, UOpSpan order);

  // Whether the graph may be over several devices.
  bool several() const { return devices_.has_value(); }
  // Of a node of the body: never kAnyDevice.
  DeviceId Of(const UOp* u);
  // Empty: the default device.
  std::string Name(DeviceId device) const { return devices_ ? devices_->Name(device) : ""; }
  // Whether it is made of constants and places alone, in such a graph.
  bool IsOnAny(const UOp* u) { return devices_ && devices_->Of(u) == kAnyDevice; }
  // Whether it is that and has users on two or more: its memory would have to be on each.
  bool IsEverywhere(const UOp* u) const { return user_.Get(u) == kSeveral; }

 private:
  static constexpr DeviceId kSeveral = -1;

  std::optional<DeviceMap> devices_;  // nullopt: there is but the default one
  NodeMap<DeviceId> user_;            // of what is on every device; 0: nobody needs it
};

// What stands for copy `u` of `x`: `x` where that is there already, or on every device; else one
// copy of what a chain of copies begins with. Movement ops that drop nothing follow the copy
// instead of going before it, so that they cost no kernel.
const UOp* SimplifyCopy(Builder& b, DeviceMap& devices, ShapeMap& shapes, const UOp* u,
                        const UOp* x, llvm::function_ref<bool(const Shape&)> has_no_elements);

// What IsEverywhere is computed where it is used: nodes are added to `fused`, and a contiguous that
// would have to be on several devices gives way to its source.
void FuseEverywhere(const Module& module, Body& body, NodeSet& fused, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_PLACEMENT_H_
