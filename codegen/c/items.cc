// Writes the loops over work-items, and declares what has an element for each of them.
#include <algorithm>

#include "codegen/c/kernel_writer.h"
#include "codegen/c/types.h"
#include "ir/walk.h"

namespace tg::c {

using clike::Append;
using clike::Cat;
using clike::Piece;
using clike::Text;

namespace {

// The most bytes of arrays that a function has on its stack. A thread's stack is 128 KiB in some C
// libraries.
constexpr int64_t kMaxStack = 16 << 10;
// Arrays in the memory that the caller gives begin at multiples of this.
constexpr int64_t kMemoryAlign = 64;

}  // namespace

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
