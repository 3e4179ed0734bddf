#include "codegen/opencl/kernel_writer.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "codegen/opencl/spelling.h"
#include "codegen/opencl/types.h"
#include "ir/value.h"

namespace tg::opencl {

using clike::Cat;
using clike::Expr;
using clike::kPostfix;
using clike::kTernary;

namespace {

constexpr clike::Language MakeLanguage(const clike::SpellingTable& spellings) {
  return {.name = "opencl",
          .title = "OpenCL",
          .spellings = &spellings,
          .words = &kWords,
          .bit_operand = clike::kAdditive,
          .calls_outlined = true,
          .reads_ahead = true};
}

const clike::Language& OpenClC() {
  static const clike::Language language = MakeLanguage(Spellings());
  return language;
}

}  // namespace

OpenClWriter::OpenClWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
                           const passes::Target& target)
    : KernelWriter(OpenClC(), module, kernel, calls, target) {}

absl::StatusOr<codegen::RenderedKernel> OpenClWriter::Run(Prelude& prelude) {
  prelude_ = &prelude;
  if (no_contract_) prelude.NoContraction();
  absl::StatusOr<codegen::RenderedKernel> rendered = WriteFunction();
  if (rendered.ok()) rendered->source = Cat(prelude.Text(), rendered->body);
  return rendered;
}

std::string OpenClWriter::ValueType(Scalar s, int lanes) const {
  return opencl::ValueType(s, lanes);
}
std::string OpenClWriter::NanLiteral(Scalar s, int64_t bits) const {
  if (s == Scalar::kF64) return absl::StrFormat("as_double(0x%xUL)", bits);
  if (s == Scalar::kF32) return absl::StrFormat("as_float(0x%xu)", bits);
  // as_half is missing in some compilers that have half.
  if (bits == 0x7e00) return "(half)NAN";
  return absl::StrFormat("(half)as_float(0x%xu)",
                         BitsFromDouble(Scalar::kF32, DoubleFromBits(s, bits)));
}

std::string OpenClWriter::VectorLiteral(std::string_view type, int, std::string_view list,
                                        bool) const {
  return Cat("(", type, ")(", list, ")");
}

bool OpenClWriter::IsReserved(std::string_view name) const {
  static constexpr std::string_view kWords[] = {
      "event_t", "global", "kernel", "local",    "nearest",   "quad",      "select", "uchar",
      "uint",    "ulong",  "ushort", "constant", "image2d_t", "sampler_t", "barrier"};
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)) return true;
  for (std::string_view prefix : {"as_", "convert_", "get_", "vload", "vstore", "mma_", "wgmma_",
                                  "ldmatrix_", "shuffle_", "copy_async_", "cvt_", "ptx_"}) {
    // Names of the renderer's functions end in a type; no type ends in an underscore.
    if (name.starts_with(prefix) && !name.ends_with("_")) return true;
  }
  const size_t letters = name.find_first_of("0123456789");
  if (letters == std::string_view::npos) return false;
  for (std::string_view type : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                                "float", "double", "half", "quad"}) {
    if (name.substr(0, letters) == type) return true;
  }
  return false;
}

void OpenClWriter::Reinterpret(Scalar, Scalar to, int lanes, std::string_view text, int, Expr& e) {
  e.text = Cat("as_", opencl::ValueType(to, lanes), "(", text, ")");
  e.precedence = kPostfix;
}

void OpenClWriter::Bitcast(const UOp* u, Expr& e) {
  const UOp* x = u->src(0);
  const int lanes = u->dtype.lanes();
  const std::string from = Type(x->dtype.scalar(), lanes), to = Type(u->dtype.scalar(), lanes);
  if (from == to && lanes == 1) {
    // C may have promoted it.
    e.text = Cat("(", to, ")", Operand(x, clike::kUnary, true));
    e.precedence = clike::kUnary;
    return;
  }
  e.text = Cat(prelude_->BitCast(from, to), "(", Operand(x, kTernary, true), ")");
  e.precedence = kPostfix;
}

// NVIDIA lacks the built-in conversions of half.
std::string OpenClWriter::ConvertVector(Scalar from, Scalar to, int lanes, std::string_view value) {
  if (from == Scalar::kF16 || to == Scalar::kF16) {
    return Cat(prelude_->ConvertLanes(from, to, lanes), "(", value, ")");
  }
  return Cat("convert_", opencl::ValueType(to, lanes), "(", value, ")");
}

std::string OpenClWriter::FloatToInt(Scalar from, Scalar to, int lanes) {
  return prelude_->FloatToInt(from, to, lanes);
}

std::string_view OpenClWriter::FmaFunction(DType t) const {
  return t.scalar() == Scalar::kF16 ? "" : "fma";
}

void OpenClWriter::UsesType(Scalar s, int lanes) {
  prelude_->UsesScalar(s);
  // A vector of conditions is at least as wide as one of 32-bit integers.
  if (target_.HasVectors() && lanes * std::max<int64_t>(ByteSize(s), 4) > 16) {
    prelude_->PassesWideVectors();
  }
}

void OpenClWriter::DefineOp(const UOp* u, DType) {
  prelude_->Define(u->op, u->dtype.scalar(), u->dtype.lanes());
}

// The rows of class h compute `(half)function((float)$0)`. C has no casts between vectors, so here
// functions of the prelude convert them.
bool OpenClWriter::SpecialElementwise(const UOp* u, const clike::Spelling& row, Expr& e) {
  if (IsOfCopyGate(u)) {
    const auto operand = [&](const UOp* s) {
      return Operand(s, IsOfCopyGate(s) ? clike::kBitAnd : clike::kAdditive);
    };
    e.text = Cat(operand(u->src(0)), " & ", operand(u->src(1)));
    e.precedence = clike::kBitAnd;
    return true;
  }
  if (const PtxFunction f = LooseFunction(u); !f.name.empty()) {
    std::string operands;
    for (const UOp* s : u->srcs()) {
      clike::Append(operands, operands.empty() ? "" : ", ", Operand(s, kTernary, true));
    }
    e.text = Cat(Call(f), "(", operands, ")");
    e.precedence = kPostfix;
    return true;
  }
  if (FloatOfByte(u, e)) return true;
  if (row.classes != "h" || u->dtype.lanes() == 1) return false;
  constexpr std::string_view kCast = "(half)";
  TG_CHECK(row.text.starts_with(kCast));
  const std::string_view call = row.text.substr(kCast.size());
  const int lanes = u->dtype.lanes();
  std::string operands;
  for (const UOp* s : u->srcs()) {
    operands += Cat(std::string_view(operands.empty() ? "" : ", "),
                    prelude_->ConvertLanes(Scalar::kF16, Scalar::kF32, lanes), "(",
                    Operand(s, kTernary, true), ")");
  }
  e.text = Cat(prelude_->ConvertLanes(Scalar::kF32, Scalar::kF16, lanes), "(",
               call.substr(0, call.find('(')), "(", operands, "))");
  e.precedence = kPostfix;
  return true;
}

void OpenClWriter::Outline(const UOp* u, bool has_type_in_name, Expr& e) {
  const std::string text(e.text), type = Type(u->dtype.scalar(), u->dtype.lanes());
  const size_t parenthesis = text.find('(');
  const bool binary = u->num_srcs == 2;
  const std::string name = prelude_->Outlined(
      text.substr(0, parenthesis), has_type_in_name ? "" : "_" + type, type,
      binary ? Cat(type, " x, ", type, " y") : Cat(type, " x"), binary ? "x, y" : "x");
  e.text = Cat(name, text.substr(parenthesis));
}

std::string OpenClWriter::BufferParameter(const codegen::KernelParam& p, bool aliased) const {
  if (p.dtype.is_image()) {
    return Cat(p.writes ? "write_only" : "read_only", " image2d_t ", p.name);
  }
  return Cat("__global ", p.writes ? "" : "const ", MemoryType(p.dtype.scalar()), "* ",
             aliased ? "" : "restrict ", p.name);
}

std::string OpenClWriter::Signature() {
  const std::string head =
      absl::StrCat("__kernel __attribute__((reqd_work_group_size(", result_.local[0], ", ",
                   result_.local[1], ", ", result_.local[2], ")))\nvoid ", result_.name, "(");
  return Cat(clike::ParameterList(head, Parameters(), result_.name.size() + 6), ") {\n");
}

// OpenCL C declares local memory in the outermost scope only.
bool OpenClWriter::IsDeclaredFirst(const UOp* scratch) const {
  return scratch->dtype.space() == AddrSpace::kLocal;
}

std::string OpenClWriter::DeclareArray(const UOp* u, const std::string& name) {
  const DType t = u->dtype;
  const Scalar s = t.scalar() == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : t.scalar();
  prelude_->UsesScalar(s);
  const int64_t align = u->words().size() > 1 ? u->word(1) : 0;
  // The array is accessed by vectors. If the target requires alignment, it is aligned for the
  // widest vector; otherwise to cache lines, since a vector that crosses a line takes two accesses.
  const bool lines = target_.unaligned_access && t.size() * ByteSize(s) >= target_.cache_line;
  const int64_t natural = !target_.unaligned_access ? std::min(target_.mem_width, 128)
                          : lines                   ? target_.cache_line
                                                    : 0;
  const int64_t wanted = std::max(align, natural);
  Line(SpacePrefix(t.space()), MemoryType(s), " ", name, "[", t.size(), "]",
       wanted > ByteSize(s) ? Cat(" __attribute__((aligned(", wanted, ")))") : "", ";");
  return name;
}

void OpenClWriter::DeclareSpecial(const UOp* u, const std::string& name, bool grid, int dim) {
  Line("const ", opencl::ValueType(u->dtype.scalar(), 1), " ", name, " = get_",
       grid ? "group" : "local", "_id(", dim, ");  // < ", Operand(u->src(0), clike::kCompare + 1));
}

void OpenClWriter::WriteBarrier(const UOp*) {
  // The fence covers global memory too if the kernel both writes and reads a global buffer.
  const bool global =
      std::any_of(result_.params.begin(), result_.params.end(),
                  [](const codegen::KernelParam& p) { return p.reads && p.writes; });
  // What work-items wrote becomes visible to instructions that read local memory on another path.
  if (HasWgmma()) Line(Call(ProxyFenceFunction()), "();");
  Line("barrier(CLK_LOCAL_MEM_FENCE", global ? " | CLK_GLOBAL_MEM_FENCE" : "", ");");
}

}  // namespace tg::opencl
