#include "ir/interpret/kernel.h"

#include "absl/strings/str_cat.h"
#include "ir/walk.h"

namespace tg::interpret {

std::string NodeLabel(const Body& body, std::string_view what, const UOp* u) {
  const Location loc = body.side.loc(u);
  const StringId name = body.side.name(u);
  std::string label(what);
  if (loc.line) absl::StrAppend(&label, ", line ", loc.line);
  const std::string_view mnemonic = Mnemonic(u->op);
  absl::StrAppend(&label, ": ", absl::string_view(mnemonic.data(), mnemonic.size()), " %");
  if (name) {
    label += body.context->String(name);
  } else {
    absl::StrAppend(&label, "#", u->id);
  }
  return label + ": ";
}

std::vector<bool> StoredSlots(const Kernel& kernel, size_t num_slots) {
  std::vector<bool> stored(num_slots);
  std::vector<const UOp*> nodes = kernel.body.linear;
  if (nodes.empty() && kernel.body.root) nodes = PostOrder(kernel.body.root);
  for (const UOp* u : nodes) {
    if (!WritesMemory(u->op)) continue;
    const UOp* memory = MemoryOf(u->src(0));
    for (const UOp* a : ArgumentsOf(memory)) {
      if (static_cast<size_t>(a->word()) < num_slots) stored[static_cast<size_t>(a->word())] = true;
    }
  }
  return stored;
}

absl::Status RunKernel(const Kernel& kernel, std::span<const KernelArg> args, const VarValues& vars,
                       const InterpretOptions& options) {
  if (kernel.stage == Stage::kLinear ? kernel.body.linear.empty() : kernel.body.root == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("kernel @", kernel.name, " has no body"));
  }
  return kernel.stage == Stage::kKernel ? RunShapedKernel(kernel, args, vars, options)
                                        : RunLoweredKernel(kernel, args, vars, options);
}

}  // namespace tg::interpret
