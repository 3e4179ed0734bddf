// The head of a function: its comment, name and parameters.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/hash.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"
#include "codegen/clike/spelling.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::clike {
// Keywords of C and of languages made from it.
bool IsKeyword(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "auto",   "bool",     "break",  "case",     "char",   "const",   "continue", "default",
      "do",     "double",   "else",   "enum",     "extern", "float",   "for",      "goto",
      "half",   "if",       "inline", "int",      "long",   "private", "register", "restrict",
      "return", "short",    "signed", "sizeof",   "static", "struct",  "switch",   "typedef",
      "union",  "unsigned", "void",   "volatile", "while",  "fma",     "size_t"};
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

std::string Identifier(std::string_view name) {
  std::string out;
  for (char c : name) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += ok ? c : '_';
  }
  return out;
}

// Names that a variable of the module must not have in the source: keywords, the functions that the
// renderer calls (functions of ops are in the table), and the renderer's own names.
bool KernelWriter::IsTaken(std::string_view name) const {
  if (IsKeyword(name) || name.starts_with("__")) return true;
  if (language_.spellings->IsSpelled(name) || IsReserved(name)) return true;
  const size_t letters = name.find_first_of("0123456789");
  if (letters == std::string_view::npos) return false;
  const std::string_view stem = name.substr(0, letters);
  for (std::string_view mine : {"v", "i", "acc", "data", "pick", "gid", "lid", "tile"}) {
    if (stem == mine) return true;
  }
  return false;
}

std::string FunctionName(std::string_view kernel) {
  std::string name;
  bool changed = false;
  for (char c : kernel) {
    const bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += ok ? c : '_';
    changed |= !ok;
  }
  if (!kernel.starts_with("r_") && !kernel.starts_with("E_")) name = absl::StrCat("k_", name);
  return changed ? absl::StrFormat("%s_%08x", name, Fnv32(kernel)) : name;
}

std::vector<bool> AliasedSlots(UOpSpan calls, const std::vector<codegen::KernelParam>& args) {
  std::vector<bool> aliased(args.size(), false);
  for (const UOp* u : calls) {
    std::vector<const UOp*> buffers;
    for (const UOp* s : u->srcs()) buffers.push_back(BufferOf(s));
    for (size_t i = 0; i < args.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (args[i].is_var || args[j].is_var || !(args[i].writes || args[j].writes)) continue;
        const auto a = static_cast<size_t>(args[i].slot), b = static_cast<size_t>(args[j].slot);
        if (a >= u->num_srcs || b >= u->num_srcs) continue;
        if (buffers[a] == buffers[b]) aliased[i] = aliased[j] = true;
      }
    }
  }
  return aliased;
}

absl::Status KernelWriter::CollectParams() {
  // The uses of a buffer decide how its parameter is declared.
  llvm::DenseMap<const UOp*, int> uses;  // 1 read, 2 written
  std::vector<const UOp*> buffers, vars;
  for (const UOp* u : kernel_.body.linear) {
    if (ReadsMemory(u->op)) uses[MemoryOf(u->src(AddressRead(u->op)))] |= 1;
    if (WritesMemory(u->op)) uses[MemoryOf(u->src(0))] |= 2;
    if (u->op == Op::kDefineGlobal) buffers.push_back(u);
    if (u->op == Op::kVar) vars.push_back(u);
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const UOp* a, const UOp* b) { return a->word() < b->word(); });
  std::stable_sort(vars.begin(), vars.end(), [&](const UOp* a, const UOp* b) {
    return ctx_.String(static_cast<StringId>(a->word())) <
           ctx_.String(static_cast<StringId>(b->word()));
  });
  for (const UOp* u : buffers) {
    codegen::KernelParam arg;
    arg.slot = static_cast<int>(u->word());
    arg.name = absl::StrCat("data", arg.slot);
    arg.dtype = u->dtype;
    arg.reads = uses[u] & 1;
    arg.writes = uses[u] & 2;
    if (u->dtype.is_image() && arg.reads && arg.writes) {
      return Unsupported(u, "a kernel cannot both read and write an image");
    }
    memory_names_[u] = arg.name;
    result_.params.push_back(std::move(arg));
  }
  for (const UOp* u : vars) {
    codegen::KernelParam arg;
    arg.is_var = true;
    arg.name = ctx_.String(static_cast<StringId>(u->word()));
    arg.dtype = u->dtype.is_index() ? kI64 : u->dtype;
    std::string name = Identifier(arg.name);
    while (IsTaken(name) ||
           std::find(var_names_.begin(), var_names_.end(), name) != var_names_.end()) {
      name += "_";
    }
    exprs_[u].text = name;
    var_names_.push_back(std::move(name));
    result_.params.push_back(std::move(arg));
  }
  return absl::OkStatus();
}

std::vector<std::string> KernelWriter::Parameters() const {
  std::vector<std::string> params;
  size_t var = 0;
  const std::vector<bool> aliased = AliasedSlots(calls_.Of(kernel_.name), result_.params);
  for (size_t i = 0; i < result_.params.size(); ++i) {
    const codegen::KernelParam& p = result_.params[i];
    params.push_back(p.is_var
                         ? Cat("const ", ValueType(p.dtype.scalar(), 1), " ", var_names_[var++])
                         : BufferParameter(p, aliased[i]));
  }
  return params;
}

std::string KernelWriter::Comment() const {
  std::string out;
  if (!kernel_.metadata.empty()) {
    Append(out, "// ", absl::StrJoin(kernel_.metadata, ", "), "\n");
  }
  size_t line = out.size();
  for (const Axis& a : kernel_.axes) {
    const std::string axis =
        Cat(a.name, ":", a.size, a.symbolic ? "*" : "", " ", AxisKindName(a.kind));
    if (out.size() > line && out.size() - line + axis.size() + 2 > kMaxLine) {
      out += ",\n";
      line = out.size();
    }
    Append(out, out.size() == line ? "// " : ", ", axis);
  }
  if (!kernel_.axes.empty()) out += "\n";
  // A line break in the text would end the comment.
  for (char& c : out) {
    if (c == '\\' || c == '\r') c = ' ';
  }
  return out;
}

std::string ParameterList(std::string_view head, std::span<const std::string> params,
                          size_t column) {
  const std::string pad(column, ' ');
  std::string out(head);
  for (size_t i = 0; i < params.size(); ++i) {
    if (i > 0 && column + params[i].size() + 4 > kMaxLine) {
      absl::StrAppend(&out, ",\n", pad);
      column = pad.size();
    } else if (i > 0) {
      out += ", ";
      column += 2;
    }
    out += params[i];
    column += params[i].size();
  }
  return out;
}

}  // namespace tg::clike
