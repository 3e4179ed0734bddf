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

const clike::Language& LanguageOf(bool has_vectors) {
  static const clike::Language c17{.name = "c",
                                   .title = "C",
                                   .spellings = &Spellings(),
                                   .words = &kWords,
                                   .bit_operand = clike::kMultiply,
                                   .calls_outlined = false,
                                   .reads_ahead = true};
  static const clike::Language c99{.name = "c99",
                                   .title = "C99",
                                   .spellings = &Spellings(),
                                   .words = &kWords,
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

std::string CWriter::NanLiteral(Scalar s, int64_t bits) const {
  std::string text = c::NanLiteral(s, bits);
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

std::string CWriter::ConvertVector(Scalar, Scalar to, int lanes, std::string_view value) {
  return Cat("__builtin_convertvector(", value, ", ", prelude_->Type(to, lanes), ")");
}

std::string CWriter::FloatToInt(Scalar from, Scalar to, int lanes) {
  return prelude_->FloatToInt(from, to, lanes);
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

std::string CWriter::BufferParameter(const codegen::KernelParam& p, bool aliased) const {
  return Cat(p.writes ? "" : "const ", c::MemoryType(p.dtype.scalar()), "* ",
             aliased ? "" : "restrict ", p.name);
}

std::string CWriter::Signature() {
  std::vector<std::string> params = Parameters();
  for (int dim = 0; dim < 3; ++dim) {
    const UOp* id = grid_[dim];
    if (id) params.push_back(Cat("const ", ScalarType(id->dtype.scalar()), " gid", dim));
  }
  if (result_.group_memory > 0) params.push_back("unsigned char* memory");
  if (params.empty()) params.push_back("void");
  const std::string_view linkage = calls_.Of(kernel_.name).empty() ? "" : "static ";
  const std::string head = Cat(linkage, "void ", result_.name, "(");
  return Cat(clike::ParameterList(head, params, head.size()), ") {\n");
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

}  // namespace tg::c
