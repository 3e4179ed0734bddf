#include "ir/testing/scatter_devices.h"

#include <array>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "ir/devices.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"", "B", "C"};

class Scatter {
 public:
  Scatter(const Module& module, Body& body, Rng& rng)
      : body_(body), ctx_(*body.context), devices_(module, ctx_), rng_(rng) {}

  // Returns the new sink, or null if the graph cannot be distributed.
  const UOp* Run() {
    NodeMap<const UOp*> map;
    for (const UOp* u : PostOrder(body_.root)) {
      srcs_.clear();
      for (const UOp* s : u->srcs()) srcs_.push_back(map.Get(s));
      if (!BringTogether(u)) return nullptr;
      const UOp* to = ctx_.Rebuild(u, ctx_, srcs_);
      body_.CarryOver(u, to);
      map[u] = to;
    }
    return map.Get(body_.root);
  }

 private:
  bool Move(const UOp*& value, DeviceId device) {
    const DeviceId from = devices_.Of(value);
    if (from == kAnyDevice || from == device) return true;
    if (value->dtype.is_index()) return false;
    if (rng_.Percent(10)) value = Copy(value, rng_.Pick(kNames));
    value = Copy(value, devices_.Name(device));
    return true;
  }

  const UOp* Copy(const UOp* value, std::string_view name) {
    return ctx_.Make(Op::kCopy, value->dtype, {value},
                     ctx_.MakeAttr(Op::kCopy, {int64_t{ctx_.Intern(name)}}));
  }

  // Copies sources of the new node to one device.
  bool BringTogether(const UOp* u) {
    if (u->op == Op::kSink) {
      const auto targets = u->list();
      for (size_t i = 0; i < targets.size(); ++i) {
        if (!targets[i]) continue;
        const auto name = ctx_.String(static_cast<StringId>(targets[i]));
        if (!Move(srcs_[i], devices_.OfBuffer(name))) return false;
      }
      return true;
    }
    const size_t count = SourcesOnOneDevice(u).size();
    std::vector<DeviceId> places;
    for (size_t i = 0; i < count; ++i) {
      if (const DeviceId d = devices_.Of(srcs_[i]); d != kAnyDevice) places.push_back(d);
    }
    if (places.empty()) return true;
    // An assign runs on the device of its target.
    const DeviceId here = u->op == Op::kAssign ? places[0] : rng_.Pick(places);
    for (size_t i = 0; i < count; ++i) {
      if (!Move(srcs_[i], here)) return false;
    }
    return true;
  }

  Body& body_;
  Context& ctx_;
  DeviceMap devices_;
  Rng& rng_;
  std::vector<const UOp*> srcs_;
};

}  // namespace

void ScatterDevices(Module& module, Graph& graph, Rng& rng) {
  for (BufferDecl& buffer : module.buffers) buffer.device = rng.Pick(kNames);
  if (const UOp* root = Scatter(module, graph.body, rng).Run()) {
    graph.body.root = root;
    return;
  }
  for (BufferDecl& buffer : module.buffers) buffer.device.clear();
}

}  // namespace tg::testing
