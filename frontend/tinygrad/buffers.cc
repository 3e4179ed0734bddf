#include "frontend/tinygrad/buffers.h"

#include <utility>

#include "frontend/tinygrad/views.h"

namespace tg::tinygrad {

bool IsVariable(const Node* n) {
  const Value* space = FindItem(n->arg, "addrspace");
  return n->arg.is_call("ParamArg") && space && space->is_name("AddrSpace.ALU");
}

std::optional<int64_t> Product(std::span<const int64_t> shape) {
  int64_t size = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size) || size >= int64_t{1} << 62) {
      return std::nullopt;
    }
  }
  return size;
}

std::optional<std::vector<int64_t>> StaticShape(const Value& tuple) {
  if (tuple.kind != Kind::kTuple) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Item& item : tuple.list()) {
    if (item.value.kind != Kind::kInt) return std::nullopt;
    shape.push_back(item.value.number);
  }
  return shape;
}

std::optional<std::vector<int64_t>> StaticShape(const Node* extents) {
  std::vector<int64_t> shape;
  const auto add = [&](const Node* n) {
    if (n->op != "CONST" || n->arg.kind != Kind::kInt) return false;
    shape.push_back(n->arg.number);
    return true;
  };
  if (extents->op == "STACK") {
    for (size_t i = 0; i < extents->num_srcs; ++i) {
      if (!add(extents->src(i))) return std::nullopt;
    }
  } else if (!add(extents)) {
    return std::nullopt;
  }
  return shape;
}

std::optional<std::vector<int64_t>> ReshapeOf(const Node* n) {
  if (n->op == "RESHAPE") {
    return n->num_srcs > 1 ? StaticShape(n->src(1)) : StaticShape(n->arg);
  }
  return n->op == "VIEW" ? ContiguousShape(n->arg) : std::nullopt;
}

namespace {

// The number that identifies a buffer.
std::optional<int64_t> NumberOf(const Node* n) {
  for (size_t i = 0; i < n->num_srcs; ++i) {
    const Node* s = n->src(i);
    if ((s->op == "UNIQUE" || s->op == "LUNIQUE") && s->arg.kind == Kind::kInt) {
      return s->arg.number;
    }
  }
  const Value* slot = n->arg.is_call("ParamArg") ? FindItem(n->arg, "slot", 0) : nullptr;
  if (slot && slot->kind == Kind::kInt) return slot->number;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> DeclaredShape(const Node* n) {
  if (n->arg.kind == Kind::kInt) return std::vector{n->arg.number};
  if (n->num_srcs > 0) return StaticShape(n->src(0));
  return std::nullopt;
}

// A COPY leaves a buffer's elements as they are.
bool IsAlias(OpClass c) { return c == OpClass::kAlias || c == OpClass::kCopy; }
bool IsBufferOp(OpClass c) { return c == OpClass::kBuffer || c == OpClass::kParam; }

}  // namespace

bool Buffers::Collect(const Demand& demand, Diagnostics& diags) {
  for (const Node* node : demand.nodes()) {
    const Node& n = *node;
    if (!demand.IsLive(&n)) continue;
    const OpClass cls = demand.OpOf(&n).cls;
    const auto from = [&](size_t i) {
      number_[n.slot] = number_[n.src(i)->slot];
      moved_[n.slot] = !IsAlias(cls) || moved_[n.src(i)->slot];
    };
    switch (cls) {
      case OpClass::kMovement:
      case OpClass::kView:
      case OpClass::kAlias:
      case OpClass::kCopy:
      case OpClass::kBufferView:
      case OpClass::kAfter:
        if (n.num_srcs > 0) from(0);
        continue;
      case OpClass::kAssign:
      case OpClass::kStore:
        if (n.num_srcs > 0) {
          from(0);
          if (number_[n.slot]) {
            Buffer& target = buffers_[*number_[n.slot]];
            target.written = true;
            target.by_kernel = n.num_srcs > 1 && n.src(1)->op == "KERNEL";
            moved_[n.slot] = true;
          }
        }
        continue;
      default:
        if (!IsBufferOp(cls) || IsVariable(&n)) continue;
    }
    const std::optional<int64_t> number = NumberOf(&n);
    const auto shape = DeclaredShape(&n);
    const int64_t size = shape ? Product(*shape).value_or(-1) : -1;
    if (!number || size < 0) {
      diags.Error(n.loc, std::string(n.op) +
                             ": expected a number that tells it from others and a "
                             "size, as tinygrad v0.10.3 or v0.14.0 print them");
      return false;
    }
    number_[n.slot] = number;
    const auto [it, is_new] = buffers_.try_emplace(*number);
    Buffer& buffer = it->second;
    const DType type = demand.TypeOf(&n).type;
    if (is_new) {
      buffer.node = &n;
      buffer.type = type;
      buffer.size = size;
      buffer.shape = *shape;
      order_.push_back(*number);
    } else if (buffer.size != size || buffer.type != type) {
      diags.Error(n.loc, std::string(n.op) + ": number " + std::to_string(*number) +
                             " has another size or type on line " +
                             std::to_string(buffer.node->loc.line));
      return false;
    }
  }
  return true;
}

void Buffers::FindUses(const Demand& demand, std::span<const KernelUse> kernels) {
  size_t num_kernels = 0;
  std::map<int64_t, std::vector<int64_t>> agreed;
  const auto agree = [&](int64_t number, std::vector<int64_t> shape) {
    const auto [it, is_new] = agreed.try_emplace(number, std::move(shape));
    if (!is_new && it->second != shape) it->second = buffers_[number].shape;
  };
  for (const Node* node : demand.nodes()) {
    const Node& n = *node;
    const OpClass cls = demand.OpOf(&n).cls;
    if (!demand.IsLive(&n) || IsAlias(cls)) continue;
    // A kernel may also read a buffer that it writes.
    bool in_place = false;
    if (cls == OpClass::kKernel && num_kernels < kernels.size()) {
      const KernelUse& use = kernels[num_kernels++];
      in_place = use.kernel && SlotsOf(use)[0].read;
    }
    for (size_t i = 0; i < n.num_srcs; ++i) {
      const auto& number = number_[n.src(i)->slot];
      if (!number) continue;
      Buffer& buffer = buffers_[*number];
      if (cls == OpClass::kSink) buffer.is_result = true;
      if (moved_[n.src(i)->slot]) continue;
      const bool written = i == 0 && (cls == OpClass::kAssign || cls == OpClass::kKernel);
      buffer.read |= !written || in_place;
      auto shape = i == 0 ? ReshapeOf(&n) : std::nullopt;
      const bool fits = shape && Product(*shape) == buffer.size;
      agree(*number, fits ? *std::move(shape) : buffer.shape);
    }
  }
  for (auto& [number, shape] : agreed) buffers_[number].shape = std::move(shape);
}

bool Buffers::Declare(const Demand& demand, std::span<const KernelUse> kernels,
                      const Devices& devices, const Directives& directives, Module& module,
                      Diagnostics& diags) {
  number_.resize(demand.nodes().size());
  moved_.resize(demand.nodes().size());
  if (!Collect(demand, diags)) return false;
  FindUses(demand, kernels);
  for (const auto& [number, named] : directives.buffers) {
    if (buffers_.count(number)) continue;
    diags.Error(named.loc, "directive: there is no buffer with number " + std::to_string(number));
    return false;
  }
  size_t anonymous = 0;
  for (int64_t number : order_) {
    Buffer& buffer = buffers_[number];
    BufferDecl decl;
    decl.role = !buffer.written                    ? Role::kInput
                : !buffer.by_kernel || buffer.read ? Role::kState
                : buffer.is_result                 ? Role::kOutput
                                                   : Role::kTemp;
    const auto it = directives.buffers.find(number);
    if (it != directives.buffers.end()) {
      const NamedBuffer& named = it->second;
      if (Product(named.shape) != buffer.size) {
        diags.Error(named.loc, "directive: buffer " + std::to_string(number) + " has " +
                                   std::to_string(buffer.size) + " elements");
        return false;
      }
      buffer.name = named.name;
      buffer.shape = named.shape;
      decl.role = named.role;
      decl.file = named.file;
      decl.tensor = named.tensor;
    } else {
      buffer.name = "buf" + std::to_string(anonymous++);
    }
    decl.name = buffer.name;
    decl.dtype = buffer.type;
    decl.device = devices.Of(buffer.node);
    for (int64_t extent : buffer.shape) decl.shape.push_back({extent, {}});
    decl.loc = buffer.node->loc;
    module.buffers.push_back(std::move(decl));
  }
  for (const NamedBuffer& named : directives.unread) {
    BufferDecl decl;
    decl.role = Role::kInput;
    decl.name = named.name;
    decl.dtype = named.type;
    for (int64_t extent : named.shape) decl.shape.push_back({extent, {}});
    decl.loc = named.loc;
    module.buffers.push_back(std::move(decl));
  }
  return true;
}

}  // namespace tg::tinygrad
