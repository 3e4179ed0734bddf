// Writes loads, stores and image accesses.
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

using clike::Append;
using clike::Cat;
using clike::Expr;
using clike::kAdditive;
using clike::kShift;
using clike::kTernary;
using clike::kUnary;
using clike::Text;

namespace {

// Returns the type that declares memory of this element. Without the extension, half is valid only
// behind a pointer argument.
Scalar Declared(const UOp* memory, const passes::Target& target) {
  const Scalar s = memory->dtype.scalar();
  const bool argument = !ArgumentsOf(memory).empty();
  return s == Scalar::kF16 && !argument && !target.fp16 ? Scalar::kU16 : s;
}

// NVIDIA's compiler fails on loads of four halves or more from restrict pointers ("do not know how
// to split the result"), also where it finds that all of the loaded bits become such a vector. So
// they are accessed as 32-bit words, each of which becomes two halves.
bool AsWords(Scalar shown, int lanes) { return shown == Scalar::kF16 && lanes >= 4; }

// PTX moves at most four elements with one instruction, so that more narrow ones move as words.
bool MovesAsWords(Scalar shown, int lanes, const passes::Target& target) {
  return target.inline_ptx && BitWidth(shown) < 32 && shown != Scalar::kBool && lanes > 4;
}

}  // namespace

Text OpenClWriter::Element(const UOp* address, Scalar value, int lanes, bool write) {
  const UOp* memory = MemoryOf(address);
  const Scalar declared = Declared(memory, target_);
  value = Shown(value);
  // A scalar access without a conversion is an element of the array.
  const bool converted = memory->dtype.scalar() == Scalar::kF16 && !target_.fp16;
  if (lanes == 1 && opencl::MemoryType(declared) == opencl::MemoryType(value) && !converted) {
    return ArrayElement(address);
  }
  const std::string type = lanes == 1                 ? prelude_->AliasType(value)
                           : target_.unaligned_access ? prelude_->UnalignedType(value, lanes)
                                                      : Cat(opencl::MemoryType(value), lanes);
  Text out;
  Append(out, "*(", SpacePrefix(memory->dtype.space()), std::string_view(write ? "" : "const "),
         type, "*)", Pointer(address, kUnary));
  return out;
}

std::string OpenClWriter::Halves(const UOp* address, int lanes, const char* qualifier) {
  return Cat("*(", SpacePrefix(MemoryOf(address)->dtype.space()), qualifier,
             prelude_->UnalignedType(Scalar::kU16, lanes), "*)", Pointer(address, kUnary));
}

std::string OpenClWriter::StridedFunction(const UOp* access, const UOp* memory, DType value) {
  const AddrSpace space = memory->dtype.space();
  std::string name = prelude_->Strided(access->op, space, value.scalar(), value.lanes());
  if (!outlined_.contains(access)) return name;
  const std::string element(opencl::MemoryType(value.scalar())),
      vector = Cat(element, value.lanes());
  const bool load = access->op == Op::kLoad;
  return prelude_->Outlined(name, "", load ? vector : "void",
                            Cat(SpacePrefix(space), std::string_view(load ? "const " : ""), element,
                                "* p, int s", load ? "" : Cat(", ", vector, " x")),
                            load ? "p, s" : "p, s, x");
}

void OpenClWriter::ReadAhead(const UOp* u, const UOp* memory) {
  Line(prelude_->ReadAhead(), "(", Pointer(u->src(0), kAdditive), " + ",
       clike::kReadAheadBytes / ByteSize(memory->dtype.scalar()), ");");
}

void OpenClWriter::LoadElements(const UOp* u, const UOp* memory, Expr& e) {
  const UOp* address = u->src(0);
  const Scalar value = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  if (StrideOf(u) != 1) {
    e.text = Cat(StridedFunction(u, memory, u->dtype), "(", Pointer(address, kTernary), ", ",
                 StrideOf(u), ")");
  } else if (Converts(memory, value) && lanes > 1 && target_.unaligned_access) {
    e.text = Cat(prelude_->FloatsOfHalves(lanes), "(", Halves(address, lanes, "const "), ")");
  } else if (Converts(memory, value)) {
    Text pointer = Pointer(address, kTernary);
    if (Declared(memory, target_) != Scalar::kF16) {
      pointer =
          Cat("(", SpacePrefix(memory->dtype.space()), "const half*)", Pointer(address, kUnary));
    }
    e.text = lanes == 1 && target_.HasVectors()
                 ? Cat(prelude_->LoadHalf(), "(", pointer, ")")
                 : Cat("vload_half", lanes > 1 ? Cat(lanes) : "", "(0, ", pointer, ")");
  } else if (AsWords(Shown(value), lanes)) {
    e.text = Cat(prelude_->HalvesOfWords(lanes), "(",
                 Element(address, Scalar::kU32, lanes / 2, /*write=*/false), ")");
  } else if (MovesAsWords(Shown(value), lanes, target_)) {
    const int words = BitWidth(value) * lanes / 32;
    e.text = Cat(prelude_->BitCast(Cat("uint", words), Type(value, lanes)), "(",
                 Element(address, Scalar::kU32, words, /*write=*/false), ")");
  } else {
    e.text = Element(address, value, lanes, /*write=*/false);
    if (e.text[0] == '*') e.precedence = kUnary;
  }
}

void OpenClWriter::StoreElements(const UOp* u, const UOp* memory) {
  const UOp* address = u->src(0);
  const UOp* value = u->src(1);
  const DType t = value->dtype;
  if (StrideOf(u) != 1) {
    Line(StridedFunction(u, memory, t), "(", Pointer(address, kTernary), ", ", StrideOf(u), ", ",
         Operand(value, kTernary, true), ");");
  } else if (Converts(memory, t.scalar()) && t.lanes() > 1 && target_.unaligned_access) {
    Line(Halves(address, t.lanes(), ""), " = ", prelude_->HalvesOfFloats(t.lanes()), "(",
         Operand(value, kTernary, true), ");");
  } else if (Converts(memory, t.scalar())) {
    Text pointer = Pointer(address, kTernary);
    if (Declared(memory, target_) != Scalar::kF16) {
      pointer = Cat("(", SpacePrefix(memory->dtype.space()), "half*)", Pointer(address, kUnary));
    }
    if (t.lanes() == 1 && target_.HasVectors()) {
      Line(prelude_->StoreHalf(), "(", Operand(value, kTernary, true), ", ", pointer, ");");
    } else {
      Line("vstore_half", t.lanes() > 1 ? Cat(t.lanes()) : "", "_rte(",
           Operand(value, kTernary, true), ", 0, ", pointer, ");");
    }
  } else if (AsWords(Shown(t.scalar()), t.lanes())) {
    Line(Element(address, Scalar::kU32, t.lanes() / 2, /*write=*/true), " = ",
         prelude_->WordsOfHalves(t.lanes()), "(", Operand(value, kTernary), ");");
  } else if (MovesAsWords(Shown(t.scalar()), t.lanes(), target_)) {
    const int words = BitWidth(t.scalar()) * t.lanes() / 32;
    Line(Element(address, Scalar::kU32, words, /*write=*/true), " = ",
         prelude_->BitCast(Type(t.scalar(), t.lanes()), Cat("uint", words)), "(",
         Operand(value, kTernary), ");");
  } else if (IsMask(value)) {
    Line(Element(address, t.scalar(), t.lanes(), /*write=*/true), " = as_uchar", t.lanes(), "(",
         Mask(value, 8, kShift), " & (char)1);");
  } else {
    Line(Element(address, t.scalar(), t.lanes(), /*write=*/true), " = ", Operand(value, kTernary),
         ";");
  }
}

absl::Status OpenClWriter::WriteCopyTransposed(const UOp* u) {
  const UOp *to = u->src(0), *from = u->src(1);
  const UOp *written = MemoryOf(to), *read = MemoryOf(from);
  const Scalar element = read->dtype.scalar();
  const int64_t rows = u->word(0), columns = u->word(1);
  if (read->dtype.is_image() || written->dtype.is_image() || BitWidth(element) < 32 ||
      plan_.PieceOf(to) || plan_.PieceOf(from)) {
    return Unsupported(u, "it copies elements of 32 bits or more, between arrays");
  }
  // The largest square that tiles the whole copy.
  int64_t n = 1;
  while (n < 16 && rows % (2 * n) == 0 && columns % (2 * n) == 0) n *= 2;
  const std::string copy = prelude_->CopyTransposed(written->dtype.space(), read->dtype.space(),
                                                    element, n >= 4 ? static_cast<int>(n) : 1);
  const Text target = Pointer(to, kAdditive), source = Pointer(from, kAdditive);
  const auto at = [](Text pointer, int64_t offset) {
    if (offset != 0) Append(pointer, " + ", offset);
    return pointer;
  };
  if (n < 4) {
    Line(copy, "(", target, ", ", u->word(2), ", ", source, ", ", u->word(3), ", ", rows, ", ",
         columns, ");");
    return absl::OkStatus();
  }
  for (int64_t c = 0; c < columns; c += n) {
    for (int64_t r = 0; r < rows; r += n) {
      Line(copy, "(", at(target, c * u->word(2) + r), ", ", u->word(2), ", ",
           at(source, r * u->word(3) + c), ", ", u->word(3), ");");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> OpenClWriter::Image(const UOp* u, const UOp* memory) {
  const UOp* address = u->src(0);
  const DType t = u->op == Op::kLoad ? u->dtype : u->src(1)->dtype;
  if (!target_.images) return Unsupported(u, Cat(target_.name, " has no images"));
  if (t != DType(Scalar::kF32, 4) || address->op != Op::kIndex || address->dtype.lanes() != 1) {
    return Unsupported(u, "an image is read and written a texel (f32x4) at a time");
  }
  const std::string name = memory_names_.lookup(memory);
  const Text at = Operand(address->src(1), kTernary, true);
  if (u->op == Op::kStore) {
    return Cat("write_imagef(", name, ", ", at, ", ", Operand(u->src(1), kTernary, true), ")");
  }
  prelude_->UsesSampler();
  std::string text = Cat("read_imagef(", name, ", nearest, ", at, ")");
  if (const UOp* gate = clike::GateOf(address)) {
    text = Cat(Operand(gate, kTernary + 1), " ? ", text, " : ",
               u->num_srcs > 1 ? Operand(u->src(1), kTernary) : Text("(float4)(0.0f)"));
  }
  return text;
}

}  // namespace tg::opencl
