#include "frontend/tinygrad/device_placement.h"

#include <algorithm>
#include <array>

#include "frontend/tinygrad/buffers.h"

namespace tg::tinygrad {
namespace {

// Devices of the host, by the prefix of their name before the colon.
constexpr std::array<std::string_view, 7> kHosts = {"NPY", "DISK",  "TINYFS", "PYTHON",
                                                    "CPU", "CLANG", "LLVM"};
// The first entries of kHosts only store data, whatever the graph contains.
constexpr size_t kStores = 3;

size_t HostNumber(std::string_view name) {
  const auto at = std::find(kHosts.begin(), kHosts.end(), name.substr(0, name.find(':')));
  return static_cast<size_t>(at - kHosts.begin());
}

// Whether the op computes, or writes to existing memory.
bool IsWork(OpClass cls) {
  switch (cls) {
    case OpClass::kElementwise:
    case OpClass::kCompare:
    case OpClass::kWhere:
    case OpClass::kReduceAxis:
    case OpClass::kReduce:
    case OpClass::kAssign:
    case OpClass::kStore:
    case OpClass::kKernel:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool DeviceTable::Read(const Node& n, const Value* name, int* number, Diagnostics& diags) {
  *number = kNone;
  if (!name || name->kind == Kind::kNone) return true;
  if (name->kind != Kind::kString) {
    const std::string text = name->kind == Kind::kTuple
                                 ? "on several devices at once, a sharded tensor (MULTI)"
                                 : "not on a device by its name";
    diags.Error(n.loc, std::string(n.op) + ": what is " + text + ", is not read");
    return false;
  }
  std::string text = Unquote(name->text());
  if (text.ends_with(":0")) text.resize(text.size() - 2);
  const auto known = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const Device& d) { return d.name == text; });
  *number = static_cast<int>(known - devices_.begin());
  if (known == devices_.end()) devices_.push_back({std::move(text), false});
  return true;
}

bool DeviceTable::ReadBuffer(const Node& n, int* number, Diagnostics& diags) {
  const Value* name = n.arg.is_call("ParamArg") ? FindItem(n.arg, "device") : nullptr;
  for (size_t i = 0; i < n.num_srcs; ++i) {
    if (n.src(i)->op == "DEVICE") name = &n.src(i)->arg;
  }
  return Read(n, name, number, diags);
}

bool DeviceTable::ReadCopy(const Node& n, int* number, Diagnostics& diags) {
  const bool has_source = n.num_srcs > 1 && n.src(1)->op == "DEVICE";
  // In v0.10.3, without a DEVICE source, the argument may be a bool: whether the copy is mandatory.
  const Value& name = has_source ? n.src(1)->arg : n.arg;
  *number = kNone;
  return name.kind == Kind::kBool || Read(n, &name, number, diags);
}

void DeviceTable::NoteWork(int number) {
  if (number != kNone) devices_[static_cast<size_t>(number)].works = true;
}

bool DeviceTable::IsReal(int number) const {
  if (number == kNone) return false;
  const Device& device = devices_[static_cast<size_t>(number)];
  const size_t host = HostNumber(device.name);
  return host == kHosts.size() || (device.works && host >= kStores);
}

int DeviceTable::FirstOfSeveral() const {
  int first = kNone, count = 0;
  for (int i = 0; i < static_cast<int>(devices_.size()); ++i) {
    if (!IsReal(i)) continue;
    if (++count == 1) first = i;
  }
  return count > 1 ? first : kNone;
}

std::string_view DeviceTable::Name(int number) const {
  return number == kNone ? std::string_view() : devices_[static_cast<size_t>(number)].name;
}

bool Devices::ReadAll(const Demand& demand, std::span<const KernelUse> kernels,
                      Diagnostics& diags) {
  size_t num_kernels = 0;
  std::vector<bool> copies(demand.nodes().size());  // KERNELs that copy, and their ASSIGNs
  for (const Node* node : demand.nodes()) {
    const Node& n = *node;
    if (!demand.IsLive(&n)) continue;
    const OpClass cls = demand.OpOf(&n).cls;
    int& device = device_[n.slot];
    switch (cls) {
      case OpClass::kBuffer:
      case OpClass::kParam:
        if (!IsVariable(&n) && !table_.ReadBuffer(n, &device, diags)) return false;
        continue;
      case OpClass::kCopy:
        if (!table_.ReadCopy(n, &device, diags)) return false;
        break;
      case OpClass::kKernel:
        copies[n.slot] = num_kernels < kernels.size() && !kernels[num_kernels].kernel;
        ++num_kernels;
        break;
      case OpClass::kAssign:
        copies[n.slot] = n.num_srcs > 1 && copies[n.src(1)->slot];
        break;
      default:
        break;
    }
    for (size_t i = 0; i < n.num_srcs && device == DeviceTable::kNone; ++i) {
      device = device_[n.src(i)->slot];
    }
    if (IsWork(cls) && !copies[n.slot]) table_.NoteWork(device);
  }
  return true;
}

bool Devices::Find(const Demand& demand, std::span<const KernelUse> kernels, Diagnostics& diags) {
  const size_t count = demand.nodes().size();
  device_.assign(count, DeviceTable::kNone);
  place_.assign(count, DeviceTable::kNone);
  if (!ReadAll(demand, kernels, diags)) return false;
  first_ = table_.FirstOfSeveral();
  if (first_ == DeviceTable::kNone) return true;
  // The device on which a value without a real device is needed: that of its first user that has
  // one.
  std::vector<int> wanted(count, DeviceTable::kNone);
  for (size_t i = count; i-- > 0;) {
    const Node& n = *demand.nodes()[i];
    const int here = table_.IsReal(device_[i]) ? device_[i] : wanted[i];
    if (!demand.IsLive(&n) || here == DeviceTable::kNone) continue;
    for (size_t k = 0; k < n.num_srcs; ++k) {
      const uint32_t source = n.src(k)->slot;
      if (!table_.IsReal(device_[source])) wanted[source] = here;
    }
  }
  for (const Node* node : demand.nodes()) {
    const Node& n = *node;
    if (!demand.IsLive(&n)) continue;
    int& place = place_[n.slot];
    if (table_.IsReal(device_[n.slot])) {
      place = device_[n.slot];
      continue;
    }
    for (size_t k = 0; k < n.num_srcs && place == DeviceTable::kNone; ++k) {
      place = place_[n.src(k)->slot];
    }
    // A buffer.
    if (place == DeviceTable::kNone && device_[n.slot] != DeviceTable::kNone) {
      place = wanted[n.slot] != DeviceTable::kNone ? wanted[n.slot] : first_;
    }
  }
  return true;
}

std::string_view Devices::Of(const Node* n) const {
  const int place = place_[n->slot];
  return table_.Name(place == DeviceTable::kNone ? first_ : place);
}

bool Devices::Moves(const Node* copy) const {
  const int to = place_[copy->slot];
  const int from = copy->num_srcs > 0 ? place_[copy->src(0)->slot] : DeviceTable::kNone;
  return to != DeviceTable::kNone && from != DeviceTable::kNone && to != from;
}

}  // namespace tg::tinygrad
