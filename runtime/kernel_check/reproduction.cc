#include "runtime/kernel_check/reproduction.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/interpret/kernel.h"
#include "ir/text/printer.h"
#include "passes/instrument/write_file.h"
#include "runtime/io/npy.h"
#include "runtime/session/tensors.h"

namespace tg::kernel_check {

using runtime::BufferSlice;

namespace {

bool IsSymbolic(const BufferDecl& decl) {
  return std::any_of(decl.shape.begin(), decl.shape.end(),
                     [](const DeclDim& d) { return d.is_symbolic(); });
}

// Buffers that the kernel stores to.
std::set<int> StoredBuffers(const Finding& finding) {
  const std::vector<bool> stored =
      interpret::StoredSlots(*finding.reference, finding.call.buffers.size());
  std::set<int> buffers;
  for (size_t i = 0; i < stored.size(); ++i) {
    if (stored[i]) buffers.insert(finding.call.buffers[i].buffer);
  }
  return buffers;
}

void MakeGraph(const Finding& finding, const Module& compiled, Graph& graph) {
  Context& context = *graph.body.context;
  Builder b(context);
  const std::set<int> stored = StoredBuffers(finding);
  std::map<int, const UOp*> whole;
  std::vector<const UOp*> operands;
  for (const BufferSlice& slice : finding.call.buffers) {
    const BufferDecl& decl = compiled.buffers[static_cast<size_t>(slice.buffer)];
    const UOp*& buffer = whole[slice.buffer];
    if (buffer == nullptr) buffer = b.Buffer(decl.name, decl.dtype);
    const UOp* operand = buffer;
    if (slice.offset != 0 || slice.size >= 0) {
      operand = context.Make(Op::kBufferView, decl.dtype, {buffer},
                             context.MakeAttr(Op::kBufferView, {slice.offset, slice.size}));
    }
    operands.push_back(operand);
  }
  for (const runtime::VarUse& var : finding.call.vars) {
    const UOp* u = b.Var(var.name);
    if (var.bound) u = context.Make(Op::kBind, u->dtype, {u, b.ConstInt(u->dtype, *var.bound)});
    operands.push_back(u);
  }
  const UOp* kernel = context.Make(Op::kKernel, kVoid, operands,
                                   Attr{uint64_t{context.Intern(finding.reference->name)}});
  std::vector<const UOp*> writes;
  for (const auto& [number, buffer] : whole) {
    if (!stored.contains(number)) continue;
    writes.push_back(context.Make(Op::kAssign, buffer->dtype, {buffer, kernel}));
  }
  graph.body.root = b.Sink(writes);
}

}  // namespace

std::unique_ptr<Module> MakeReproduction(const Finding& finding, const Module& reference,
                                         const Module& compiled, const std::string& data) {
  auto module = std::make_unique<Module>();
  module->name = "wrong_kernel";
  module->target = reference.target;
  module->flags = reference.flags;
  module->vars = reference.vars;
  module->requirements = {};
  const std::set<int> stored = StoredBuffers(finding);
  int64_t offset = 0;
  for (const Contents& contents : finding.before) {
    BufferDecl decl = compiled.buffers[static_cast<size_t>(contents.buffer)];
    decl.file.clear();
    decl.tensor.clear();
    decl.offset.reset();
    decl.run_bytes = decl.stride_bytes = 0;
    decl.values.reset();
    decl.device.clear();
    decl.role = stored.contains(contents.buffer) ? Role::kState
                : IsSymbolic(decl)               ? Role::kInput
                                                 : Role::kParam;
    if (!IsSymbolic(decl)) {
      decl.file = data;
      decl.offset = offset;
      offset += static_cast<int64_t>(contents.bytes.size());
    }
    module->buffers.push_back(std::move(decl));
  }
  Graph& graph = *module->graphs.emplace_back(std::make_unique<Graph>());
  graph.name = "main";
  MakeGraph(finding, compiled, graph);
  Kernel& kernel = *module->kernels.emplace_back(std::make_unique<Kernel>());
  const Kernel& from = *finding.reference;
  kernel.name = from.name;
  kernel.stage = from.stage;
  kernel.metadata = from.metadata;
  kernel.axes = from.axes;
  kernel.directives = from.directives;
  CloneBody(from.body, kernel.body);
  return module;
}

absl::StatusOr<Reproduction> WriteReproduction(const Finding& finding, const Module& reference,
                                               const Module& compiled, const std::string& path) {
  if (finding.reference == nullptr) {
    return Unimplemented("a copy between devices is no kernel to reproduce");
  }
  Reproduction out;
  const std::string data = std::filesystem::path(path).filename().string() + ".bin";
  const std::unique_ptr<Module> module = MakeReproduction(finding, reference, compiled, data);
  std::vector<std::string_view> pieces;
  out.files = {path + ".uop", path + ".bin"};
  for (size_t i = 0; i < finding.before.size(); ++i) {
    const Contents& contents = finding.before[i];
    const BufferDecl& decl = module->buffers[i];
    if (!IsSymbolic(decl)) {
      pieces.emplace_back(reinterpret_cast<const char*>(contents.bytes.data()),
                          contents.bytes.size());
      continue;
    }
    const std::string file = Cat(path, ".", decl.name, ".npy");
    const auto type = runtime::ElementTypeOf(decl.dtype.scalar());
    if (!type) return Unimplemented("@", decl.name, " is of a type that no file holds");
    TG_RETURN_IF_ERROR(runtime::WriteNpy(file, {*type, contents.shape, contents.bytes}));
    out.files.push_back(file);
    out.inputs[decl.name] = file;
    out.arguments.push_back("--input");
    out.arguments.push_back(decl.name + "=" + file);
  }
  TG_RETURN_IF_ERROR(instrument::WriteFile(out.files[0], PrintModule(*module)));
  TG_RETURN_IF_ERROR(instrument::WriteFile(out.files[1], pieces));
  for (const VarDecl& var : module->vars) {
    const auto value = finding.vars.find(var.name);
    if (value == finding.vars.end()) continue;
    out.vars[var.name] = value->second;
    out.arguments.push_back(Cat("--var=", var.name, "=", value->second));
  }
  out.arguments.push_back(out.files[0]);
  return out;
}

}  // namespace tg::kernel_check
