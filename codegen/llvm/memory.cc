// Writes loads, stores and the memory of a kernel.
#include <algorithm>

#include "codegen/clike/read_ahead.h"
#include "codegen/llvm/kernel_writer.h"
#include "ir/masked_access.h"
#include "ir/transpose.h"

namespace tg::llvm_ir {
namespace {

// Arrays up to this size are on the stack, larger ones in memory that the caller gives.
constexpr int64_t kMaxStackBytes = 16 << 10;

bool IsHalf(const UOp* memory, Scalar value) {
  return memory->dtype.scalar() == Scalar::kF16 && value == Scalar::kF32;
}

// The type that masked accesses move. Halves are moved as integers: where a processor has masked
// moves of 16 bits but no arithmetic in halves, LLVM takes vectors of these element by element.
Scalar MaskedScalar(Scalar value, bool is_half) {
  return is_half ? Scalar::kU16 : value == Scalar::kBool ? Scalar::kU8 : value;
}

std::string HalfType(int lanes) {
  return lanes == 1 ? "half" : absl::StrCat("<", lanes, " x half>");
}

}  // namespace

const UOp* KernelWriter::GateOf(const UOp* address) const {
  const bool has_gate = address->op == Op::kIndex && address->num_srcs == 3;
  return has_gate && !MaskOf(address) ? address->src(2) : nullptr;
}

const UOp* KernelWriter::OwnGate(const UOp* address) const {
  const UOp* gate = GateOf(address);
  for (const Block& block : blocks_) {
    if (gate != nullptr && block.gate == gate) return nullptr;
  }
  return gate;
}

// ---- The kernel's own memory

int64_t KernelWriter::Reserve(int64_t bytes, bool each_item) {
  const int64_t offset = result_.launch.group_memory;
  const int64_t all = bytes * (each_item ? regions_.items() : 1);
  result_.launch.group_memory +=
      (all + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  return offset;
}

std::string KernelWriter::ScratchAddress(int64_t offset, int64_t bytes, bool each_item) {
  const std::string base = Emit("getelementptr i8, ptr %scratch, i64 ", offset);
  if (!each_item || item_ == "0") return base;
  const std::string distance = Emit("mul i64 ", item_, ", ", bytes);
  return Emit("getelementptr i8, ptr ", base, ", i64 ", distance);
}

void KernelWriter::WriteScratch(const UOp* u) {
  const DType t = u->dtype;
  const int64_t bytes = t.size() * ByteSize(t.scalar());
  const bool own = t.space() == AddrSpace::kReg || t.space() == AddrSpace::kPrivate;
  if (own && regions_.keeps_values()) {
    const int64_t padded = (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    item_scratch_[u] = {Reserve(padded, /*each_item=*/true), padded};
    return;
  }
  const std::string name = absl::StrCat("%tile", next_++);
  memory_[u] = name;
  if (own && (t.space() == AddrSpace::kReg || bytes <= kMaxStackBytes)) {
    absl::StrAppend(&entry_, "  ", name, " = alloca [", t.size(), " x ", MemoryType(t.scalar(), 1),
                    "], align 64\n");
  } else {
    absl::StrAppend(&entry_, "  ", name, " = getelementptr i8, ptr %scratch, i64 ",
                    Reserve(bytes, /*each_item=*/false), "\n");
  }
}

// ---- Addresses

std::string KernelWriter::Element(const std::string& pointer, Scalar element,
                                  const std::string& index, bool is_inside) {
  if (index == "0") return pointer;
  return Emit("getelementptr ", is_inside ? "inbounds " : "", MemoryType(element, 1), ", ptr ",
              pointer, ", i64 ", index);
}

std::string KernelWriter::Pointer(const UOp* address) {
  const UOp* memory = MemoryOf(address);
  const auto own = item_scratch_.find(memory);
  const std::string base =
      own == item_scratch_.end()
          ? memory_.lookup(memory)
          : ScratchAddress(own->second.offset, own->second.bytes, /*each_item=*/true);
  while (address->op == Op::kAfter || address->op == Op::kNoop) address = address->src(0);
  if (address->op != Op::kIndex) return base;
  // Under a mask, the first element need not exist.
  return Element(base, memory->dtype.scalar(), Wide(address->src(1)), MaskOf(address) == nullptr);
}

absl::Status KernelWriter::CheckAccess(const UOp* u, const UOp* memory, DType value) const {
  if (u->src(0)->dtype.lanes() != 1) {
    return Unsupported(u, "it has an address a lane; devectorize makes them one");
  }
  if (!IsHalf(memory, value.scalar()) &&
      BitWidth(memory->dtype.scalar()) != BitWidth(value.scalar())) {
    return Unsupported(u, "it converts between types that memory access cannot");
  }
  return absl::OkStatus();
}

// ---- Loads and stores

std::string KernelWriter::ReadVector(const std::string& pointer, DType value, bool from_half) {
  const Scalar s = value.scalar();
  const int lanes = value.lanes();
  if (from_half) {
    const std::string half = Emit("load ", HalfType(lanes), ", ptr ", pointer, ", align 2");
    return Emit("fpext ", HalfType(lanes), " ", half, " to ", ValueType(value));
  }
  const std::string loaded =
      Emit("load ", MemoryType(s, lanes), ", ptr ", pointer, ", align ", ByteSize(s));
  if (s != Scalar::kBool) return loaded;
  return Emit("icmp ne ", MemoryType(s, lanes), " ", loaded, ", ",
              lanes == 1 ? "0" : "zeroinitializer");
}

void KernelWriter::WriteVector(const std::string& pointer, DType type, const std::string& value,
                               bool to_half) {
  const Scalar s = type.scalar();
  const int lanes = type.lanes();
  const std::string typed = absl::StrCat(ValueType(type), " ", value);
  if (to_half) {
    const std::string half = Emit("fptrunc ", typed, " to ", HalfType(lanes));
    Line("store ", HalfType(lanes), " ", half, ", ptr ", pointer, ", align 2");
  } else if (s == Scalar::kBool) {
    const std::string bytes = Emit("zext ", typed, " to ", MemoryType(s, lanes));
    Line("store ", MemoryType(s, lanes), " ", bytes, ", ptr ", pointer, ", align 1");
  } else {
    Line("store ", typed, ", ptr ", pointer, ", align ", ByteSize(s));
  }
}

std::string KernelWriter::ReadMasked(const std::string& pointer, const std::string& mask,
                                     const UOp* load, bool from_half) {
  const DType t = load->dtype;
  const Scalar s = t.scalar();
  const int lanes = t.lanes();
  const Scalar moved = MaskedScalar(s, from_half);
  const std::string type = MemoryType(moved, lanes);
  const std::string name = absl::StrCat("@llvm.masked.load.", Mangled(moved, lanes), ".p0");
  const std::string mask_type = absl::StrCat("<", lanes, " x i1>");
  result_.declarations.insert(
      absl::StrCat("declare ", type, " ", name, "(ptr, i32, ", mask_type, ", ", type, ")\n"));
  std::string value = Emit("call ", type, " ", name, "(ptr ", pointer, ", i32 ", ByteSize(moved),
                           ", ", mask_type, " ", mask, ", ", type, " zeroinitializer)");
  if (from_half) {
    value = Emit("bitcast ", type, " ", value, " to ", HalfType(lanes));
    value = Emit("fpext ", HalfType(lanes), " ", value, " to ", ValueType(t));
  }
  if (s == Scalar::kBool) value = Emit("icmp ne ", type, " ", value, ", zeroinitializer");
  if (load->num_srcs == 1) return value;
  return Emit("select ", mask_type, " ", mask, ", ", ValueType(t), " ", value, ", ",
              Typed(load->src(1)));
}

void KernelWriter::WriteMasked(const std::string& pointer, const std::string& mask, DType t,
                               const std::string& value, bool to_half) {
  const Scalar s = t.scalar();
  const int lanes = t.lanes();
  const Scalar moved = MaskedScalar(s, to_half);
  const std::string type = MemoryType(moved, lanes);
  std::string stored = value;
  if (to_half) {
    stored = Emit("fptrunc ", ValueType(t), " ", value, " to ", HalfType(lanes));
    stored = Emit("bitcast ", HalfType(lanes), " ", stored, " to ", type);
  }
  if (s == Scalar::kBool) stored = Emit("zext ", ValueType(t), " ", value, " to ", type);
  const std::string name = absl::StrCat("@llvm.masked.store.", Mangled(moved, lanes), ".p0");
  const std::string mask_type = absl::StrCat("<", lanes, " x i1>");
  result_.declarations.insert(
      absl::StrCat("declare void ", name, "(", type, ", ptr, i32, ", mask_type, ")\n"));
  Line("call void ", name, "(", type, " ", stored, ", ptr ", pointer, ", i32 ", ByteSize(moved),
       ", ", mask_type, " ", mask, ")");
}

absl::Status KernelWriter::WriteLoad(const UOp* u) {
  const UOp* address = u->src(0);
  const UOp* memory = MemoryOf(address);
  if (absl::Status s = CheckAccess(u, memory, u->dtype); !s.ok()) return s;
  const Scalar element = memory->dtype.scalar();
  const bool from_half = IsHalf(memory, u->dtype.scalar());
  const int lanes = u->dtype.lanes();
  const int64_t stride = lanes == 1 ? 1 : StrideOf(u);
  std::string pointer = Pointer(address);
  if (const UOp* mask = MaskOf(address)) {
    Set(u, ReadMasked(pointer, Of(mask), u, from_half));
    return absl::OkStatus();
  }
  if (read_ahead_.contains(u)) {
    const std::string ahead =
        Emit("getelementptr i8, ptr ", pointer, ", i64 ", clike::kReadAheadBytes);
    result_.declarations.insert("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n");
    Line("call void @llvm.prefetch.p0(ptr ", ahead, ", i32 0, i32 3, i32 1)");
  }
  // Where the gate is false, the load reads zeros that are always there: no branch is needed.
  const UOp* gate = GateOf(address);
  const std::string condition = gate ? Of(gate) : "";
  const auto gated = [&](const std::string& p) -> std::string {
    if (gate == nullptr) return p;
    result_.zeros = std::max(result_.zeros, ByteSize(element) * lanes);
    return Emit("select i1 ", condition, ", ptr ", p, ", ptr @zeros");
  };
  std::string value;
  if (stride == 1) {
    value = ReadVector(gated(pointer), u->dtype, from_half);
  } else {
    value = "undef";
    const DType one(u->dtype.scalar());
    for (int i = 0; i < lanes; ++i) {
      const std::string p = gated(Element(pointer, element, absl::StrCat(i * stride)));
      const std::string lane = ReadVector(p, one, from_half);
      value = Emit("insertelement ", ValueType(u->dtype), " ", value, ", ", ValueType(one), " ",
                   lane, ", i32 ", i);
    }
  }
  if (gate != nullptr && u->num_srcs > 1) {
    value = Emit("select i1 ", condition, ", ", ValueType(u->dtype), " ", value, ", ",
                 Typed(u->src(1)));
  }
  Set(u, std::move(value));
  return absl::OkStatus();
}

absl::Status KernelWriter::WriteStore(const UOp* u) {
  const UOp* address = u->src(0);
  const UOp* memory = MemoryOf(address);
  const UOp* value = u->src(1);
  const DType t = value->dtype;
  if (absl::Status s = CheckAccess(u, memory, t); !s.ok()) return s;
  const bool to_half = IsHalf(memory, t.scalar());
  const std::string stored = Of(value);
  const UOp* gate = OwnGate(address);
  std::string exit;
  if (gate != nullptr) {
    const std::string body = NewLabel();
    exit = NewLabel();
    Line("br i1 ", Of(gate), ", label %", body, ", label %", exit);
    Begin(body);
  }
  const std::string pointer = Pointer(address);
  const int64_t stride = t.lanes() == 1 ? 1 : StrideOf(u);
  if (const UOp* mask = MaskOf(address)) {
    WriteMasked(pointer, Of(mask), t, stored, to_half);
  } else if (stride == 1) {
    WriteVector(pointer, t, stored, to_half);
  } else {
    for (int i = 0; i < t.lanes(); ++i) {
      const std::string lane = Emit("extractelement ", ValueType(t), " ", stored, ", i32 ", i);
      WriteVector(Element(pointer, memory->dtype.scalar(), absl::StrCat(i * stride)),
                  DType(t.scalar()), lane, to_half);
    }
  }
  if (gate != nullptr) {
    Line("br label %", exit);
    Begin(exit);
  }
  return absl::OkStatus();
}

// ---- Transposed copies

absl::Status KernelWriter::WriteCopyTransposed(const UOp* u) {
  const UOp *to = u->src(0), *from = u->src(1);
  const Scalar element = MemoryOf(from)->dtype.scalar();
  const int64_t rows = u->word(0), columns = u->word(1);
  if (BitWidth(element) != BitWidth(MemoryOf(to)->dtype.scalar())) {
    return Unsupported(u, "it converts between types that memory access cannot");
  }
  // The largest square that tiles the whole copy.
  int64_t n = 1;
  while (n < 16 && rows % (2 * n) == 0 && columns % (2 * n) == 0) n *= 2;
  if (n < 4) n = 1;
  const std::string target = Pointer(to), source = Pointer(from);
  for (int64_t c = 0; c < columns; c += n) {
    for (int64_t r = 0; r < rows; r += n) {
      TransposeSquare(element, static_cast<int>(n),
                      Element(target, element, absl::StrCat(c * u->word(2) + r)), u->word(2),
                      Element(source, element, absl::StrCat(r * u->word(3) + c)), u->word(3));
    }
  }
  return absl::OkStatus();
}

void KernelWriter::TransposeSquare(Scalar element, int n, const std::string& to, int64_t to_stride,
                                   const std::string& from, int64_t from_stride) {
  const std::string type = MemoryType(element, n);
  const auto align = ByteSize(element);
  std::vector<std::string> rows;
  for (int i = 0; i < n; ++i) {
    const std::string p = Element(from, element, absl::StrCat(i * from_stride));
    rows.push_back(Emit("load ", type, ", ptr ", p, ", align ", align));
  }
  if (n >= 4) {
    for (const auto& round : TransposeRounds(static_cast<size_t>(n), align)) {
      std::vector<std::string> next;
      for (const TransposeStep& step : round) {
        std::string mask;
        for (const int64_t at : step.order) {
          const auto half = static_cast<int64_t>(step.lanes.size());
          const int64_t lane = at < half ? step.lanes[static_cast<size_t>(at)]
                                         : n + step.lanes[static_cast<size_t>(at - half)];
          absl::StrAppend(&mask, mask.empty() ? "i32 " : ", i32 ", lane);
        }
        next.push_back(Emit("shufflevector ", type, " ", rows[step.first], ", ", type, " ",
                            rows[step.second], ", <", n, " x i32> <", mask, ">"));
      }
      rows = std::move(next);
    }
  }
  for (int i = 0; i < n; ++i) {
    const std::string p = Element(to, element, absl::StrCat(i * to_stride));
    Line("store ", type, " ", rows[static_cast<size_t>(i)], ", ptr ", p, ", align ", align);
  }
}

}  // namespace tg::llvm_ir
