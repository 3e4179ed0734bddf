#include "codegen/opencl/kernel_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/opencl/types.h"
#include "ir/check.h"

namespace tg::opencl {
namespace {

// Expressions longer than this get a name even where they are used once.
constexpr size_t kMaxInline = 56;
constexpr size_t kMaxLine = 100;

bool HasFlag(const Module& m, std::string_view flag) {
  return std::find(m.flags.begin(), m.flags.end(), flag) != m.flags.end();
}

// Names that a variable of the module may not have in the source: OpenCL C's words, the functions that
// the renderer calls, and what it calls things itself.
bool IsTaken(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "auto",     "bool",     "break",    "case",     "char",    "const",    "continue", "default",
      "do",       "double",   "else",     "enum",     "event_t", "exp2",     "extern",   "float",
      "fma",      "for",      "global",   "goto",     "half",    "if",       "inline",   "int",
      "kernel",   "local",    "log2",     "long",     "max",     "min",      "nearest",  "pow",
      "private",  "quad",     "register", "restrict", "return",  "select",   "short",    "signed",
      "sin",      "size_t",   "sizeof",   "sqrt",     "static",  "struct",   "switch",   "typedef",
      "uchar",    "uint",     "ulong",    "union",    "unsigned", "ushort",  "void",     "volatile",
      "while",    "constant", "image2d_t", "sampler_t", "barrier"};
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)) return true;
  if (name.starts_with("__") || name.starts_with("as_") || name.starts_with("convert_") ||
      name.starts_with("get_") || name.starts_with("vload") || name.starts_with("vstore")) {
    return true;
  }
  size_t letters = name.find_first_of("0123456789");
  if (letters == std::string_view::npos) return false;
  const std::string_view stem = name.substr(0, letters);
  for (std::string_view mine : {"v", "i", "acc", "data", "gid", "lid", "tile", "char", "uchar",
                                "short", "ushort", "int", "uint", "long", "ulong", "float",
                                "double", "half", "quad"}) {
    if (stem == mine) return true;
  }
  return false;
}

std::string Identifier(std::string_view name) {
  std::string out;
  for (char c : name) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += ok ? c : '_';
  }
  return out;
}

}  // namespace

KernelWriter::KernelWriter(const Module& module, const Kernel& kernel, const Target& target)
    : module_(module),
      kernel_(kernel),
      target_(target),
      ctx_(*kernel.body.context),
      plan_(kernel, target),
      bounds_(*kernel.body.context, &module),
      no_contract_(HasFlag(module, "no-contract")),
      no_nan_(HasFlag(module, "no-nan")) {}

absl::Status KernelWriter::Unsupported(const UOp* u, std::string_view why) const {
  return absl::UnimplementedError(absl::StrCat(
      "opencl: kernel @", kernel_.name, ": cannot render ", std::string(Mnemonic(u->op)), " : ",
      u->dtype.ToString(), "; ", absl::string_view(why.data(), why.size())));
}

absl::StatusOr<RenderedKernel> KernelWriter::Run(Prelude& prelude) {
  prelude_ = &prelude;
  if (no_contract_) prelude.NoContraction();
  result_.name = FunctionName(kernel_.name);
  // What a buffer is used for decides how it is declared.
  NodeMap<int> uses;  // 1 read, 2 written
  for (const UOp* u : kernel_.body.linear) {
    if (u->op == Op::kLoad || u->op == Op::kLdMatrix) uses[MemoryOf(u->src(0))] |= 1;
    if (u->op == Op::kStore || u->op == Op::kCopyAsync) uses[MemoryOf(u->src(0))] |= 2;
    if (u->op == Op::kCopyAsync) uses[MemoryOf(u->src(1))] |= 1;
  }
  std::vector<const UOp*> buffers, vars;
  for (const UOp* u : kernel_.body.linear) {
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
    KernelParam arg;
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
    KernelParam arg;
    arg.is_var = true;
    arg.name = ctx_.String(static_cast<StringId>(u->word()));
    arg.dtype = u->dtype.is_index() ? kI64 : u->dtype;
    std::string name = Identifier(arg.name);
    if (IsTaken(name)) name += "_";
    exprs_[u].text = name;
    var_names_.push_back(std::move(name));
    result_.params.push_back(std::move(arg));
  }
  for (const UOp* u : kernel_.body.linear) {
    position_ = plan_.position(u);
    if (absl::Status s = Write(u); !s.ok()) return s;
  }
  if (indent_ != 1) return Unsupported(kernel_.body.root, "a loop or if is not closed");
  result_.body = absl::StrCat(Comment(), Signature(), body_, "}\n");
  result_.source = absl::StrCat(prelude.Text(), result_.body);
  return std::move(result_);
}

absl::Status KernelWriter::CheckType(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  if (!u->dtype.is_value() || u->dtype.is_void()) return absl::OkStatus();
  const int n = u->dtype.lanes();
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
    return Unsupported(u, "OpenCL's vectors have 2, 4, 8 or 16 lanes");
  }
  // What is only stored is moved as bits.
  const bool bits = s == Scalar::kBF16 || s == Scalar::kFp8E4M3 || s == Scalar::kFp8E5M2;
  if (bits ? IsElementwise(u->op) || IsConst(u) : !ComputesIn(target_, s)) {
    return Unsupported(u, absl::StrCat(target_.name, " does not compute in ",
                                       std::string(GetScalarInfo(s).text)));
  }
  prelude_->UsesScalar(s);
  return absl::OkStatus();
}

absl::Status KernelWriter::Write(const UOp* u) {
  if (absl::Status s = CheckType(u); !s.ok()) return s;
  switch (u->op) {
    case Op::kConst:
    case Op::kVConst:
    case Op::kVar:
    case Op::kDefineGlobal:
    case Op::kAfter:
    case Op::kIndex:
    case Op::kSink:
      return absl::OkStatus();
    case Op::kNoop:
      return u->dtype.is_void() ? absl::OkStatus() : WriteValue(u);
    case Op::kScratch:
      WriteScratch(u);
      return absl::OkStatus();
    case Op::kSpecial:
      return WriteSpecial(u);
    case Op::kRange:
      WriteRange(u);
      return absl::OkStatus();
    case Op::kEnd:
      for (size_t i = 1; i < u->num_srcs; ++i) {
        --indent_;
        Line("}");
      }
      return absl::OkStatus();
    case Op::kIf:
      Line(absl::StrCat("if (", Operand(u->src(0), kTernary), ") {"));
      ++indent_;
      ifs_.push_back(u->src(0));
      return absl::OkStatus();
    case Op::kEndIf:
      ifs_.pop_back();
      --indent_;
      Line("}");
      return absl::OkStatus();
    case Op::kBarrier:
      Line(absl::StrCat("barrier(", BarrierFences(u), ");"));
      return absl::OkStatus();
    case Op::kLoad:
      return WriteLoad(u);
    case Op::kStore:
      return WriteStore(u);
    case Op::kCopyAsync:
    case Op::kCommit:
    case Op::kWait:
    case Op::kShuffle:
    case Op::kWmma:
    case Op::kLdMatrix:
      return WriteCooperation(u);
    default:
      if (IsElementwise(u->op) || u->op == Op::kGep || u->op == Op::kSplat ||
          u->op == Op::kVectorize || u->op == Op::kCat) {
        return WriteValue(u);
      }
      return Unsupported(u, "it has no place in a linear kernel");
  }
}

// Global memory too where the kernel both writes and reads some.
std::string KernelWriter::BarrierFences(const UOp*) const {
  for (const KernelParam& arg : result_.params) {
    if (arg.reads && arg.writes) return "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";
  }
  return "CLK_LOCAL_MEM_FENCE";
}

void KernelWriter::WriteScratch(const UOp* u) {
  const DType t = u->dtype;
  if (t.space() == AddrSpace::kReg && !plan_.PiecesOf(u).empty()) {
    std::string names, type;
    auto flush = [&] {
      if (!names.empty()) Line(absl::StrCat(type, " ", names, ";"));
      names.clear();
    };
    for (const Piece& p : plan_.PiecesOf(u)) {
      if (!p.declare) continue;
      const std::string mine = p.scalar == Scalar::kBool && p.lanes > 1
                                   ? MaskType(32, p.lanes)
                                   : ValueType(p.scalar, p.lanes);
      if (mine != type || names.size() > 70) flush();
      type = mine;
      absl::StrAppend(&names, names.empty() ? "" : ", ", p.name);
    }
    flush();
    return;
  }
  const std::string name = absl::StrCat("tile", num_tiles_++);
  memory_names_[u] = name;
  const Scalar s = t.scalar() == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : t.scalar();
  const int64_t align = u->words().size() > 1 ? u->word(1) : 0;
  // Vectors are read and written in it: aligned for the widest where the target asks for that.
  const int64_t natural = target_.unaligned_access ? 0 : std::min(target_.mem_width, 128);
  const int64_t wanted = std::max(align, natural);
  Line(absl::StrCat(
      SpacePrefix(t.space()), MemoryType(s), " ", name, "[", t.size(), "]",
      wanted > ByteSize(s) ? absl::StrCat(" __attribute__((aligned(", wanted, ")))") : "", ";"));
}

absl::Status KernelWriter::WriteSpecial(const UOp* u) {
  const auto which = static_cast<SpecialName>(u->word());
  const bool grid = which <= SpecialName::kGrid2;
  const int dim = static_cast<int>(u->word()) - (grid ? 0 : 3);
  auto size = SizeExpr::From(u->src(0), ctx_);
  if (!size.ok()) return Unsupported(u, std::string(size.status().message()));
  if (grid) {
    result_.groups[dim] = *size;
  } else {
    if (!size->IsConst()) return Unsupported(u, "the size of a work-group has to be a number");
    result_.local[dim] = u->src(0)->word();
  }
  const std::string name = absl::StrCat(grid ? "gid" : "lid", dim);
  exprs_[u].text = name;
  Line(absl::StrCat("const ", ValueType(u->dtype.scalar(), 1), " ", name, " = get_",
                    grid ? "group" : "local", "_id(", dim, ");  // < ",
                    Operand(u->src(0), kCompare + 1)));
  return absl::OkStatus();
}

void KernelWriter::WriteRange(const UOp* u) {
  const std::string name = absl::StrCat("i", num_ranges_++);
  exprs_[u].text = name;
  Line(absl::StrCat("for (", ValueType(u->dtype.scalar(), 1), " ", name, " = 0; ", name, " < ",
                    Operand(u->src(0), kCompare + 1), "; ", name, "++) {"));
  ++indent_;
}

std::string KernelWriter::TypeOf(const UOp* u, const Expr& e) const {
  return IsMask(u) ? MaskType(e.mask_bits, u->dtype.lanes())
                   : ValueType(u->dtype.scalar(), u->dtype.lanes());
}

void KernelWriter::Name(const UOp* u, Expr e) {
  if (plan_.uses(u) == 0) return;
  const std::string name = absl::StrCat("v", num_values_++);
  Line(absl::StrCat("const ", TypeOf(u, e), " ", name, " = ", e.text, ";"));
  Expr named;
  named.text = name;
  named.mask_bits = e.mask_bits;
  exprs_[u] = std::move(named);
}

absl::Status KernelWriter::Keep(const UOp* u, Expr e) {
  // A lane of a name, or another name for it, is no work.
  const bool free = (u->op == Op::kGep && u->dtype.lanes() == 1 && e.text.size() < 8) ||
                    u->op == Op::kNoop;
  const int uses = plan_.uses(u);
  if (uses == 0) return absl::OkStatus();
  bool keep = free;
  if (uses == 1 && e.text.size() <= kMaxInline) {
    // Into a deeper loop only what a compiler surely takes out again: arithmetic of addresses.
    const int user_depth = plan_.depth(plan_.position(plan_.user(u)));
    keep |= user_depth <= plan_.depth(position_) || (!u->dtype.is_float() && e.text.size() < 32);
  }
  if (keep) {
    exprs_[u] = std::move(e);
  } else {
    Name(u, std::move(e));
  }
  return absl::OkStatus();
}

void KernelWriter::Line(std::string_view text) {
  size_t indent = static_cast<size_t>(indent_) * 2;
  // Too long a line is broken at a blank that is not in a string, which is as good as any to C.
  while (indent + text.size() > kMaxLine) {
    size_t at = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size() && (i <= kMaxLine - indent || at == 0); ++i) {
      if (text[i] == '"') quoted = !quoted;
      if (text[i] == ' ' && !quoted && i > 20) at = i;
    }
    if (at == 0 || text.substr(0, at).find("//") != std::string_view::npos) break;
    body_.append(indent, ' ');
    absl::StrAppend(&body_, absl::string_view(text.data(), at), "\n");
    text.remove_prefix(at + 1);
    indent = static_cast<size_t>(indent_) * 2 + 4;
  }
  body_.append(indent, ' ');
  body_ += text;
  body_ += '\n';
}

std::string KernelWriter::Comment() const {
  std::string out;
  if (!kernel_.metadata.empty()) {
    absl::StrAppend(&out, "// ", absl::StrJoin(kernel_.metadata, ", "), "\n");
  }
  size_t line = out.size();
  for (const Axis& a : kernel_.axes) {
    const std::string axis = absl::StrCat(a.name, ":", a.size, a.symbolic ? "*" : "", " ",
                                          std::string(AxisKindName(a.kind)));
    if (out.size() > line && out.size() - line + axis.size() + 2 > kMaxLine) {
      out += ",\n";
      line = out.size();
    }
    absl::StrAppend(&out, out.size() == line ? "// " : ", ", axis);
  }
  if (!kernel_.axes.empty()) out += "\n";
  // One line must stay one comment.
  for (char& c : out) {
    if (c == '\\' || c == '\r') c = ' ';
  }
  return out;
}

std::string KernelWriter::Signature() {
  std::vector<std::string> params;
  size_t var = 0;
  const std::vector<bool> aliased = AliasedSlots(module_, kernel_, result_.params);
  for (size_t i = 0; i < result_.params.size(); ++i) {
    const KernelParam& arg = result_.params[i];
    if (arg.is_var) {
      params.push_back(
          absl::StrCat("const ", ValueType(arg.dtype.scalar(), 1), " ", var_names_[var++]));
    } else if (arg.dtype.is_image()) {
      params.push_back(
          absl::StrCat(arg.writes ? "write_only" : "read_only", " image2d_t ", arg.name));
    } else {
      params.push_back(absl::StrCat("__global ", arg.writes ? "" : "const ",
                                    MemoryType(arg.dtype.scalar()), "* ",
                                    aliased[i] ? "" : "restrict ", arg.name));
    }
  }
  std::string head = "__kernel";
  absl::StrAppend(&head, " __attribute__((reqd_work_group_size(", result_.local[0], ", ",
                  result_.local[1], ", ", result_.local[2], ")))\nvoid ", result_.name, "(");
  const std::string pad(result_.name.size() + 6, ' ');
  size_t column = pad.size();
  std::string out = head;
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
  out += ") {\n";
  return out;
}

}  // namespace tg::opencl
