#include "runtime/export/c_entry.h"

#include <algorithm>

#include "base/status.h"
#include "codegen/c/renderer.h"
#include "runtime/export/c_sizes.h"

namespace tg::runtime {

std::string InCComment(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' || static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return out;
}

std::string CDeclaration(const BufferDecl& b) {
  std::string shape;
  for (const DeclDim& d : b.shape) shape += Cat(shape.empty() ? "" : ", ", d.Text());
  return InCComment(
      Cat("@", b.name, " : ", b.dtype.ToString(), "[", shape, "] ", RoleName(b.role)));
}

std::string CPrototype(const std::string& head, std::string params) {
  std::string out = head;
  params += ")";
  size_t column = head.size();
  for (size_t at = 0; at < params.size();) {
    const size_t comma = params.find(", ", at);
    const std::string one = params.substr(at, comma == std::string::npos ? comma : comma - at + 1);
    if (column + one.size() > 99 && column > head.size()) {
      out += Cat("\n", std::string(head.size(), ' '));
      column = head.size();
    } else if (column > head.size()) {
      out += ' ';
    }
    out += one;
    column += one.size() + 1;
    at = comma == std::string::npos ? params.size() : comma + 2;
  }
  return out;
}

void FindUsedBuffers(std::span<const ScheduledKernel> schedule, const RenderedKernels& rendered,
                     std::set<int>& used) {
  for (const ScheduledKernel& item : schedule) {
    if (item.is_copy()) {
      for (const BufferSlice& slice : item.buffers) used.insert(slice.buffer);
      continue;
    }
    for (const codegen::KernelParam& p : rendered.at(item.kernel)->params) {
      if (p.is_var || static_cast<size_t>(p.slot) >= item.buffers.size()) continue;
      used.insert(item.buffers[static_cast<size_t>(p.slot)].buffer);
    }
  }
}

absl::StatusOr<CEntry> CEntryWriter::Write(const Graph& graph, const std::string& function,
                                           std::string_view first, std::string& source) {
  CEntry entry;
  entry.graph = &graph;
  entry.function = function;
  TG_ASSIGN_OR_RETURN(const std::vector<ScheduledKernel> schedule, MakeSchedule(module_, graph));
  TG_RETURN_IF_ERROR(FindParams(schedule, entry));
  TG_ASSIGN_OR_RETURN(std::string body, Body(schedule, entry));
  int64_t group_memory = 0;
  for (const ScheduledKernel& item : schedule) {
    if (item.is_copy()) continue;
    group_memory = std::max(group_memory, rendered_.at(item.kernel)->group_memory);
  }
  if (group_memory > 0) {
    body = Cat("  unsigned char* const group = (unsigned char*)scratch + ", entry.scratch_bytes,
               ";\n", body);
    entry.scratch_bytes += AlignedC(static_cast<size_t>(group_memory));
  }
  std::string params;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const int b = entry.buffers[i];
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
    params += Cat(written_.contains(b) ? "" : "const ", c::ElementType(decl.dtype.scalar()), "* ",
                  entry.names[i], ", ");
  }
  for (size_t i = entry.buffers.size(); i < entry.names.size(); ++i) {
    params += Cat("int64_t ", entry.names[i], ", ");
  }
  if (!unit_.weights.empty()) params += "const void* weights, ";
  if (!unit_.states.empty()) params += "void* states, ";
  entry.prototype = CPrototype(Cat("int ", entry.function, "("), params + "void* scratch");
  source += Cat("\n", entry.prototype, " {\n");
  if (!unit_.weights.empty()) source += "  (void)weights;\n";
  if (!unit_.states.empty()) source += "  (void)states;\n";
  source += "  (void)scratch;\n";
  TG_RETURN_IF_ERROR(Checks(entry, source));
  source += Cat(first, body, "  return 0;\n}\n");
  return entry;
}

void CEntryWriter::FindVars(std::span<const ScheduledKernel> schedule,
                            std::set<std::string>& vars) const {
  for (const ScheduledKernel& item : schedule) {
    if (item.is_copy()) continue;
    std::set<std::string> bound;
    for (const VarUse& var : item.vars) {
      if (var.bound) bound.insert(var.name);
    }
    const codegen::RenderedKernel& k = *rendered_.at(item.kernel);
    for (const codegen::KernelParam& p : k.params) {
      if (p.is_var && !bound.contains(p.name)) vars.insert(p.name);
    }
    for (const codegen::SizeExpr& size : k.groups) {
      for (const std::string& var : size.Vars()) {
        if (!bound.contains(var)) vars.insert(var);
      }
    }
  }
}

namespace {

void AddVars(const DimExpr& e, std::set<std::string>& vars) {
  for (const DimTerm& t : e.terms()) {
    if (t.op == Op::kVar) vars.insert(t.var);
  }
}

std::set<std::string> VarsOf(const Requirement& r) {
  std::set<std::string> vars;
  AddVars(r.left, vars);
  AddVars(r.right, vars);
  return vars;
}

}  // namespace

absl::Status CEntryWriter::FindParams(std::span<const ScheduledKernel> schedule, CEntry& entry) {
  std::set<int> used;
  FindUsedBuffers(schedule, rendered_, used);
  std::set<std::string> vars, in_shapes;
  FindVars(schedule, vars);
  for (const int b : used) {
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
    if (decl.dtype.is_image()) {
      return Unimplemented("buffer @", decl.name, " is an image, which C does not have");
    }
    for (const DeclDim& d : decl.shape) {
      d.ForEachVar([&](const std::string& var) { in_shapes.insert(var); });
    }
  }
  for (const ScheduledKernel& item : schedule) {
    if (item.is_copy()) {
      written_.insert(item.buffers[0].buffer);
      continue;
    }
    for (const codegen::KernelParam& p : rendered_.at(item.kernel)->params) {
      if (!p.is_var && p.writes && static_cast<size_t>(p.slot) < item.buffers.size()) {
        written_.insert(item.buffers[static_cast<size_t>(p.slot)].buffer);
      }
    }
  }
  // A requirement on sizes of buffers is checked whether kernels take its variables or not.
  in_shapes.insert(vars.begin(), vars.end());
  for (const Requirement& r : module_.requirements) {
    const std::set<std::string> needed = VarsOf(r);
    if (std::includes(in_shapes.begin(), in_shapes.end(), needed.begin(), needed.end())) {
      vars.insert(needed.begin(), needed.end());
    }
  }
  for (const CBlockPart& part : unit_.weights) {
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(part.buffer)];
    pointers_[part.buffer] = Cat("((const ", c::ElementType(decl.dtype.scalar()),
                                 "*)((const unsigned char*)weights + ", part.offset, "))");
  }
  for (const CBlockPart& part : unit_.states) {
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(part.buffer)];
    pointers_[part.buffer] = Cat("((", c::ElementType(decl.dtype.scalar()),
                                 "*)((unsigned char*)states + ", part.offset, "))");
  }
  std::set<std::string> taken = {"weights", "states", "scratch", "group", "temp"};
  const auto name = [&](std::string_view of) {
    std::string n = c::CIdentifier(of);
    while (!taken.insert(n).second) n += "_";
    return n;
  };
  for (const int b : used) {
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
    if (decl.role == Role::kTemp || pointers_.contains(b)) continue;
    entry.buffers.push_back(b);
    entry.names.push_back(name(decl.name));
    pointers_[b] = entry.names.back();
  }
  for (const std::string& var : vars) {
    if (module_.FindVar(var) == nullptr) return NotFound("there is no variable @", var);
    entry.vars.push_back(var);
    entry.names.push_back(name(var));
    var_names_[var] = entry.names.back();
  }
  return absl::OkStatus();
}

absl::Status CEntryWriter::Checks(const CEntry& entry, std::string& out) const {
  for (size_t i = 0; i < entry.vars.size(); ++i) {
    const VarDecl& var = *module_.FindVar(entry.vars[i]);
    const std::string& name = entry.names[entry.buffers.size() + i];
    out += Cat("  if (", name, " < ", CInt64(var.min), " || ", name, " > ", CInt64(var.max),
               ") return 1;\n");
  }
  int number = 0;
  for (const Requirement& r : module_.requirements) {
    const std::set<std::string> needed = VarsOf(r);
    if (!std::all_of(needed.begin(), needed.end(),
                     [&](const std::string& var) { return var_names_.contains(var); })) {
      continue;
    }
    std::string lines;
    TG_ASSIGN_OR_RETURN(const std::string broken,
                        CBroken(module_, r, var_names_, Cat("q", number++), lines));
    out +=
        Cat("  {  // ", InCComment(r.what), "\n", lines, "    if (", broken, ") return 1;\n  }\n");
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
