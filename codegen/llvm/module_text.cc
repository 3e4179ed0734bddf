// Writes the module around a kernel's body.
#include <algorithm>

#include "codegen/llvm/kernel_writer.h"

namespace tg::llvm_ir {
namespace {

// Returns, for each parameter, whether some call may pass it memory that another one shares while
// one of the two is written. A kernel without calls is assumed to get distinct buffers.
std::vector<bool> Aliased(UOpSpan calls, const std::vector<codegen::KernelParam>& params) {
  std::vector<bool> aliased(params.size(), false);
  for (const UOp* call : calls) {
    const auto buffer = [&](const codegen::KernelParam& p) -> const UOp* {
      const auto slot = static_cast<size_t>(p.slot);
      return p.is_var || slot >= call->num_srcs ? nullptr : BufferOf(call->src(slot));
    };
    for (size_t i = 0; i < params.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const UOp* a = buffer(params[i]);
        if (a == nullptr || a != buffer(params[j])) continue;
        if (params[i].writes || params[j].writes) aliased[i] = aliased[j] = true;
      }
    }
  }
  return aliased;
}

std::string Quoted(std::string_view name) {
  std::string out = "@\"";
  for (const char c : name) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    constexpr char kHex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      out += c;
    } else {
      out += {'\\', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + "\"";
}

}  // namespace

absl::Status KernelWriter::CollectParams() {
  llvm::DenseMap<const UOp*, int> uses;  // 1 read, 2 written
  std::vector<const UOp*> buffers, vars, grid;
  for (const UOp* u : kernel_.body.linear) {
    switch (u->op) {
      case Op::kLoad:
        uses[MemoryOf(u->src(0))] |= 1;
        break;
      case Op::kCopyTransposed:
        uses[MemoryOf(u->src(1))] |= 1;
        [[fallthrough]];
      case Op::kStore:
        uses[MemoryOf(u->src(0))] |= 2;
        break;
      case Op::kDefineGlobal:
        buffers.push_back(u);
        break;
      case Op::kVar:
        vars.push_back(u);
        break;
      case Op::kSpecial:
        if (u->word() < static_cast<int64_t>(SpecialName::kLocal0)) {
          grid.push_back(u);
        } else {
          locals_[u->word() - static_cast<int64_t>(SpecialName::kLocal0)] = u;
          values_[u->id] = "0";
        }
        break;
      default:
        break;
    }
  }
  const auto name = [&](const UOp* u) { return ctx_.String(static_cast<StringId>(u->word())); };
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const UOp* a, const UOp* b) { return a->word() < b->word(); });
  std::stable_sort(vars.begin(), vars.end(),
                   [&](const UOp* a, const UOp* b) { return name(a) < name(b); });
  result_.launch.name = kernel_.name;
  for (const UOp* u : buffers) {
    if (u->dtype.is_image()) return Unsupported(u, absl::StrCat(target_.name, " has no images"));
    codegen::KernelParam param;
    param.slot = static_cast<int>(u->word());
    param.name = absl::StrCat("data", param.slot);
    param.dtype = u->dtype;
    param.reads = uses[u] & 1;
    param.writes = uses[u] & 2;
    memory_[u] = "%" + param.name;
    result_.launch.params.push_back(std::move(param));
  }
  for (size_t i = 0; i < vars.size(); ++i) {
    codegen::KernelParam param;
    param.is_var = true;
    param.name = name(vars[i]);
    param.dtype = vars[i]->dtype.is_index() ? kI64 : vars[i]->dtype;
    values_[vars[i]->id] = absl::StrCat("%var", i);
    result_.launch.params.push_back(std::move(param));
  }
  const std::vector<bool> aliased = Aliased(calls_.Of(kernel_.name), result_.launch.params);
  size_t var = 0;
  for (size_t i = 0; i < result_.launch.params.size(); ++i) {
    const codegen::KernelParam& p = result_.launch.params[i];
    if (p.is_var) {
      absl::StrAppend(&parameters_, ValueType(p.dtype), " %var", var++, ", ");
    } else {
      absl::StrAppend(&parameters_, "ptr ", aliased[i] ? "" : "noalias ", "%", p.name, ", ");
    }
  }
  absl::StrAppend(&parameters_, "ptr noalias %scratch");
  for (const UOp* u : grid) {
    values_[u->id] = absl::StrCat("%gid", u->word());
    absl::StrAppend(&parameters_, ", ", ValueType(u->dtype), " %gid", u->word());
  }
  return absl::OkStatus();
}

std::string KernelWriter::Functions() {
  const std::string name = Quoted(kernel_.name), body = Quoted(kernel_.name + ".group");
  std::string out = absl::StrCat("define internal void ", body, "(", parameters_,
                                 ") #0 {\nentry:\n", entry_, body_, "}\n\n");
  // The function that a runtime calls: it loads the arguments.
  absl::StrAppend(&out, "define void ", name,
                  "(ptr %arguments, ptr %scratch, i64 %group0, i64 %group1, i64 %group2) #0 {\n");
  std::string arguments;
  const std::vector<codegen::KernelParam>& params = result_.launch.params;
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string type = params[i].is_var ? ValueType(params[i].dtype) : "ptr";
    absl::StrAppend(&out, "  %p", i, " = getelementptr i64, ptr %arguments, i64 ", i, "\n  %a", i,
                    " = load ", type, ", ptr %p", i, ", align 8\n");
    absl::StrAppend(&arguments, type, " %a", i, ", ");
  }
  arguments += "ptr %scratch";
  for (const UOp* u : kernel_.body.linear) {
    if (u->op != Op::kSpecial || IsLocalId(u)) continue;
    const std::string type = ValueType(u->dtype);
    std::string id = absl::StrCat("%group", u->word());
    if (type != "i64") {
      absl::StrAppend(&out, "  %g", u->word(), " = trunc i64 ", id, " to ", type, "\n");
      id = absl::StrCat("%g", u->word());
    }
    absl::StrAppend(&arguments, ", ", type, " ", id);
  }
  absl::StrAppend(&out, "  call void ", body, "(", arguments, ")\n  ret void\n}\n");
  return out;
}

std::string ModuleText(std::span<const WrittenKernel> kernels, const passes::Target& target) {
  std::string out;
  std::set<std::string> declarations;
  int64_t zeros = 0;
  bool unrolls = false;
  for (const WrittenKernel& kernel : kernels) {
    unrolls |= kernel.unrolls;
    declarations.insert(kernel.declarations.begin(), kernel.declarations.end());
    zeros = std::max(zeros, kernel.zeros);
  }
  if (zeros > 0) {
    absl::StrAppend(&out, "@zeros = internal constant [", zeros,
                    " x i8] zeroinitializer, align 64\n\n");
  }
  for (const std::string& declaration : declarations) out += declaration;
  if (!declarations.empty()) out += "\n";
  for (const WrittenKernel& kernel : kernels) absl::StrAppend(&out, kernel.launch.body, "\n");
  absl::StrAppend(&out, "attributes #0 = { nounwind \"no-builtins\" \"prefer-vector-width\"=\"",
                  8 * target.alu_width, "\" }\n");
  if (unrolls) out += "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.full\"}\n";
  return out;
}

}  // namespace tg::llvm_ir
