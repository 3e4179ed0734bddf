#include "passes/kernelize/placement.h"

#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

// Whether a movement op's result holds all of its source.
bool DropsNothing(const UOp* u, ShapeMap& shapes) {
  if (u->op == Op::kShrink) return false;
  if (u->op != Op::kView) return true;
  const Shape &from = shapes.Of(u->src(0)), &to = shapes.Of(u);
  return IsStatic(from) && IsStatic(to) && NumElements(to) >= NumElements(from);
}

}  // namespace

Placement::Placement(const Module& module, const Body& body, UOpSpan order) {
  if (!NamesDevices(module, order)) return;
  devices_.emplace(module, *body.context);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp* u = *it;
    const DeviceId own = devices_->Of(u);
    // A copy of a value that is on every device stores it on the default device first.
    const bool copy = u->op == Op::kCopy;
    const DeviceId here = copy ? kDefaultDevice : own != kAnyDevice ? own : user_.Get(u);
    if (here == kAnyDevice) continue;
    for (const UOp* s : copy ? u->srcs() : SourcesOnOneDevice(u)) {
      if (devices_->Of(s) != kAnyDevice) continue;
      DeviceId& user = user_[s];
      user = user == kAnyDevice || user == here ? here : kSeveral;
    }
  }
}

DeviceId Placement::Of(const UOp* u) {
  if (!devices_) return kDefaultDevice;
  if (const DeviceId own = devices_->Of(u); own != kAnyDevice) return own;
  const DeviceId user = user_.Get(u);
  return user > kAnyDevice ? user : kDefaultDevice;
}

const UOp* SimplifyCopy(Builder& b, DeviceMap& devices, ShapeMap& shapes, const UOp* u,
                        const UOp* x, llvm::function_ref<bool(const Shape&)> has_no_elements) {
  llvm::SmallVector<const UOp*, 8> movement;
  while (x->op == Op::kCopy ||
         (IsMovement(x->op) && DropsNothing(x, shapes) && !has_no_elements(shapes.Of(x->src(0))))) {
    if (x->op != Op::kCopy) movement.push_back(x);
    x = x->src(0);
  }
  const DeviceId from = devices.Of(x);
  if (from != kAnyDevice && from != devices.Of(u)) {
    // A copy transfers memory unchanged, so that a view must be made contiguous first.
    if (IsVersion(x) && !IsWholeMemory(x)) x = b.context().Make(Op::kContiguous, x->dtype, {x});
    x = b.context().Make(Op::kCopy, x->dtype, {x}, u->attr);
  }
  return WithMovement(b.context(), {movement.data(), movement.size()}, x);
}

void FuseEverywhere(const Module& module, Body& body, NodeSet& fused, UOpSpan order) {
  Placement placement(module, body, order);
  if (!placement.several()) return;
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    const bool everywhere = placement.IsEverywhere(u);
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = everywhere && u->op == Op::kContiguous
                        ? srcs[0]
                        : body.context->Rebuild(u, *body.context, {srcs.data(), srcs.size()});
    if (everywhere || fused.Contains(u)) fused.Insert(to);
    map[u] = to;
    body.CarryOver(u, to);
  }
  body.root = map.Get(body.root);
}

}  // namespace tg::kernelize
