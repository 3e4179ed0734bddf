#include "codegen/opencl/kernel_writer.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "codegen/opencl/spelling.h"
#include "codegen/opencl/types.h"

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
std::string OpenClWriter::MaskType(int bits, int lanes) const {
  return opencl::MaskType(bits, lanes);
}
std::string_view OpenClWriter::MemoryType(Scalar s) const { return opencl::MemoryType(s); }
std::string OpenClWriter::Literal(Scalar s, int64_t bits, bool exact) const {
  return opencl::Literal(s, bits, exact);
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
  for (std::string_view prefix : {"as_", "convert_", "get_", "vload", "vstore", "mma_", "ldmatrix_",
                                  "shuffle_", "copy_async_"}) {
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

std::string OpenClWriter::ConvertMask(std::string_view mask, int, int to_bits, int lanes) {
  return Cat("convert_", opencl::MaskType(to_bits, lanes), "(", mask, ")");
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

std::string OpenClWriter::Signature() {
  std::vector<std::string> params;
  size_t var = 0;
  const std::vector<bool> aliased = clike::AliasedSlots(calls_.Of(kernel_.name), result_.params);
  for (size_t i = 0; i < result_.params.size(); ++i) {
    const codegen::KernelParam& arg = result_.params[i];
    if (arg.is_var) {
      params.push_back(
          Cat("const ", opencl::ValueType(arg.dtype.scalar(), 1), " ", var_names_[var++]));
    } else if (arg.dtype.is_image()) {
      params.push_back(Cat(arg.writes ? "write_only" : "read_only", " image2d_t ", arg.name));
    } else {
      params.push_back(Cat("__global ", arg.writes ? "" : "const ",
                           opencl::MemoryType(arg.dtype.scalar()), "* ",
                           aliased[i] ? "" : "restrict ", arg.name));
    }
  }
  const std::string head =
      absl::StrCat("__kernel __attribute__((reqd_work_group_size(", result_.local[0], ", ",
                   result_.local[1], ", ", result_.local[2], ")))\nvoid ", result_.name, "(");
  return Cat(clike::ParameterList(head, params, result_.name.size() + 6), ") {\n");
}

// OpenCL C declares local memory in the outermost scope only.
bool OpenClWriter::IsDeclaredFirst(const UOp* scratch) const {
  return scratch->dtype.space() == AddrSpace::kLocal;
}

std::string OpenClWriter::DeclareArray(const UOp* u, const std::string& name) {
  const DType t = u->dtype;
  const Scalar s = t.scalar() == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : t.scalar();
  const int64_t align = u->words().size() > 1 ? u->word(1) : 0;
  // The array is accessed by vectors. If the target requires alignment, it is aligned for the
  // widest vector; otherwise to cache lines, since a vector that crosses a line takes two accesses.
  const bool lines = target_.unaligned_access && t.size() * ByteSize(s) >= target_.cache_line;
  const int64_t natural = !target_.unaligned_access ? std::min(target_.mem_width, 128)
                          : lines                   ? target_.cache_line
                                                    : 0;
  const int64_t wanted = std::max(align, natural);
  Line(SpacePrefix(t.space()), opencl::MemoryType(s), " ", name, "[", t.size(), "]",
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
  Line("barrier(CLK_LOCAL_MEM_FENCE", global ? " | CLK_GLOBAL_MEM_FENCE" : "", ");");
}

}  // namespace tg::opencl
