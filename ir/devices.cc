#include "ir/devices.h"

#include <algorithm>

#include "base/check.h"
#include "llvm/ADT/StringSet.h"

namespace tg {
namespace {

std::string_view TargetOf(const Context& context, const UOp* copy) {
  return context.String(static_cast<StringId>(copy->word()));
}

}  // namespace

UOpSpan SourcesOnOneDevice(const UOp* u) {
  switch (u->op) {
    case Op::kCopy:
    case Op::kLoop:
    case Op::kSink:
      return {};
    case Op::kAfter:
      return u->srcs().first(1);
    case Op::kAssign:
      return u->srcs().first(2);
    default:
      return u->srcs();
  }
}

bool NamesDevices(const Module& module, UOpSpan nodes) {
  return std::any_of(module.buffers.begin(), module.buffers.end(),
                     [](const BufferDecl& b) { return !b.device.empty(); }) ||
         std::any_of(nodes.begin(), nodes.end(), [](const UOp* u) { return u->op == Op::kCopy; });
}

std::vector<std::string> DeviceNames(const Module& module) {
  llvm::StringSet<> used;
  std::vector<std::string_view> targets;
  for (const auto& graph : module.graphs) {
    const Context& context = *graph->body.context;
    const auto use = [&](int64_t word) {
      const std::string_view name = context.String(static_cast<StringId>(word));
      used.insert({name.data(), name.size()});
    };
    for (const UOp* u : PostOrder(graph->body.root)) {
      if (u->op == Op::kBuffer) use(u->word());
      if (u->op == Op::kCopy) targets.push_back(TargetOf(context, u));
    }
    for (const int64_t target : graph->body.root->list()) {
      if (target) use(target);
    }
  }
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const BufferDecl& buffer : module.buffers) {
    if (used.contains(buffer.name)) add(buffer.device);
  }
  for (const std::string_view target : targets) add(target);
  const auto plain = std::find(names.begin(), names.end(), "");
  if (plain != names.end()) std::rotate(names.begin(), plain, plain + 1);
  return names;
}

DeviceMap::DeviceMap(const Module& module, const Context& context)
    : module_(module), context_(context) {
  numbers_[""] = kDefaultDevice;
  for (const BufferDecl& buffer : module.buffers) buffers_[buffer.name] = Number(buffer.device);
}

DeviceId DeviceMap::Number(std::string_view name) {
  const auto [it, is_new] =
      numbers_.try_emplace({name.data(), name.size()}, static_cast<DeviceId>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return it->second;
}

DeviceId DeviceMap::OfBuffer(std::string_view name) {
  const auto [it, is_new] = buffers_.try_emplace({name.data(), name.size()}, kDefaultDevice);
  if (is_new) {
    const BufferDecl* decl = module_.FindBuffer(name);
    TG_CHECK(decl != nullptr);
    it->second = Number(decl->device);
  }
  return it->second;
}

std::string DeviceMap::Describe(DeviceId device) const {
  if (device == kAnyDevice) return "every device";
  if (device == kDefaultDevice) return "the default device";
  std::string name = Name(device);
  // A message is one line.
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return "device '" + name + "'";
}

DeviceId DeviceMap::FromSources(const UOp* u) const {
  // The value that is carried begins as what is given for it.
  if (u->op == Op::kLoop) return known_.Get(u->src(1 + static_cast<size_t>(u->word(1)))) - 1;
  for (const UOp* s : SourcesOnOneDevice(u)) {
    if (const DeviceId device = known_.Get(s) - 1; device != kAnyDevice) return device;
  }
  return kAnyDevice;
}

DeviceId DeviceMap::Of(const UOp* root) {
  if (const DeviceId known = known_.Get(root)) return known - 1;
  std::vector<const UOp*> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    const size_t before = stack.size();
    for (const UOp* s : u->srcs()) {
      if (known_.Get(s) == 0) stack.push_back(s);
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    DeviceId device = kAnyDevice;
    if (u->op == Op::kBuffer) {
      device = OfBuffer(context_.String(static_cast<StringId>(u->word())));
    } else if (u->op == Op::kCopy) {
      device = Number(TargetOf(context_, u));
    } else {
      device = FromSources(u);
    }
    known_[u] = device + 1;
  }
  return known_.Get(root) - 1;
}

}  // namespace tg
