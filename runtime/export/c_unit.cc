#include "runtime/export/c_unit.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/status.h"
#include "codegen/c/renderer.h"
#include "codegen/llvm/renderer.h"
#include "passes/analysis/kernel_axes.h"
#include "runtime/export/c_entry.h"
#include "runtime/plan/extents.h"
#include "runtime/session/params.h"

namespace tg::runtime {
namespace {

std::string Upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

bool IsConstant(const BufferDecl& b) { return b.values.has_value() && !b.values->empty(); }

class UnitWriter {
 public:
  UnitWriter(const Module& module, std::span<const codegen::RenderedKernel> kernels,
             std::string_view name, CUnit& unit)
      : module_(module), name_(name), unit_(unit) {
    for (size_t i = 0; i < module.kernels.size(); ++i) {
      rendered_[static_cast<int>(i)] = &kernels[i];
    }
  }

  absl::Status Write() {
    std::set<int> used;
    for (const auto& graph : module_.graphs) {
      TG_ASSIGN_OR_RETURN(const auto schedule, MakeSchedule(module_, *graph));
      FindUsedBuffers(schedule, rendered_, used);
    }
    TG_RETURN_IF_ERROR(LayOut(used));
    Constants(used);
    std::vector<const Graph*> order;
    const Graph* init = module_.FindGraph(kInitGraph);
    if (init) order.push_back(init);
    for (const auto& graph : module_.graphs) {
      if (graph.get() != init) order.push_back(graph.get());
    }
    if (!init && !unit_.states.empty()) WriteReset();
    for (const Graph* graph : order) {
      const std::string first = graph == init ? Reset() : "";
      CEntryWriter writer(module_, rendered_, unit_, constants_);
      const std::string function = c::CIdentifier(Cat(name_, "_", graph->name));
      TG_ASSIGN_OR_RETURN(CEntry entry, writer.Write(*graph, function, first, unit_.source));
      unit_.scratch_bytes = std::max(unit_.scratch_bytes, entry.scratch_bytes);
      unit_.entries.push_back(std::move(entry));
    }
    WriteHeader();
    return absl::OkStatus();
  }

 private:
  const BufferDecl& Decl(int buffer) const { return module_.buffers[static_cast<size_t>(buffer)]; }

  absl::Status LayOut(const std::set<int>& used) {
    for (const int b : used) {
      const BufferDecl& decl = Decl(b);
      const bool is_state = decl.role == Role::kState;
      if (decl.dtype.is_image() || (decl.file.empty() && !is_state)) continue;
      TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(module_, decl));
      const auto add = [&, b = b](std::vector<CBlockPart>& parts, size_t& size) {
        parts.push_back({b, size});
        size += AlignedC(std::max<size_t>(bytes, 1));
      };
      if (!decl.file.empty()) add(unit_.weights, unit_.weights_bytes);
      if (is_state) add(unit_.states, unit_.states_bytes);
    }
    return absl::OkStatus();
  }

  // Writes the constants that kernels read, and initial values of states.
  void Constants(const std::set<int>& used) {
    std::set<std::string> taken;
    for (const int b : used) {
      const BufferDecl& decl = Decl(b);
      const bool is_state = decl.role == Role::kState;
      if (!IsConstant(decl) || (decl.role != Role::kParam && !is_state)) continue;
      std::string name = Cat("c_", c::CIdentifier(decl.name));
      while (!taken.insert(name).second) name += "_";
      std::string list;
      for (const int64_t bits : *decl.values) {
        if (!list.empty()) list += list.size() - list.rfind('\n') > 80 ? ",\n    " : ", ";
        list += c::ElementLiteral(decl.dtype.scalar(), bits);
      }
      unit_.source += Cat("\n// ", CDeclaration(decl), "\nstatic const ",
                          c::ElementType(decl.dtype.scalar()), " ", name, "[] = {", list, "};\n");
      (is_state ? initial_ : constants_)[b] = name;
    }
  }

  // The statements that give states their initial values.
  std::string Reset() const {
    if (unit_.states.empty()) return "";
    std::string out = Cat("  memset(states, 0, ", unit_.states_bytes, ");\n");
    for (const CBlockPart& part : unit_.states) {
      std::string from;
      if (const auto values = initial_.find(part.buffer); values != initial_.end()) {
        out += Cat("  memcpy((unsigned char*)states + ", part.offset, ", ", values->second,
                   ", sizeof ", values->second, ");\n");
      }
      for (const CBlockPart& file : unit_.weights) {
        if (file.buffer != part.buffer) continue;
        out += Cat("  memcpy((unsigned char*)states + ", part.offset,
                   ", (const unsigned char*)weights + ", file.offset, ", ",
                   BufferBytes(module_, Decl(part.buffer)).value_or(0), ");\n");
      }
    }
    return out;
  }

  // Writes the initialization of a module without a graph @init.
  void WriteReset() {
    CEntry entry;
    entry.function = c::CIdentifier(Cat(name_, "_", kInitGraph));
    entry.prototype = CPrototype(
        Cat("int ", entry.function, "("),
        Cat(unit_.weights.empty() ? "" : "const void* weights, ", "void* states, void* scratch"));
    unit_.source +=
        Cat("\n", entry.prototype, " {\n", unit_.weights.empty() ? "" : "  (void)weights;\n",
            "  (void)scratch;\n", Reset(), "  return 0;\n}\n");
    unit_.entries.push_back(std::move(entry));
  }

  void WriteHeader() {
    const std::string prefix = Upper(c::CIdentifier(name_)), guard = prefix + "_H_";
    std::string& out = unit_.header;
    out = Cat("// Module @", InCComment(module_.name),
              " as C functions, by tg. They return 0, or 1 if a size or another variable is not\n"
              "// allowed; then nothing has been written. Buffers are arrays in row-major order.\n"
              "#ifndef ",
              guard, "\n#define ", guard, "\n\n#include <stdint.h>\n",
              "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
              "\n// Memory that the caller gives: bytes, from an address that is a multiple of ",
              kCAlign, ", as\n// aligned_alloc(", kCAlign, ", bytes) gives it.\n");
    if (!unit_.weights.empty()) {
      out += Cat("// weights: the contents of ", InCComment(name_),
                 ".weights, which are only read\n#define ", prefix, "_WEIGHTS_BYTES ",
                 unit_.weights_bytes, "\n");
    }
    if (!unit_.states.empty()) {
      out += Cat("// states: what is kept between runs, prepared weights among it; ",
                 unit_.entries[0].function, " sets it once,\n// before the others run\n#define ",
                 prefix, "_STATES_BYTES ", unit_.states_bytes, "\n");
      for (const CBlockPart& part : unit_.states) {
        out += Cat("//   byte ", part.offset, ": ", CDeclaration(Decl(part.buffer)), "\n");
      }
    }
    out += Cat("// scratch: any contents; a run leaves nothing there",
               unit_.scratch_bytes ? "" : " (it may be null)", "\n#define ", prefix,
               "_SCRATCH_BYTES ", unit_.scratch_bytes, "\n");
    for (const CEntry& entry : unit_.entries) Describe(entry);
    out += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  }

  void Describe(const CEntry& entry) {
    std::string& out = unit_.header;
    out +=
        Cat("\n// ", entry.graph ? Cat("Graph @", InCComment(entry.graph->name)) : "Initial state",
            entry.names.empty() ? "" : ":", "\n");
    for (size_t i = 0; i < entry.buffers.size(); ++i) {
      out += Cat("//   ", entry.names[i], " is ", CDeclaration(Decl(entry.buffers[i])), "\n");
    }
    for (size_t i = 0; i < entry.vars.size(); ++i) {
      const VarDecl& var = *module_.FindVar(entry.vars[i]);
      out += Cat("//   ", entry.names[entry.buffers.size() + i], " is @", InCComment(var.name),
                 ", ", var.min, " to ", var.max, "\n");
    }
    out += entry.prototype + ";\n";
  }

  const Module& module_;
  const std::string name_;
  CUnit& unit_;
  RenderedKernels rendered_;
  std::map<int, std::string> constants_, initial_;  // by buffer
};

std::string NameOf(const Module& module, std::string_view name) {
  if (!name.empty()) return std::string(name);
  return module.name.empty() ? "module" : module.name;
}

}  // namespace

absl::StatusOr<CUnit> MakeCUnit(const Module& module, const codegen::Renderer& renderer,
                                const passes::Target& target, passes::ThreadPool* workers,
                                std::string_view name) {
  TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                      codegen::RenderAll(renderer, module, target, workers));
  CUnit unit;
  unit.source = std::move(rendered.source);
  TG_RETURN_IF_ERROR(UnitWriter(module, rendered.kernels, NameOf(module, name), unit).Write());
  return unit;
}

absl::StatusOr<CUnit> MakeObjectUnit(const Module& module, const passes::Target& target,
                                     passes::ThreadPool* workers, std::string_view name) {
  const std::string unit_name = NameOf(module, name);
  const std::unique_ptr<Module> renamed = Clone(module);
  // Those of a program's other models, or its functions, may have the kernel's name.
  std::map<std::string, std::string> names;
  for (const auto& kernel : renamed->kernels) {
    names[kernel->name] = c::CIdentifier(Cat(unit_name, "_", kernel->name));
  }
  analysis::RenameKernels(*renamed, names);
  TG_ASSIGN_OR_RETURN(codegen::RenderedModule rendered,
                      codegen::RenderAll(llvm_ir::LlvmRenderer(), *renamed, target, workers));
  CUnit unit;
  unit.assembly = std::move(rendered.source);
  unit.source = "#include <stdint.h>\n#include <string.h>\n";
  for (const codegen::RenderedKernel& kernel : rendered.kernels) {
    unit.source += Cat("\nvoid ", kernel.name,
                       "(const void* const* arguments, void* scratch, int64_t group0, int64_t "
                       "group1,\n    int64_t group2);");
  }
  unit.source += "\n";
  TG_RETURN_IF_ERROR(UnitWriter(*renamed, rendered.kernels, unit_name, unit).Write());
  // These point into the clone.
  for (CEntry& entry : unit.entries) {
    if (entry.graph != nullptr) entry.graph = module.FindGraph(entry.graph->name);
  }
  return unit;
}

absl::StatusOr<std::string> ReadCWeights(const Module& module, const CUnit& unit) {
  std::string out(unit.weights_bytes, '\0');
  ParamReader reader(module);
  for (const CBlockPart& part : unit.weights) {
    const BufferDecl& decl = module.buffers[static_cast<size_t>(part.buffer)];
    TG_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, reader.Read(decl));
    std::memcpy(out.data() + part.offset, bytes.data(), bytes.size());
  }
  return out;
}

}  // namespace tg::runtime
