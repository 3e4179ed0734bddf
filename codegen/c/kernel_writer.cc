#include "codegen/c/kernel_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/c/spelling.h"
#include "codegen/c/types.h"
#include "codegen/clike/types.h"
#include "ir/walk.h"

namespace tg::c {

using clike::Append;
using clike::Cat;
using clike::Expr;
using clike::kCompare;
using clike::kPostfix;
using clike::kTernary;
using clike::kUnary;
using clike::Piece;
using clike::Text;

namespace {

// The most bytes of arrays that a function has on its stack. A thread's stack is 128 KiB in some C
// libraries.
constexpr int64_t kMaxStack = 16 << 10;
// Arrays in the memory that the caller gives begin at multiples of this.
constexpr int64_t kMemoryAlign = 64;

const clike::Language& LanguageOf(bool has_vectors) {
  static const clike::Language c17{.name = "c",
                                   .title = "C",
                                   .spellings = &Spellings(),
                                   .bit_operand = clike::kMultiply,
                                   .calls_outlined = false,
                                   .reads_ahead = true};
  static const clike::Language c99{.name = "c99",
                                   .title = "C99",
                                   .spellings = &Spellings(),
                                   .bit_operand = clike::kMultiply,
                                   .calls_outlined = false,
                                   .reads_ahead = false};
  return has_vectors ? c17 : c99;
}

}  // namespace

CWriter::CWriter(bool has_vectors, const Module& module, const Kernel& kernel,
                 const KernelCalls& calls, const passes::Target& target)
    : KernelWriter(LanguageOf(has_vectors), module, kernel, calls, target),
      has_vectors_(has_vectors),
      regions_(kernel) {
  for (const UOp* u : kernel.body.linear) {
    if (u->op != Op::kSpecial || static_cast<SpecialName>(u->word()) <= SpecialName::kGrid2) {
      continue;
    }
    const auto dim = static_cast<size_t>(u->word()) - 3;
    local_[dim] = u;
    if (IsConst(u->src(0))) extent_[dim] = u->src(0)->word();
  }
}

absl::StatusOr<codegen::RenderedKernel> CWriter::Run(Prelude& prelude) {
  prelude_ = &prelude;
  if (no_contract_) prelude.NoContraction();
  // A coordinate outside of the loops over work-items is one on which all of them agree.
  for (int dim = 0; dim < 3; ++dim) {
    const bool needed = local_[dim] && (extent_[dim] == 1 || regions_.several());
    if (needed) Append(head_, "  enum { lid", dim, " = 0 };\n");
  }
  absl::StatusOr<codegen::RenderedKernel> rendered = WriteFunction();
  if (!status_.ok()) return status_;
  if (rendered.ok()) rendered->source = Cat(prelude.Text(), rendered->body);
  return rendered;
}

std::string CWriter::ValueType(Scalar s, int lanes) const { return prelude_->Type(s, lanes); }
std::string CWriter::MaskType(int bits, int lanes) const { return prelude_->MaskType(bits, lanes); }
std::string_view CWriter::MemoryType(Scalar s) const { return c::MemoryType(s); }

std::string CWriter::Literal(Scalar s, int64_t bits, bool exact) const {
  std::string text = c::Literal(s, bits, exact);
  if (text.starts_with("f32_of_")) prelude_->BitsAs(Scalar::kU32, Scalar::kF32);
  if (text.starts_with("f64_of_")) prelude_->BitsAs(Scalar::kU64, Scalar::kF64);
  return text;
}

std::string CWriter::VectorLiteral(std::string_view type, int lanes, std::string_view list,
                                   bool splat) const {
  if (!splat) return Cat("(", type, "){", list, "}");
  for (int s = 0; s < kNumScalars; ++s) {
    const auto scalar = static_cast<Scalar>(s);
    if (scalar != Scalar::kVoid && scalar != Scalar::kBool && TypeName(scalar, lanes) == type) {
      return Cat(prelude_->Splat(scalar, lanes), "(", list, ")");
    }
  }
  return Cat("(", type, "){", list, "}");
}

bool CWriter::IsReserved(std::string_view name) const { return IsReservedWord(name); }

void CWriter::Reinterpret(Scalar, Scalar to, int lanes, std::string_view text, int precedence,
                          Expr& e) {
  e.text = Cat("(", prelude_->Type(to, lanes), ")", clike::Parenthesized(text, precedence, kUnary));
  e.precedence = kUnary;
}

std::string CWriter::ConvertMask(std::string_view mask, int, int to_bits, int lanes) {
  return Cat("__builtin_convertvector(", mask, ", ", prelude_->MaskType(to_bits, lanes), ")");
}

void CWriter::UsesType(Scalar s, int lanes) {
  if (!status_.ok()) return;
  const UOp* u = kernel_.body.linear[static_cast<size_t>(position_)];
  if (s == Scalar::kF16) {
    status_ = Unsupported(u, "C has no arithmetic in halves; the target must not have `fp16`");
  } else if (lanes > 1 && !has_vectors_) {
    status_ = Unsupported(u,
                          "C99 has no vectors; the target must have `alu_width` 0 and a "
                          "`mem_width` of one element, as c99 has");
  }
}

void CWriter::DefineOp(const UOp* u, DType operand) {
  prelude_->DefineOp(u->op, operand.scalar(), operand.lanes());
}

const clike::Spelling* CWriter::SpellingOf(const UOp* u) {
  if (u->op == Op::kWhere && u->dtype.lanes() > 1 && !u->dtype.is_bool()) {
    return language_.spellings->Find(u->op, 'V');
  }
  return KernelWriter::SpellingOf(u);
}

std::string CWriter::Signature() {
  std::vector<std::string> params;
  size_t var = 0;
  const UOpSpan calls = calls_.Of(kernel_.name);
  const std::vector<bool> aliased = clike::AliasedSlots(calls, result_.params);
  for (size_t i = 0; i < result_.params.size(); ++i) {
    const codegen::KernelParam& arg = result_.params[i];
    if (arg.is_var) {
      params.push_back(Cat("const ", ScalarType(arg.dtype.scalar()), " ", var_names_[var++]));
    } else {
      params.push_back(Cat(arg.writes ? "" : "const ", c::MemoryType(arg.dtype.scalar()), "* ",
                           aliased[i] ? "" : "restrict ", arg.name));
    }
  }
  for (int dim = 0; dim < 3; ++dim) {
    const UOp* id = grid_[dim];
    if (id) params.push_back(Cat("const ", ScalarType(id->dtype.scalar()), " gid", dim));
  }
  if (result_.group_memory > 0) params.push_back("unsigned char* memory");
  if (params.empty()) params.push_back("void");
  const std::string_view linkage = calls.empty() ? "" : "static ";
  const std::string head = Cat(linkage, "void ", result_.name, "(");
  return Cat(clike::ParameterList(head, params, head.size()), ") {\n");
}

bool CWriter::IsDeclaredFirst(const UOp* scratch) const {
  return scratch->dtype.space() != AddrSpace::kReg || plan_.PiecesOf(scratch).empty();
}

std::string CWriter::ItemIndex() const {
  std::string index;
  for (int dim = 2; dim >= 0; --dim) {
    if (extent_[dim] > 1) index += Cat("[lid", dim, "]");
  }
  return index;
}

void CWriter::DeclareAtTop(std::string_view type, int64_t element_bytes, int64_t size,
                           int64_t align, bool items, const std::string& name) {
  std::vector<int64_t> extents;
  if (items) {
    for (int dim = 2; dim >= 0; --dim) {
      if (extent_[dim] > 1) extents.push_back(extent_[dim]);
    }
  }
  if (size > 0) extents.push_back(size);
  int64_t bytes = element_bytes;
  for (const int64_t n : extents) bytes *= n;
  std::string inner;  // the extents after the first
  for (size_t i = 1; i < extents.size(); ++i) inner += Cat("[", extents[i], "]");
  if (stack_bytes_ + bytes <= kMaxStack) {
    stack_bytes_ += bytes;
    Append(head_, "  ", align > element_bytes ? Cat("_Alignas(", align, ") ") : "", type, " ", name,
           "[", extents[0], "]", inner, ";\n");
    return;
  }
  const std::string offset =
      result_.group_memory ? Cat("(memory + ", result_.group_memory, ")") : std::string("memory");
  result_.group_memory += (bytes + kMemoryAlign - 1) / kMemoryAlign * kMemoryAlign;
  if (inner.empty()) {
    Append(head_, "  ", type, "* const ", name, " = (", type, "*)", offset, ";\n");
  } else {
    Append(head_, "  ", type, "(*const ", name, ")", inner, " = (", type, "(*)", inner, ")", offset,
           ";\n");
  }
}

std::string CWriter::DeclareArray(const UOp* u, const std::string& name) {
  const DType t = u->dtype;
  const bool items = t.space() != AddrSpace::kLocal && regions_.several() && !ItemIndex().empty();
  const int64_t element = ByteSize(t.scalar()), bytes = t.size() * element;
  // A vector that crosses a line takes two accesses.
  const int64_t align = has_vectors_ && bytes >= target_.cache_line ? target_.cache_line : 0;
  DeclareAtTop(c::MemoryType(t.scalar()), element, t.size(), align, items, name);
  return items ? name + ItemIndex() : name;
}

bool CWriter::IsPerItem(const Piece& piece) const {
  if (!regions_.several() || ItemIndex().empty()) return false;
  return piece.declare || regions_.At(piece.first) != regions_.At(piece.last);
}

void CWriter::DeclareVariables(const std::string& type, std::span<const Piece* const> pieces) {
  std::string names;
  for (const Piece* p : pieces) {
    if (IsPerItem(*p)) {
      DeclareAtTop(type, ByteSize(p->scalar) * p->lanes, 0, 0, /*items=*/true, p->name);
    } else {
      names += Cat(names.empty() ? "" : ", ", p->name);
    }
  }
  if (!names.empty()) Line(type, " ", names, ";");
}

std::string CWriter::VariableOf(const Piece& piece) const {
  return IsPerItem(piece) ? piece.name + ItemIndex() : piece.name;
}

void CWriter::StorePiece(const Piece& piece, const std::string& type, bool declares,
                         const Text& value) {
  if (declares && IsPerItem(piece)) {
    DeclareAtTop(type, ByteSize(piece.scalar) * piece.lanes, 0, 0, /*items=*/true, piece.name);
    declares = false;
  }
  if (declares) {
    Line(type, " ", piece.name, " = ", value, ";");
  } else {
    Line(VariableOf(piece), " = ", value, ";");
  }
}

void CWriter::DeclareSpecial(const UOp* u, const std::string&, bool grid, int dim) {
  if (!grid) return;
  const codegen::SizeExpr& size = result_.groups[dim];
  if (size.IsConst() && IsConst(u->src(0)) && u->src(0)->word() == 1) {
    Append(head_, "  enum { gid", dim, " = 0 };\n");
  } else {
    grid_[dim] = u;
  }
}

Text CWriter::DeclareValue(const UOp* u, const std::string& type, const Text& text) {
  const int last = plan_.last_text(position_);
  if (ItemIndex().empty() || regions_.At(position_) == regions_.At(last)) {
    return KernelWriter::DeclareValue(u, type, text);
  }
  const std::string name = Cat("v", num_values_++);
  // A mask has lanes of 64 bits at most.
  const int64_t lane = IsMask(u) ? 8 : ByteSize(u->dtype.scalar());
  DeclareAtTop(type, lane * u->dtype.lanes(), 0, 0, /*items=*/true, name);
  const std::string item = name + ItemIndex();
  Line(item, " = ", text, ";");
  return item;
}

void CWriter::CheckUniform(const UOp* u, const UOp* condition) {
  for (const UOp* s : PostOrder(condition)) {
    if (s->op == Op::kSpecial && std::find(local_, local_ + 3, s) != local_ + 3 && status_.ok()) {
      status_ = Unsupported(u, "there is a barrier inside, and its steps depend on the work-item");
    }
  }
}

void CWriter::WriteLoopHead(const UOp* u, const std::string& name, bool) {
  blocks_.push_back(u);
  if (!regions_.HasBarrier(u)) {
    KernelWriter::WriteLoopHead(u, name, /*unroll=*/false);
    return;
  }
  CheckUniform(u, u->src(0));
  CloseRegion();
  outside_ = true;
  KernelWriter::WriteLoopHead(u, name, /*unroll=*/false);
  outside_ = false;
}

void CWriter::WriteIfHead(const UOp* u) {
  blocks_.push_back(u);
  if (!regions_.HasBarrier(u)) {
    KernelWriter::WriteIfHead(u);
    return;
  }
  CheckUniform(u, u->src(0));
  CloseRegion();
  outside_ = true;
  KernelWriter::WriteIfHead(u);
  outside_ = false;
}

void CWriter::CloseBlock(const UOp* u, size_t i) {
  const bool divides = !blocks_.empty() && regions_.HasBarrier(blocks_.back());
  if (!blocks_.empty()) blocks_.pop_back();
  if (divides) CloseRegion();
  outside_ = divides;
  KernelWriter::CloseBlock(u, i);
  outside_ = false;
}

void CWriter::WriteBarrier(const UOp*) { CloseRegion(); }

void CWriter::BeginLine() {
  if (outside_ || region_depth_ > 0) return;
  OpenRegion();
}

void CWriter::OpenRegion() {
  outside_ = true;
  for (int dim = 2; dim >= 0; --dim) {
    if (extent_[dim] == 1) continue;
    Line("for (", ScalarType(local_[dim]->dtype.scalar()), " lid", dim, " = 0; lid", dim, " < ",
         extent_[dim], "; lid", dim, "++) {");
    ++indent_;
    ++region_depth_;
  }
  outside_ = false;
}

void CWriter::CloseRegion() {
  outside_ = true;
  for (; region_depth_ > 0; --region_depth_) {
    --indent_;
    Line("}");
  }
  outside_ = false;
}

absl::Status CWriter::LeaveFunction() {
  CloseRegion();
  return status_;
}

}  // namespace tg::c
