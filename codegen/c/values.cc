// Writes bits of values, choices of lanes, loads and stores.
#include "codegen/c/kernel_writer.h"
#include "codegen/c/types.h"
#include "codegen/clike/types.h"

namespace tg::c {

using clike::Append;
using clike::Cat;
using clike::Expr;
using clike::kPostfix;
using clike::kShift;
using clike::kTernary;
using clike::kUnary;
using clike::Text;

void CWriter::Bitcast(const UOp* u, Expr& e) {
  const UOp* x = u->src(0);
  const Scalar from = Shown(x->dtype.scalar()), to = Shown(u->dtype.scalar());
  const int lanes = u->dtype.lanes();
  if (lanes == 1 && ScalarType(from) != ScalarType(to) &&
      (from == Scalar::kF32 || from == Scalar::kF64 || to == Scalar::kF32 || to == Scalar::kF64)) {
    e.text = Cat(prelude_->BitsAs(from, to), "(", Operand(x, kTernary, true), ")");
    e.precedence = kPostfix;
    return;
  }
  e.text = Cat("(", ValueType(to, lanes), ")", Operand(x, kUnary, lanes > 1));
  e.precedence = kUnary;
}

void CWriter::PickLanes(const UOp* u, const UOp* vector, Expr& e) {
  if (u->dtype.lanes() == 1) {
    AppendOperand(e.text, vector, kPostfix, true);
    Append(e.text, "[", u->list()[0], "]");
    return;
  }
  const Scalar s =
      IsMask(vector) ? clike::IntOfSize(MaskBits(vector), true) : Shown(vector->dtype.scalar());
  e.text = Cat(prelude_->PickLanes(s, vector->dtype.lanes(), u->list()), "(",
               Operand(vector, kTernary, true), ")");
}

void CWriter::MakeVector(const UOp* u, Scalar lane, Expr& e) {
  const int lanes = u->dtype.lanes();
  bool same = true, scalars = true;
  std::vector<int> parts;
  std::string list;
  for (const UOp* src : u->srcs()) {
    same &= src == u->src(0);
    scalars &= src->dtype.lanes() == 1;
    parts.push_back(src->dtype.lanes());
    list += Cat(list.empty() ? "" : ", ", Part(src, e.mask_bits));
  }
  if (scalars && same) {
    e.text = Cat(prelude_->Splat(lane, lanes), "(", Part(u->src(0), e.mask_bits), ")");
  } else if (scalars) {
    e.text = Cat("(", prelude_->Type(lane, lanes), "){", list, "}");
  } else if (parts.size() == 1) {
    e.text = Cat("(", list, ")");
  } else {
    e.text = Cat(prelude_->Concatenate(lane, parts), "(", list, ")");
  }
}

Text CWriter::Element(const UOp* address, Scalar value, int lanes, bool write) {
  Text out;
  if (lanes > 1) {
    Append(out, "*(", std::string_view(write ? "" : "const "),
           prelude_->UnalignedType(Shown(value), lanes), "*)", Pointer(address, kUnary));
    return out;
  }
  return ArrayElement(address);
}

void CWriter::LoadElements(const UOp* u, const UOp* memory, Expr& e) {
  const UOp* address = u->src(0);
  const Scalar value = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  if (StrideOf(u) != 1) {
    const std::string function = prelude_->Strided(u->op, value, lanes);
    e.text = Cat(function, "((const ", prelude_->AliasType(value), "*)", Pointer(address, kUnary),
                 ", ", StrideOf(u), ")");
  } else if (Converts(memory, value)) {
    e.text = lanes == 1
                 ? Cat(prelude_->LoadHalves(1), "(", Element(address, Scalar::kU16, 1, false), ")")
                 : Cat(prelude_->LoadHalves(lanes), "(", Pointer(address, kTernary), ")");
  } else if (lanes == 1 && MemoryType(memory->dtype.scalar()) != MemoryType(Shown(value))) {
    e.text = Cat(prelude_->LoadAs(Shown(value)), "(", Pointer(address, kTernary), ")");
  } else {
    e.text = Element(address, value, lanes, /*write=*/false);
    if (lanes == 1) return;
    e.precedence = kUnary;
    // The alternative where the gate is false must have the very type.
    if (clike::GateOf(address) && value != Scalar::kBool) {
      e.text = Cat("(", Type(value, lanes), ")", e.text);
    }
  }
}

void CWriter::StoreElements(const UOp* u, const UOp* memory) {
  const UOp* address = u->src(0);
  const UOp* value = u->src(1);
  const Scalar s = value->dtype.scalar();
  const int lanes = value->dtype.lanes();
  if (StrideOf(u) != 1) {
    const std::string function = prelude_->Strided(u->op, s, lanes);
    Line(function, "((", prelude_->AliasType(s), "*)", Pointer(address, kUnary), ", ", StrideOf(u),
         ", ", Operand(value, kTernary, true), ");");
  } else if (Converts(memory, s) && lanes == 1) {
    Line(Element(address, Scalar::kU16, 1, true), " = ", prelude_->StoreHalves(1), "(",
         Operand(value, kTernary, true), ");");
  } else if (Converts(memory, s)) {
    Line(prelude_->StoreHalves(lanes), "(", Pointer(address, kTernary), ", ",
         Operand(value, kTernary, true), ");");
  } else if (lanes == 1 && MemoryType(memory->dtype.scalar()) != MemoryType(Shown(s))) {
    Line(prelude_->StoreAs(Shown(s)), "(", Pointer(address, kTernary), ", ",
         Operand(value, kTernary, true), ");");
  } else if (IsMask(value)) {
    Line(Element(address, s, lanes, true), " = (", prelude_->Type(Scalar::kU8, lanes), ")(",
         Mask(value, 8, kShift), " & 1);");
  } else {
    Line(Element(address, s, lanes, true), " = ", Operand(value, kTernary), ";");
  }
}

void CWriter::ReadAhead(const UOp* u, const UOp*) {
  Line(prelude_->ReadAhead(), "(", Pointer(u->src(0), kTernary), ");");
}

absl::Status CWriter::WriteCopyTransposed(const UOp* u) {
  const UOp *to = u->src(0), *from = u->src(1);
  const Scalar element = MemoryOf(from)->dtype.scalar();
  if (MemoryType(element) != MemoryType(MemoryOf(to)->dtype.scalar()) ||
      MemoryOf(from)->dtype.is_image() || MemoryOf(to)->dtype.is_image() || plan_.PieceOf(to) ||
      plan_.PieceOf(from)) {
    return Unsupported(u, "it copies elements of one type, between arrays");
  }
  Line(prelude_->CopyTransposed(element), "(", Pointer(to, kTernary), ", ", u->word(2), ", ",
       Pointer(from, kTernary), ", ", u->word(3), ", ", u->word(0), ", ", u->word(1), ");");
  return absl::OkStatus();
}

}  // namespace tg::c
