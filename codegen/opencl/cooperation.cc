// Writes ops in which work-items cooperate, as inline PTX. Targets without it lack these ops.
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/clike/types.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/ptx.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

using clike::Append;
using clike::Cat;
using clike::Expr;
using clike::kTernary;
using clike::Text;

namespace {

std::string Vector(const char* scalar, int n) { return n == 1 ? scalar : Cat(scalar, n); }

}  // namespace

std::string OpenClWriter::Call(const PtxFunction& f) {
  prelude_->Define(f.text);
  return f.name;
}

absl::Status OpenClWriter::WriteCooperation(const UOp* u) {
  if (!target_.inline_ptx) {
    return Unsupported(u, Cat(target_.name, " has no instruction for it"));
  }
  switch (u->op) {
    case Op::kCommit:
      Line(Call(CommitFunction()) + "();");
      return absl::OkStatus();
    case Op::kWait:
      Line(Call(WaitFunction(static_cast<int>(u->word()))) + "();");
      return absl::OkStatus();
    case Op::kCopyAsync:
      return WriteCopyAsync(u);
    case Op::kShuffle:
      return WriteShuffle(u);
    case Op::kTransposeItems:
      return WriteTransposeItems(u);
    case Op::kWmma: {
      const std::string name(ctx_.String(static_cast<StringId>(u->word())));
      const PtxFunction f = MatrixFunction(name, target_.fp16, *prelude_);
      if (f.name.empty()) {
        return Unsupported(u, Cat("there is no matrix instruction '", name, "'"));
      }
      Expr& e = exprs_[u];
      e.text = Cat(Call(f), "(", Words(u->src(0)), ", ", Words(u->src(1)), ", ",
                   Operand(u->src(2), kTernary, true), ")");
      Name(u, e);
      return absl::OkStatus();
    }
    case Op::kWgmma:
      return WriteWgmma(u);
    case Op::kLdMatrix: {
      const auto count = static_cast<int>(u->word(0));
      if (count != 1 && count != 2 && count != 4) return Unsupported(u, "count is 1, 2 or 4");
      const PtxFunction f = LdMatrixFunction(count, u->words().size() > 1 && u->word(1));
      const std::string words = Vector("uint", count), name = Cat("v", num_values_++);
      Line(
          Cat("const ", words, " ", name, " = ", Call(f), "(", Pointer(u->src(0), kTernary), ");"));
      words_[u] = name;
      exprs_[u].text =
          Cat(prelude_->BitCast(words, Type(u->dtype.scalar(), u->dtype.lanes())), "(", name, ")");
      return absl::OkStatus();
    }
    default:
      return Unsupported(u, "it has no place in a linear kernel");
  }
}

std::string OpenClWriter::PickedWords(const UOp* u) const {
  const auto it = u->op == Op::kGep ? words_.find(u->src(0)) : words_.end();
  const auto per = static_cast<int>(32 / BitWidth(u->dtype.scalar()));
  if (it == words_.end() || u->dtype.lanes() % per != 0) return "";
  const auto lanes = u->list();
  std::string picked = it->second + ".s";
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (i % per == 0 && lanes[i] % per == 0) {
      absl::StrAppend(&picked, absl::Hex(lanes[i] / per));
    } else if (i % per == 0 || lanes[i] != lanes[i - 1] + 1) {
      return "";
    }
  }
  return picked;
}

// The value as words of 32 bits.
std::string OpenClWriter::Words(const UOp* u) {
  if (const auto it = words_.find(u); it != words_.end()) return it->second;
  if (std::string picked = PickedWords(u); !picked.empty()) return picked;
  const DType t = u->dtype;
  const std::string words = Vector("uint", BitWidth(t.scalar()) * t.lanes() / 32);
  return Cat(prelude_->BitCast(Type(t.scalar(), t.lanes()), words), "(", Operand(u, kTernary, true),
             ")");
}

bool OpenClWriter::IsOfCopyGate(const UOp* u) {
  if (!target_.inline_ptx || u->op != Op::kAnd || u->dtype != kBool) return false;
  if (!copy_gates_) {
    copy_gates_.emplace();
    std::vector<const UOp*> gates;
    for (const UOp* copy : kernel_.body.linear) {
      if (copy->op != Op::kCopyAsync) continue;
      const UOp* from = copy->src(1);
      if (from->op == Op::kIndex && from->num_srcs == 3) gates.push_back(from->src(2));
    }
    while (!gates.empty()) {
      const UOp* gate = gates.back();
      gates.pop_back();
      if (gate->op != Op::kAnd || !copy_gates_->Insert(gate)) continue;
      gates.insert(gates.end(), gate->srcs().begin(), gate->srcs().end());
    }
  }
  return copy_gates_->Contains(u);
}

absl::Status OpenClWriter::WriteCopyAsync(const UOp* u) {
  const UOp *to = u->src(0), *from = u->src(1);
  const int64_t bytes = u->word() * ByteSize(MemoryOf(to)->dtype.scalar());
  const bool legal = bytes == 4 || bytes == 8 || bytes == 16;
  if (!legal || to->dtype.space() != AddrSpace::kLocal ||
      from->dtype.space() != AddrSpace::kGlobal) {
    return Unsupported(u, "4, 8 or 16 bytes go from global to local memory");
  }
  const UOp* gate = from->op == Op::kIndex && from->num_srcs == 3 ? from->src(2) : nullptr;
  std::string line = Cat(Call(CopyAsyncFunction(static_cast<int>(bytes), gate != nullptr)), "(",
                         Pointer(to, kTernary), ", ", Pointer(from, kTernary));
  if (gate) Append(line, ", ", Operand(gate, kTernary));
  line += ");";
  const bool guard = !InOwnIf(u);
  if (guard) line = Cat("if (", Operand(to->src(2), kTernary), ") ", line);
  Line(line);
  return absl::OkStatus();
}

bool OpenClWriter::SpecialCast(const UOp* u, Expr& e) {
  if (FloatOfByte(u, e)) return true;
  const Scalar from = u->src(0)->dtype.scalar(), to = u->dtype.scalar();
  const int lanes = u->dtype.lanes();
  const bool narrows =
      from == Scalar::kF32 && (to == Scalar::kBF16 || (to == Scalar::kF16 && !target_.fp16));
  const bool widens = from == Scalar::kF16 && to == Scalar::kF32 && !target_.fp16;
  if (!target_.inline_ptx || (!narrows && !widens)) return false;
  e.text = Cat(Call(HalfFunction(from, to, lanes)), "(", Operand(u->src(0), kTernary), ")");
  e.precedence = clike::kPostfix;
  return true;
}

PtxFunction OpenClWriter::LooseFunction(const UOp* u) {
  const bool orders = u->op == Op::kMax || u->op == Op::kMin;
  if (!target_.inline_ptx || u->dtype != DType(Scalar::kF32) || (!orders && u->op != Op::kExp2)) {
    return {};
  }
  if (!unseen_) unseen_.emplace(kernel_.body.linear);
  return (orders ? unseen_->ZeroSign(u) : unseen_->Subnormals(u)) ? FloatFunction(u->op)
                                                                  : PtxFunction();
}

absl::Status OpenClWriter::WriteTransposeItems(const UOp* u) {
  const auto width = static_cast<int>(u->word());
  const int bits = BitWidth(u->dtype.scalar()) * u->dtype.lanes();
  if (IsMask(u) || bits != 32 * width || width > 8) {
    return Unsupported(u, "pieces have 32 bits, in two to eight work-items");
  }
  const std::string type = Type(u->dtype.scalar(), u->dtype.lanes());
  Expr& e = exprs_[u];
  e.text = Cat(Call(TransposeItemsFunction(width)), "(", Words(u->src(0)), ")");
  const std::string words = Vector("uint", width);
  if (type != words) e.text = Cat(prelude_->BitCast(words, type), "(", e.text, ")");
  Name(u, e);
  return absl::OkStatus();
}

// A shuffle moves 32 bits at a time.
absl::Status OpenClWriter::WriteShuffle(const UOp* u) {
  const UOp* x = u->src(0);
  const DType t = u->dtype;
  if (IsMask(u)) return Unsupported(u, "vectors of bools are not shuffled");
  const int bits = BitWidth(t.scalar()) * t.lanes();
  const std::string f = Call(ShuffleFunction(static_cast<int>(u->word())));
  const Text from = Operand(u->src(1), kTernary);
  const std::string type = Type(t.scalar(), t.lanes());
  auto cast = [&](const std::string& a, const std::string& b) {
    return a == b ? std::string() : prelude_->BitCast(a, b);
  };
  Expr& e = exprs_[u];
  if (t.is_bool()) {
    e.text = Cat(f, "(", Operand(x, kTernary), ", ", from, ")");
  } else if (bits < 32) {
    if (t.lanes() > 1) return Unsupported(u, "vectors of less than 32 bits are not shuffled");
    const std::string raw = opencl::ValueType(clike::UnsignedOf(t.scalar()), 1);
    e.text = Cat(cast(raw, type), "((", raw, ")", f, "(", cast(type, raw), "(",
                 Operand(x, kTernary, true), "), ", from, "))");
  } else if (bits == 32) {
    e.text = Cat(cast("uint", type), "(", f, "(", cast(type, "uint"), "(",
                 Operand(x, kTernary, true), "), ", from, "))");
  } else if (bits <= 512) {
    // The vector gets a name because each of its words is read.
    const std::string words = Vector("uint", bits / 32);
    const std::string name = Cat("v", num_values_++);
    Line(Cat("const ", words, " ", name, " = ", cast(type, words), "(", Operand(x, kTernary, true),
             ");"));
    std::string list;
    for (int i = 0; i < bits / 32; ++i) {
      Append(list, i ? ", " : "", f, "(", name, ".s", absl::StrCat(absl::Hex(i)), ", ", from, ")");
    }
    e.text = Cat(cast(words, type), "((", words, ")(", list, "))");
  } else {
    return Unsupported(u, "up to 64 bytes are shuffled");
  }
  Name(u, e);
  return absl::OkStatus();
}

}  // namespace tg::opencl
