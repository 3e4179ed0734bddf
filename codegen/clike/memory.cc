// Writes loads and stores, whatever the language: gates, registers, masks of bools in memory.
#include <algorithm>

#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"
#include "ir/masked_access.h"

namespace tg::clike {

const UOp* GateOf(const UOp* address) {
  return address->op == Op::kIndex && address->num_srcs == 3 ? address->src(2) : nullptr;
}

bool KernelWriter::Converts(const UOp* memory, Scalar value) const {
  return memory->dtype.scalar() == Scalar::kF16 && value == Scalar::kF32;
}

absl::Status KernelWriter::CheckAccess(const UOp* u, const UOp* memory, DType value) const {
  const UOp* address = u->src(0);
  const bool converts = Converts(memory, value.scalar());
  if (StrideOf(u) != 1 &&
      (converts || BitWidth(value.scalar()) < 32 || value.lanes() > 16 || plan_.PieceOf(address))) {
    return Unsupported(u, "it has a stride; only wider elements outside of registers may");
  }
  if (address->dtype.lanes() != 1) {
    return Unsupported(u, "it has an address a lane; devectorize makes them one");
  }
  if (MaskOf(address)) {
    return Unsupported(u, Cat(language_.title, " has no access with a gate for each element"));
  }
  if (!converts && BitWidth(memory->dtype.scalar()) != BitWidth(value.scalar())) {
    return Unsupported(u, "it converts between types that memory access cannot");
  }
  return absl::OkStatus();
}

// Whether `p + a + b` for an index a + b could point outside of p's array on its way, which is
// undefined in C even if the sum is an index of an element.
bool KernelWriter::LeavesTheArray(const UOp* index) {
  if (index->op != Op::kAdd) return false;
  return std::ranges::any_of(index->srcs(), [&](const UOp* term) {
    return bounds_.Min(term) < 0 || LeavesTheArray(term);
  });
}

Text KernelWriter::Pointer(const UOp* address, int precedence) {
  while (address->op == Op::kAfter || address->op == Op::kNoop) address = address->src(0);
  if (address->op != Op::kIndex) return memory_names_.lookup(address);
  Text out;
  const std::string& name = memory_names_[MemoryOf(address)];
  const UOp* index = address->src(1);
  if (IsConst(index) && index->word() == 0) return name;
  const bool parenthesized = precedence > kAdditive;
  if (parenthesized) out.Add('(');
  Append(out, name, " + ");
  AppendOperand(out, index, LeavesTheArray(index) ? kMultiply : kAdditive, false);
  if (parenthesized) out.Add(')');
  return out;
}

Text KernelWriter::ArrayElement(const UOp* address) {
  Text out = memory_names_[MemoryOf(address)];
  out.Add('[');
  if (address->op == Op::kIndex) {
    AppendOperand(out, address->src(1), kTernary, false);
  } else {
    out.Add('0');
  }
  out.Add(']');
  return out;
}

absl::StatusOr<std::string> KernelWriter::Image(const UOp* u, const UOp*) {
  return Unsupported(u, Cat(language_.title, " has no images"));
}

absl::Status KernelWriter::WriteLoad(const UOp* u) {
  const UOp* address = u->src(0);
  const UOp* memory = MemoryOf(address);
  const Scalar value = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  Expr& e = exprs_[u];
  if (memory->dtype.is_image()) {
    auto text = Image(u, memory);
    if (!text.ok()) return text.status();
    e = Expr{*std::move(text), kPostfix};
    Name(u, e);
    return absl::OkStatus();
  }
  if (absl::Status s = CheckAccess(u, memory, u->dtype); !s.ok()) return s;
  if (const Piece* piece = plan_.PieceOf(address)) {
    e.text = VariableOf(*piece);
    if (lanes > 1 && value == Scalar::kBool) e.mask_bits = 32;
    if (!plan_.StaysValid(u, *piece)) Name(u, e);
    return absl::OkStatus();
  }

  if (read_ahead_.contains(u)) ReadAhead(u, memory);
  e.precedence = kPostfix;
  LoadElements(u, memory, e);
  const UOp* gate = GateOf(address);
  const UOp* alternative = u->num_srcs > 1 ? u->src(1) : nullptr;
  if (value == Scalar::kBool && lanes > 1) {
    // The comparison turns bytes 0 and 1 into a mask.
    e.text = Cat(e.text, " != ", Literal(Scalar::kU8, 0, /*exact=*/true));
    e.precedence = kEqual;
    e.mask_bits = 8;
  }
  if (gate) {
    Text otherwise;
    if (!alternative) {
      const std::string zero = value == Scalar::kBool && lanes > 1
                                   ? std::string("0")
                                   : Literal(Shown(value), 0, /*exact=*/false);
      otherwise = lanes == 1 ? zero
                             : VectorLiteral(
                                   value == Scalar::kBool ? MaskType(8, lanes) : Type(value, lanes),
                                   lanes, zero, /*splat=*/true);
    } else if (IsMask(alternative)) {
      otherwise = Mask(alternative, 8, kTernary);
    } else {
      otherwise = Operand(alternative, kTernary);
    }
    e.text = Cat(Operand(gate, kTernary + 1), " ? ", e.text, " : ", otherwise);
    e.precedence = kTernary;
  }
  Name(u, e);
  return absl::OkStatus();
}

bool KernelWriter::InOwnIf(const UOp* store) const {
  const UOp* gate = GateOf(store->src(0));
  for (const UOp* g : ifs_) {
    if (g == gate) return true;
  }
  return gate == nullptr;
}

absl::Status KernelWriter::WriteStore(const UOp* u) {
  const UOp* address = u->src(0);
  const UOp* memory = MemoryOf(address);
  const UOp* value = u->src(1);
  const DType t = value->dtype;
  const bool guard = !InOwnIf(u);
  if (guard) {
    Line("if (", Operand(GateOf(address), kTernary), ") {");
    ++indent_;
  }
  if (memory->dtype.is_image()) {
    auto text = Image(u, memory);
    if (!text.ok()) return text.status();
    Line(*text, ";");
  } else if (absl::Status s = CheckAccess(u, memory, t); !s.ok()) {
    return s;
  } else if (const Piece* piece = plan_.PieceOf(address); piece && StrideOf(u) == 1) {
    const bool mask = IsMask(value);
    const Text text = mask ? Text(Mask(value, 32, kTernary)) : Operand(value, kTernary);
    const bool declares = !piece->declare && piece->first == position_ && !guard;
    StorePiece(*piece, mask ? MaskType(32, t.lanes()) : Type(t.scalar(), t.lanes()), declares,
               text);
  } else {
    StoreElements(u, memory);
  }
  if (guard) {
    --indent_;
    Line("}");
  }
  return absl::OkStatus();
}

std::string KernelWriter::VariableOf(const Piece& piece) const { return piece.name; }

void KernelWriter::StorePiece(const Piece& piece, const std::string& type, bool declares,
                              const Text& value) {
  if (declares) {
    Line(type, " ", piece.name, " = ", value, ";");
  } else {
    Line(piece.name, " = ", value, ";");
  }
}

}  // namespace tg::clike
