// Kernels over shapes: no loops yet, loads and stores move whole tensors.
#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "ir/interpret/deferred.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/reduce_tuple.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/shape.h"
#include "ir/tuple.h"
#include "ir/walk.h"

namespace tg::interpret {
namespace {

// The memory of an argument as loads see it: plain pointers see what was there on entry, `after`
// sees the stores.
struct ArgumentMemory {
  HostBuffer* now = nullptr;
  HostBuffer entry;  // a copy, made where the kernel stores to this memory
  HostBuffer scratch;
  const HostBuffer& on_entry() const { return entry.data.empty() ? *now : entry; }
};

// A tensor, or a pointer: element i is memory[offset of the slot + map[i]], nothing where negative.
struct Value {
  Tensor tensor;
  ArgumentMemory* memory = nullptr;
  bool entry = true;  // whether it sees the memory as on entry
  Scalar element = Scalar::kVoid;
  Movement map;
};

class ShapedRun {
 public:
  ShapedRun(const Kernel& kernel, std::span<const KernelArg> args, const VarValues& vars,
            const InterpretOptions& options)
      : kernel_(kernel), args_(args), vars_(vars), options_(options) {}

  absl::Status Run();

 private:
  absl::Status Eval(const UOp* u, Value& v);
  absl::Status DefineGlobal(const UOp* u, Value& v);
  absl::Status Scratch(const UOp* u, Value& v);
  absl::Status Move(const UOp* u, Value& v);
  absl::Status Load(const UOp* u, Value& v);
  absl::Status Store(const UOp* u);
  Value& Src(const UOp* u, size_t i) { return *values_[u->src(i)]; }

  const Kernel& kernel_;
  std::span<const KernelArg> args_;
  const VarValues& vars_;
  const InterpretOptions& options_;
  std::vector<std::unique_ptr<ArgumentMemory>> memories_;
  NodeMap<std::shared_ptr<Value>> values_;
};

absl::Status ShapedRun::DefineGlobal(const UOp* u, Value& v) {
  const auto slot = static_cast<uint64_t>(u->word());
  if (slot >= args_.size()) return InvalidArgument(absl::StrCat("there is no argument ", slot));
  const KernelArg& arg = args_[slot];
  const auto available = static_cast<int64_t>(arg.buffer->data.size()) - arg.offset;
  const int64_t given = arg.size < 0 ? available : arg.size;
  int64_t size = u->dtype.size() == DType::kUnknownSize ? given : u->dtype.size();
  if (arg.is_symbolic) size = std::min(size, given);
  if (size > given || given > available) {
    return InvalidArgument(
        absl::StrCat("argument ", slot, " has ", given, " elements, needs ", size));
  }
  if (arg.buffer->dtype.scalar() != u->dtype.scalar()) {
    return InvalidArgument(
        absl::StrCat("argument ", slot, " holds ", arg.buffer->dtype.ToString()));
  }
  for (const auto& m : memories_) {
    if (m->now == arg.buffer) v.memory = m.get();
  }
  v.element = u->dtype.scalar();
  v.map.shape = {size};
  if (u->dtype.is_image()) v.map.shape = {u->dtype.height(), u->dtype.width(), 4};
  for (int64_t i = 0; i < size; ++i) v.map.map.push_back(arg.offset + i);
  return absl::OkStatus();
}

absl::Status ShapedRun::Scratch(const UOp* u, Value& v) {
  if (u->dtype.size() < 0) return InvalidArgument("scratch needs a size");
  auto m = std::make_unique<ArgumentMemory>();
  m->scratch = UndefinedBuffer(DType(u->dtype.scalar()), {u->dtype.size()});
  m->now = &m->scratch;
  v.memory = memories_.emplace_back(std::move(m)).get();
  v.entry = false;
  v.element = u->dtype.scalar();
  v.map.shape = {u->dtype.size()};
  for (int64_t i = 0; i < u->dtype.size(); ++i) v.map.map.push_back(i);
  return absl::OkStatus();
}

absl::Status ShapedRun::Move(const UOp* u, Value& v) {
  const Value& from = Src(u, 0);
  std::vector<int64_t> symbols;
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) {
    const Tensor& t = Src(u, i).tensor;
    if (!t.ok() || t.size() != 1)
      return InvalidArgument(absl::StrCat("source ", i, " is not one number"));
    symbols.push_back((*t.data)[0]);
  }
  auto map = IndexMapOf(u, from.memory ? from.map.shape : from.tensor.shape, symbols);
  if (!map.ok()) return map.status();
  if (!from.memory) {
    auto t = Gather(u, from.tensor, *std::move(map), options_);
    if (!t.ok()) return t.status();
    v.tensor = *std::move(t);
    return absl::OkStatus();
  }
  if (absl::Status s = CheckExtents(map->shape); !s.ok()) return s;
  v.memory = from.memory;
  v.entry = from.entry;
  v.element = from.element;
  v.map = MovementOf(*map);
  for (int64_t& i : v.map.map) {
    if (i >= 0) i = from.map.map[static_cast<size_t>(i)];
  }
  return absl::OkStatus();
}

absl::Status ShapedRun::Load(const UOp* u, Value& v) {
  const Value& p = Src(u, 0);
  if (!p.memory) return InvalidArgument("source 0 is not memory");
  const HostBuffer& b = p.entry ? p.memory->on_entry() : *p.memory->now;
  const Scalar to = u->dtype.scalar();
  if (!CanConvertAccess(p.element, to))
    return InvalidArgument("cannot load this type from that memory");
  std::vector<int64_t> data(p.map.map.size());
  auto error = b.error.empty() ? nullptr : std::make_shared<std::vector<double>>(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    if (p.map.map[i] < 0) continue;
    const auto at = static_cast<size_t>(p.map.map[i]);
    if (options_.check_undefined && !b.IsDefined(at)) {
      return absl::FailedPreconditionError(
          absl::StrCat("reads element ", at, ", which was never written"));
    }
    data[i] = ConvertAccess(p.element, to, b.data[at]);
    if (error) (*error)[i] = b.error[at];
  }
  v.tensor = MakeTensor(to, p.map.shape, std::move(data));
  v.tensor.error = std::move(error);
  return absl::OkStatus();
}

absl::Status ShapedRun::Store(const UOp* u) {
  const Value& p = Src(u, 0);
  if (!p.memory) return InvalidArgument("source 0 is not memory");
  if (!Src(u, 1).tensor.ok()) return InvalidArgument("source 1 has no value");
  const absl::StatusOr<Tensor> held = Hold(Src(u, 1).tensor);
  if (!held.ok()) return held.status();
  const Tensor& value = *held;
  if (value.shape != p.map.shape && !value.shape.empty()) {
    return InvalidArgument(absl::StrCat("the memory has shape ", ShapeText(p.map.shape),
                                        ", the value ", ShapeText(value.shape)));
  }
  if (!CanConvertAccess(value.scalar, p.element))
    return InvalidArgument("cannot store this type there");
  HostBuffer& b = *p.memory->now;
  if (value.error && b.error.empty()) b.error.assign(b.data.size(), 0);
  for (size_t i = 0; i < p.map.map.size(); ++i) {
    if (p.map.map[i] < 0) continue;
    const auto at = static_cast<size_t>(p.map.map[i]);
    b.data[at] = ConvertAccess(value.scalar, p.element, (*value.data)[value.size() == 1 ? 0 : i]);
    if (!b.defined.empty()) b.defined[at] = 1;
    if (!b.written.empty()) b.written[at] = 1;
    if (!b.error.empty()) b.error[at] = value.ErrorAt(i);
  }
  return absl::OkStatus();
}

absl::Status ShapedRun::Eval(const UOp* u, Value& v) {
  if (IsMovement(u->op)) return Move(u, v);
  if (IsElementwise(u->op) || u->op == Op::kReduceAxis || u->op == Op::kReduceTuple) {
    std::vector<Tensor> srcs;
    const size_t count = u->op == Op::kReduceTuple ? TupleSize(u) : u->num_srcs;
    for (size_t i = 0; i < count; ++i) {
      srcs.push_back(Src(u, i).tensor);
      if (!srcs.back().ok()) return InvalidArgument(absl::StrCat("source ", i, " has no value"));
    }
    auto t = u->op == Op::kReduceAxis    ? ReduceAxis(u, srcs[0], options_)
             : u->op == Op::kReduceTuple ? ReduceTuple(u, srcs, options_)
                                         : Elementwise(u, srcs, options_);
    if (!t.ok()) return t.status();
    v.tensor = *t;
    return absl::OkStatus();
  }
  switch (u->op) {
    case Op::kConst:
      v.tensor = ScalarTensor(u->dtype.scalar(), u->word());
      return absl::OkStatus();
    case Op::kIota: {
      auto t = IotaTensor(u->dtype.scalar(), u->word());
      if (!t.ok()) return t.status();
      v.tensor = *t;
      return absl::OkStatus();
    }
    case Op::kVar: {
      const auto name = kernel_.body.context->String(static_cast<StringId>(u->word()));
      const auto it = vars_.find(name);
      if (it == vars_.end()) {
        return InvalidArgument(absl::StrCat("variable @", std::string(name), " has no value"));
      }
      v.tensor = ScalarTensor(u->dtype.scalar(), it->second);
      return absl::OkStatus();
    }
    case Op::kDefineGlobal:
      return DefineGlobal(u, v);
    case Op::kScratch:
      return Scratch(u, v);
    case Op::kAfter:
      v = Src(u, 0);
      v.entry = false;
      return absl::OkStatus();
    case Op::kLoad:
      return Load(u, v);
    case Op::kStore:
      return Store(u);
    case Op::kNoop:
      if (u->num_srcs > 0) v = Src(u, 0);
      return absl::OkStatus();
    case Op::kSink:
      return absl::OkStatus();
    default:
      return InvalidArgument("has no meaning in a kernel over shapes");
  }
}

absl::Status ShapedRun::Run() {
  const std::vector<bool> stored = StoredSlots(kernel_, args_.size());
  for (size_t i = 0; i < args_.size(); ++i) {
    ArgumentMemory* memory = nullptr;
    for (const auto& m : memories_) {
      if (m->now == args_[i].buffer) memory = m.get();
    }
    if (!memory) {
      memory = memories_.emplace_back(std::make_unique<ArgumentMemory>()).get();
      memory->now = args_[i].buffer;
    }
    if (stored[i] && memory->entry.data.empty()) memory->entry = *args_[i].buffer;
  }
  const std::vector<const UOp*> order = OrderOutsideTuples(kernel_.body.root);
  NodeMap<int> uses;
  for (const UOp* u : order) {
    for (const UOp* s : SourcesInBody(u)) ++uses[s];
  }
  const std::string what = "kernel @" + kernel_.name;
  for (const UOp* u : order) {
    values_[u] = std::make_shared<Value>();
    if (absl::Status s = Eval(u, *values_[u]); !s.ok()) {
      return absl::Status(s.code(), NodeLabel(kernel_.body, what, u) + std::string(s.message()));
    }
    for (const UOp* s : SourcesInBody(u)) {
      if (--uses[s] == 0) values_[s] = nullptr;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunShapedKernel(const Kernel& kernel, std::span<const KernelArg> args,
                             const VarValues& vars, const InterpretOptions& options) {
  return ShapedRun(kernel, args, vars, options).Run();
}

}  // namespace tg::interpret
