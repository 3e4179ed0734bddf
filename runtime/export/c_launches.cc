// Writes the launches of a graph's kernels.
#include <algorithm>

#include "base/status.h"
#include "codegen/c/renderer.h"
#include "runtime/export/c_entry.h"
#include "runtime/export/c_sizes.h"
#include "runtime/plan/extents.h"
#include "runtime/plan/temporaries.h"

namespace tg::runtime {

absl::StatusOr<std::string> CEntryWriter::Body(std::span<const ScheduledKernel> schedule,
                                               CEntry& entry) {
  TG_ASSIGN_OR_RETURN(const auto by_device, PlanTemporaries(module_, schedule));
  std::string out;
  for (const auto& [device, temporaries] : by_device) {
    std::vector<size_t> offsets;
    for (const size_t bytes : temporaries.plan.arena_bytes) {
      offsets.push_back(entry.scratch_bytes);
      entry.scratch_bytes += AlignedC(bytes);
    }
    for (size_t i = 0; i < temporaries.buffers.size(); ++i) {
      const int b = temporaries.buffers[i];
      const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
      const MemoryPlan::Place& place = temporaries.plan.places[i];
      const size_t offset = offsets[place.arena] + place.offset;
      pointers_[b] = Cat("((", c::ElementType(decl.dtype.scalar()), "*)(temp + ", offset, "))");
    }
  }
  if (entry.scratch_bytes > 0) out += "  unsigned char* const temp = scratch;\n";
  for (const ScheduledKernel& item : schedule) {
    TG_ASSIGN_OR_RETURN(const std::string launch, item.is_copy() ? Copy(item) : Launch(item));
    out += launch;
  }
  return out;
}

absl::StatusOr<std::string> CEntryWriter::Pointer(const BufferSlice& slice, Scalar as,
                                                  bool writes) const {
  const BufferDecl& decl = module_.buffers[static_cast<size_t>(slice.buffer)];
  std::string text;
  if (const auto known = pointers_.find(slice.buffer); known != pointers_.end()) {
    text = known->second;
  } else {
    return InvalidArgument("buffer @", decl.name, " has no memory");
  }
  if (slice.offset != 0) text = Cat("(", text, " + ", slice.offset, ")");
  if (c::ElementType(as) == c::ElementType(decl.dtype.scalar())) return text;
  return Cat("(", writes ? "" : "const ", c::ElementType(as), "*)", text);
}

absl::StatusOr<std::string> CEntryWriter::Copy(const ScheduledKernel& item) const {
  const BufferDecl& decl = module_.buffers[static_cast<size_t>(item.buffers[0].buffer)];
  const BufferDecl& from = module_.buffers[static_cast<size_t>(item.buffers[1].buffer)];
  TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(module_, decl));
  TG_ASSIGN_OR_RETURN(const size_t source_bytes, BufferBytes(module_, from));
  TG_ASSIGN_OR_RETURN(const std::string to, Pointer(item.buffers[0], decl.dtype.scalar(), true));
  TG_ASSIGN_OR_RETURN(const std::string source,
                      Pointer(item.buffers[1], from.dtype.scalar(), false));
  for (const DeclDim& d : decl.shape) {
    if (d.is_symbolic()) return Unimplemented("a copy to another device has a symbolic extent");
  }
  return Cat("  memcpy(", to, ", ", source, ", ", std::min(bytes, source_bytes), ");\n");
}

absl::StatusOr<std::string> CEntryWriter::Launch(const ScheduledKernel& item) const {
  const codegen::RenderedKernel& k = *rendered_.at(item.kernel);
  std::map<std::string, std::string> vars(var_names_.begin(), var_names_.end());
  for (const VarUse& var : item.vars) {
    if (var.bound) vars[var.name] = CInt64(*var.bound);
  }
  std::string args, lines, open;
  for (const codegen::KernelParam& p : k.params) {
    if (p.is_var) {
      const std::string value = Cat("(", c::ElementType(p.dtype.scalar()), ")", vars.at(p.name));
      args += Cat(args.empty() ? "" : ", ",
                  unit_.assembly.empty() ? value : Cat("(const void*)(intptr_t)", value));
      continue;
    }
    if (p.slot < 0 || static_cast<size_t>(p.slot) >= item.buffers.size()) {
      return InvalidArgument("kernel @", module_.kernels[static_cast<size_t>(item.kernel)]->name,
                             " reads its argument ", p.slot, ", but the graph gives it ",
                             item.buffers.size(), " buffers");
    }
    TG_ASSIGN_OR_RETURN(
        const std::string pointer,
        Pointer(item.buffers[static_cast<size_t>(p.slot)], p.dtype.scalar(), p.writes));
    args += Cat(args.empty() ? "" : ", ", pointer);
  }
  int loops = 0;
  for (int d = 2; d >= 0; --d) {
    const codegen::SizeExpr& size = k.groups[d];
    const std::string id = Cat("g", d);
    if (size.IsConst()) {
      const int64_t n = size.steps()[0].value;
      if (n == 1) continue;
      open += Cat(std::string(2 + 2 * static_cast<size_t>(loops), ' '), "for (int64_t ", id,
                  " = 0; ", id, " < ", n, "; ", id, "++) {\n");
    } else {
      TG_ASSIGN_OR_RETURN(const std::string n, CSize(size, vars, Cat("n", d, "_"), lines));
      open += Cat(std::string(2 + 2 * static_cast<size_t>(loops), ' '), "for (int64_t ", id,
                  " = 0; ", id, " < ", n, "; ", id, "++) {\n");
    }
    ++loops;
  }
  if (!unit_.assembly.empty()) {
    lines += Cat("    const void* const arguments[] = {", args, "};\n");
    args = Cat("arguments, ", k.group_memory > 0 ? "group" : "0");
  }
  for (int d = 0; d < 3; ++d) {
    const bool is_one = k.groups[d].IsConst() && k.groups[d].steps()[0].value == 1;
    if (!unit_.assembly.empty()) {
      args += is_one ? ", 0" : Cat(", g", d);
    } else if (!is_one) {
      args += Cat(args.empty() ? "" : ", ", "(int32_t)g", d);
    }
  }
  if (unit_.assembly.empty() && k.group_memory > 0) args += Cat(args.empty() ? "" : ", ", "group");
  std::string out = lines.empty() ? "" : "  {\n" + lines;
  out += Cat(open, std::string(2 + 2 * static_cast<size_t>(loops), ' '), k.name, "(", args, ");\n");
  for (int i = loops; i-- > 0;) out += Cat(std::string(2 + 2 * static_cast<size_t>(i), ' '), "}\n");
  if (!lines.empty()) out += "  }\n";
  return out;
}

}  // namespace tg::runtime
