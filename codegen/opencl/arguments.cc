// What a function's name and parameters have to look like.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/opencl/kernel_writer.h"

namespace tg::opencl {
namespace {

// The buffer that an operand of a kernel's call is, or is a part of.
const UOp* BufferOf(const UOp* u) {
  while (u->op != Op::kBuffer && u->num_srcs > 0) u = u->src(0);
  return u;
}

}  // namespace

std::string FunctionName(std::string_view kernel) {
  std::string name;
  uint32_t hash = 2166136261u;  // FNV-1a
  bool changed = false;
  for (char c : kernel) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_';
    name += ok ? c : '_';
    changed |= !ok;
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  if (!kernel.starts_with("r_") && !kernel.starts_with("E_")) name = absl::StrCat("k_", name);
  return changed ? absl::StrFormat("%s_%08x", name, hash) : name;
}

std::vector<bool> AliasedSlots(const Module& module, const Kernel& kernel,
                               const std::vector<KernelParam>& args) {
  std::vector<bool> aliased(args.size(), false);
  for (const auto& graph : module.graphs) {
    if (!graph->body.root) continue;
    for (const UOp* u : PostOrder(graph->body.root)) {
      if (u->op != Op::kKernel ||
          graph->body.context->String(static_cast<StringId>(u->word())) != kernel.name) {
        continue;
      }
      for (size_t i = 0; i < args.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (args[i].is_var || args[j].is_var || !(args[i].writes || args[j].writes)) continue;
          const auto a = static_cast<size_t>(args[i].slot), b = static_cast<size_t>(args[j].slot);
          if (a >= u->num_srcs || b >= u->num_srcs) continue;
          if (BufferOf(u->src(a)) == BufferOf(u->src(b))) aliased[i] = aliased[j] = true;
        }
      }
    }
  }
  return aliased;
}

}  // namespace tg::opencl
