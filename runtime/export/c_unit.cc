#include "runtime/export/c_unit.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/status.h"
#include "codegen/c/renderer.h"
#include "runtime/plan/extents.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/temporaries.h"

namespace tg::runtime {
namespace {

constexpr size_t kAlign = 64;  // of scratch memory and of what is in it

size_t Aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::string Upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

// The text in a comment: no character ends it or continues it on the next line.
std::string InComment(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' || static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return out;
}

class Writer {
 public:
  Writer(const Module& module, std::span<const codegen::RenderedKernel> kernels) : module_(module) {
    for (const codegen::RenderedKernel& k : kernels)
      group_memory_ = std::max(group_memory_, k.group_memory);
    for (size_t i = 0; i < module.kernels.size(); ++i) {
      rendered_[module.kernels[i].get()] = &kernels[i];
    }
  }

  // Writes the constants that kernels read. Several graphs may share them.
  void Constants(const std::set<int>& used, std::string& out) {
    for (size_t i = 0; i < module_.buffers.size(); ++i) {
      const BufferDecl& b = module_.buffers[i];
      if (!IsConstant(b) || !used.contains(static_cast<int>(i))) continue;
      std::string name = Cat("c_", c::CIdentifier(b.name));
      while (!taken_.insert(name).second) name += "_";
      std::string list;
      for (const int64_t bits : *b.values) {
        if (!list.empty()) list += list.size() - list.rfind('\n') > 80 ? ",\n    " : ", ";
        list += c::ElementLiteral(b.dtype.scalar(), bits);
      }
      out += Cat("\n// ", Signature(b), "\nstatic const ", c::ElementType(b.dtype.scalar()), " ",
                 name, "[] = {", list, "};\n");
      constants_[static_cast<int>(i)] = name;
    }
  }

  absl::StatusOr<CEntry> Entry(const Graph& graph, std::string& source, std::string& header) {
    CEntry entry;
    entry.graph = &graph;
    entry.function =
        c::CIdentifier(Cat(module_.name.empty() ? "module" : module_.name, "_", graph.name));
    TG_ASSIGN_OR_RETURN(const std::vector<ScheduledKernel> schedule, MakeSchedule(module_, graph));
    TG_RETURN_IF_ERROR(FindParams(schedule, entry));
    TG_ASSIGN_OR_RETURN(std::string body, Body(schedule, entry));
    if (group_memory_ > 0) {
      body = Cat("  unsigned char* const group = (unsigned char*)scratch + ", entry.scratch_bytes,
                 ";\n", body);
      entry.scratch_bytes += Aligned(static_cast<size_t>(group_memory_));
    }
    const std::string head = Prototype(entry);
    source += Cat("\n", head, " {\n");
    if (entry.scratch_bytes == 0) source += "  (void)scratch;\n";
    for (size_t i = 0; i < entry.vars.size(); ++i) {
      const VarDecl& var = *module_.FindVar(entry.vars[i]);
      const std::string& name = entry.names[entry.buffers.size() + i];
      source += Cat("  if (", name, " < ", Int64(var.min), " || ", name, " > ", Int64(var.max),
                    ") return 1;\n");
    }
    source += body + "  return 0;\n}\n";
    Describe(entry, head, header);
    return entry;
  }

  // Adds the buffers that the parameters of the launched kernels are.
  void FindUsed(std::span<const ScheduledKernel> schedule, std::set<int>& used) const {
    for (const ScheduledKernel& item : schedule) {
      if (item.kernel == nullptr) {
        for (const BufferSlice& slice : item.buffers) used.insert(slice.buffer);
        continue;
      }
      for (const codegen::KernelParam& p : rendered_.at(item.kernel)->params) {
        if (p.is_var || static_cast<size_t>(p.slot) >= item.buffers.size()) continue;
        used.insert(item.buffers[static_cast<size_t>(p.slot)].buffer);
      }
    }
  }

 private:
  static bool IsConstant(const BufferDecl& b) {
    return b.role == Role::kParam && b.values.has_value() && !b.values->empty();
  }

  static std::string Int64(int64_t v) { return v == INT64_MIN ? "INT64_MIN" : Cat(v, "LL"); }
  std::string Signature(const BufferDecl& b) const {
    std::string shape;
    for (const DeclDim& d : b.shape) shape += Cat(shape.empty() ? "" : ", ", d.Text());
    return InComment(
        Cat("@", b.name, " : ", b.dtype.ToString(), "[", shape, "] ", RoleName(b.role)));
  }

  absl::Status FindParams(std::span<const ScheduledKernel> schedule, CEntry& entry) {
    std::set<int> used;
    FindUsed(schedule, used);
    for (const int b : used) {
      const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
      if (decl.dtype.is_image()) {
        return Unimplemented("buffer @", decl.name, " is an image, which C does not have");
      }
    }
    std::erase_if(used, [&](int b) {
      const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
      return decl.role == Role::kTemp || IsConstant(decl);
    });
    std::set<std::string> vars;
    for (const ScheduledKernel& item : schedule) {
      if (item.kernel == nullptr) written_.insert(item.buffers[0].buffer);
      if (item.kernel == nullptr) continue;
      std::set<std::string> bound;
      for (const VarUse& var : item.vars) {
        if (var.bound) bound.insert(var.name);
      }
      const codegen::RenderedKernel& k = *rendered_.at(item.kernel);
      for (const codegen::KernelParam& p : k.params) {
        if (p.is_var && !bound.contains(p.name)) vars.insert(p.name);
        if (!p.is_var && p.writes && static_cast<size_t>(p.slot) < item.buffers.size()) {
          written_.insert(item.buffers[static_cast<size_t>(p.slot)].buffer);
        }
      }
      for (const codegen::SizeExpr& size : k.groups) {
        for (const std::string& var : size.Vars()) {
          if (!bound.contains(var)) vars.insert(var);
        }
      }
    }
    std::set<std::string> taken = {"scratch", "group", "temp"};
    const auto name = [&](std::string_view of) {
      std::string n = c::CIdentifier(of);
      while (!taken.insert(n).second) n += "_";
      return n;
    };
    for (const int b : used) {
      entry.buffers.push_back(b);
      entry.names.push_back(name(module_.buffers[static_cast<size_t>(b)].name));
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

  std::string Prototype(const CEntry& entry) const {
    std::string params;
    for (size_t i = 0; i < entry.buffers.size(); ++i) {
      const int b = entry.buffers[i];
      const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
      params += Cat(written_.contains(b) ? "" : "const ", c::ElementType(decl.dtype.scalar()), "* ",
                    entry.names[i], ", ");
    }
    for (size_t i = 0; i < entry.vars.size(); ++i) {
      params += Cat("int64_t ", entry.names[entry.buffers.size() + i], ", ");
    }
    const std::string head = Cat("int ", entry.function, "(");
    std::string out = head;
    params += "void* scratch)";
    // Broken to lines behind commas.
    size_t column = head.size();
    for (size_t at = 0; at < params.size();) {
      const size_t comma = params.find(", ", at);
      const std::string one =
          params.substr(at, comma == std::string::npos ? comma : comma - at + 1);
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

  absl::StatusOr<std::string> Pointer(const BufferSlice& slice, Scalar as, bool writes) const {
    const BufferDecl& decl = module_.buffers[static_cast<size_t>(slice.buffer)];
    std::string text;
    if (const auto constant = constants_.find(slice.buffer); constant != constants_.end()) {
      text = constant->second;
    } else if (const auto pointer = pointers_.find(slice.buffer); pointer != pointers_.end()) {
      text = pointer->second;
    } else {
      return InvalidArgument("buffer @", decl.name, " has no memory");
    }
    if (slice.offset != 0) text = Cat("(", text, " + ", slice.offset, ")");
    if (c::ElementType(as) == c::ElementType(decl.dtype.scalar())) return text;
    return Cat("(", writes ? "" : "const ", c::ElementType(as), "*)", text);
  }

  absl::StatusOr<std::string> Body(std::span<const ScheduledKernel> schedule, CEntry& entry) {
    TG_ASSIGN_OR_RETURN(const auto by_device, PlanTemporaries(module_, schedule));
    std::string out;
    for (const auto& [device, temporaries] : by_device) {
      std::vector<size_t> offsets;
      for (const size_t bytes : temporaries.plan.block_bytes) {
        offsets.push_back(entry.scratch_bytes);
        entry.scratch_bytes += Aligned(bytes);
      }
      for (size_t i = 0; i < temporaries.buffers.size(); ++i) {
        const int b = temporaries.buffers[i];
        const BufferDecl& decl = module_.buffers[static_cast<size_t>(b)];
        const size_t offset = offsets[static_cast<size_t>(temporaries.plan.block_of[i])];
        pointers_[b] = Cat("((", c::ElementType(decl.dtype.scalar()), "*)(temp + ", offset, "))");
      }
    }
    if (entry.scratch_bytes > 0) out += "  unsigned char* const temp = scratch;\n";
    for (const ScheduledKernel& item : schedule) {
      TG_ASSIGN_OR_RETURN(const std::string launch,
                          item.kernel == nullptr ? Copy(item) : Launch(item));
      out += launch;
    }
    return out;
  }

  absl::StatusOr<std::string> Copy(const ScheduledKernel& item) const {
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

  // Writes the number of groups as a C expression; `lines` are what computes it.
  absl::StatusOr<std::string> Groups(const codegen::SizeExpr& size,
                                     const std::map<std::string, std::string>& vars,
                                     std::string_view prefix, std::string& lines) const {
    std::vector<std::string> text;
    for (const codegen::SizeExpr::Step& s : size.steps()) {
      const auto in = [&](size_t i) { return text[s.operands[i]]; };
      const auto both = [&](std::string_view op) {
        return Cat("(", in(0), " ", op, " ", in(1), ")");
      };
      std::string e;
      switch (s.op) {
        case Op::kConst:
          text.push_back(Int64(s.value));
          continue;
        case Op::kVar:
          text.push_back(vars.at(s.var));
          continue;
        case Op::kAdd:
          e = both("+");
          break;
        case Op::kSub:
          e = both("-");
          break;
        case Op::kMul:
          e = both("*");
          break;
        case Op::kCDiv:
          e = both("/");
          break;
        case Op::kCMod:
          e = both("%");
          break;
        case Op::kAnd:
          e = both("&");
          break;
        case Op::kOr:
          e = both("|");
          break;
        case Op::kXor:
          e = both("^");
          break;
        case Op::kShl:
          e = both("<<");
          break;
        case Op::kShr:
          e = both(">>");
          break;
        case Op::kCmpLt:
          e = both("<");
          break;
        case Op::kCmpNe:
          e = both("!=");
          break;
        case Op::kNeg:
          e = Cat("-", in(0));
          break;
        case Op::kMax:
          e = Cat("(", in(0), " < ", in(1), " ? ", in(1), " : ", in(0), ")");
          break;
        case Op::kMin:
          e = Cat("(", in(1), " < ", in(0), " ? ", in(1), " : ", in(0), ")");
          break;
        case Op::kWhere:
          e = Cat("(", in(0), " ? ", in(1), " : ", in(2), ")");
          break;
        case Op::kCast:
          e = s.type == Scalar::kBool ? Cat("(", in(0), " != 0)")
                                      : Cat("(", c::ElementType(s.type), ")", in(0));
          break;
        default:
          return Unimplemented("the number of groups depends on ", Mnemonic(s.op));
      }
      if (IsFloat(s.type) || IsFloat(s.operand_type)) {
        return Unimplemented("the number of groups depends on a float");
      }
      const std::string name = Cat(prefix, text.size());
      lines += Cat("    const int64_t ", name, " = ", e, ";\n");
      text.push_back(name);
    }
    return text.back();
  }

  absl::StatusOr<std::string> Launch(const ScheduledKernel& item) const {
    const codegen::RenderedKernel& k = *rendered_.at(item.kernel);
    std::map<std::string, std::string> vars(var_names_.begin(), var_names_.end());
    for (const VarUse& var : item.vars) {
      if (var.bound) vars[var.name] = Int64(*var.bound);
    }
    std::string args, lines, open;
    for (const codegen::KernelParam& p : k.params) {
      if (p.is_var) {
        args += Cat(args.empty() ? "" : ", ", "(", c::ElementType(p.dtype.scalar()), ")",
                    vars.at(p.name));
        continue;
      }
      if (p.slot < 0 || static_cast<size_t>(p.slot) >= item.buffers.size()) {
        return InvalidArgument("kernel @", item.kernel->name, " reads its argument ", p.slot,
                               ", but the graph gives it ", item.buffers.size(), " buffers");
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
        TG_ASSIGN_OR_RETURN(const std::string n, Groups(size, vars, Cat("n", d, "_"), lines));
        open += Cat(std::string(2 + 2 * static_cast<size_t>(loops), ' '), "for (int64_t ", id,
                    " = 0; ", id, " < ", n, "; ", id, "++) {\n");
      }
      ++loops;
    }
    for (int d = 0; d < 3; ++d) {
      if (!k.groups[d].IsConst() || k.groups[d].steps()[0].value != 1) {
        args += Cat(args.empty() ? "" : ", ", "(int32_t)g", d);
      }
    }
    if (k.group_memory > 0) args += Cat(args.empty() ? "" : ", ", "group");
    std::string out = lines.empty() ? "" : "  {\n" + lines;
    out +=
        Cat(open, std::string(2 + 2 * static_cast<size_t>(loops), ' '), k.name, "(", args, ");\n");
    for (int i = loops; i-- > 0;)
      out += Cat(std::string(2 + 2 * static_cast<size_t>(i), ' '), "}\n");
    if (!lines.empty()) out += "  }\n";
    return out;
  }

  void Describe(const CEntry& entry, const std::string& head, std::string& header) const {
    header += Cat("\n// Graph @", InComment(entry.graph->name), ":\n");
    for (size_t i = 0; i < entry.buffers.size(); ++i) {
      const BufferDecl& b = module_.buffers[static_cast<size_t>(entry.buffers[i])];
      header += Cat("//   ", entry.names[i], " is ", Signature(b));
      if (!b.file.empty())
        header += InComment(Cat(", ", b.tensor.empty() ? "" : b.tensor + " ", "in ", b.file));
      header += "\n";
    }
    for (size_t i = 0; i < entry.vars.size(); ++i) {
      const VarDecl& var = *module_.FindVar(entry.vars[i]);
      header += Cat("//   ", entry.names[entry.buffers.size() + i], " is ", InComment(var.name),
                    ", ", var.min, " to ", var.max, "\n");
    }
    const std::string macro = Upper(entry.function) + "_SCRATCH";
    header += Cat("//   scratch is ", macro, " bytes, aligned to ", kAlign,
                  ", without a declared type (from aligned_alloc); null if 0\n#define ", macro, " ",
                  entry.scratch_bytes, "\n", head, ";\n");
  }

  const Module& module_;
  std::map<const tg::Kernel*, const codegen::RenderedKernel*> rendered_;
  int64_t group_memory_ = 0;
  std::set<std::string> taken_;
  std::map<int, std::string> constants_, pointers_;  // by buffer
  std::map<std::string, std::string> var_names_;
  std::set<int> written_;
};

}  // namespace

absl::StatusOr<CUnit> MakeCUnit(const Module& module, const codegen::Renderer& renderer,
                                const passes::Target& target, passes::ThreadPool* workers) {
  if (!module.requirements.empty()) {
    return Unimplemented(renderer.name(), ": module @", module.name,
                         " has requirements on its variables, which a C unit does not check");
  }
  TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                      codegen::RenderAll(renderer, module, target, workers));
  CUnit unit;
  unit.source = std::move(rendered.source);
  const std::string guard = Upper(c::CIdentifier(module.name)) + "_H_";
  unit.header =
      Cat("// Module @", InComment(module.name),
          " as C functions, by tg. They return 0, or 1 if a variable is out of bounds.\n#ifndef ",
          guard, "\n#define ", guard,
          "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" "
          "{\n#endif\n");
  std::set<int> used;
  for (const auto& graph : module.graphs) {
    TG_ASSIGN_OR_RETURN(const auto schedule, MakeSchedule(module, *graph));
    Writer(module, rendered.kernels).FindUsed(schedule, used);
  }
  std::string text;
  Writer(module, rendered.kernels).Constants(used, text);
  for (const auto& graph : module.graphs) {
    Writer writer(module, rendered.kernels);
    std::string constants;  // the same for each graph
    writer.Constants(used, constants);
    TG_ASSIGN_OR_RETURN(CEntry entry, writer.Entry(*graph, text, unit.header));
    unit.entries.push_back(std::move(entry));
  }
  unit.source += text;
  unit.header += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return unit;
}

}  // namespace tg::runtime
