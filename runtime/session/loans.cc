// Memory that a caller lends to a session.
#include <algorithm>

#include "runtime/session/session.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// A copy of less takes no longer than the arguments of launches that would change.
constexpr size_t kMinLentBytes = size_t{1} << 14;

bool Overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

}  // namespace

absl::Status Session::Lend(std::string_view name, ElementType type, std::span<const int64_t> shape,
                           std::span<const std::byte> elements) {
  return SetOrLend(name, type, shape, elements, /*lend=*/true);
}

bool Session::Borrow(const BufferDecl& buffer, std::span<const std::byte> elements) {
  if (elements.size() < kMinLentBytes) return false;
  // Kernels address whole elements.
  const auto address = reinterpret_cast<uintptr_t>(elements.data());
  const auto type = ElementTypeOf(buffer.dtype.scalar());
  if (!type || address % ElementSize(*type) != 0) return false;
  if (!Adopt(buffer, elements, /*owner=*/nullptr)) return false;
  loans_.push_back({&buffer, elements});
  return true;
}

void Session::LendOutput(std::string_view graph, std::string_view name,
                         std::span<std::byte> elements) {
  const BufferDecl* buffer = declarations_->FindBuffer(name);
  if (buffer == nullptr || buffer->role != Role::kOutput) return;
  EndLoan(*buffer);
  const absl::StatusOr<size_t> number = FindGraphToRun(declarations_->name, graph_names_, graph);
  if (!number.ok()) return;
  const std::vector<const BufferDecl*>& written = graphs_[*number].needs.buffers;
  if (std::find(written.begin(), written.end(), buffer) == written.end()) return;
  // Kernels rely on it that what they write is nothing else's memory.
  for (const Loan& loan : loans_) {
    if (Overlap(loan.memory, elements)) return;
  }
  const absl::StatusOr<size_t> bytes = BufferBytes(*declarations_, *buffer);
  if (!bytes.ok() || elements.size() < *bytes) return;
  if (Borrow(*buffer, elements)) std::erase(absent_, buffer);
}

void Session::EndLoan(const BufferDecl& buffer) {
  if (std::erase_if(loans_, [&](const Loan& loan) { return loan.buffer == &buffer; }) > 0) {
    Release(buffer);
  }
}

void Session::EndLoans() {
  for (const Loan& loan : loans_) {
    Release(*loan.buffer);
    absent_.push_back(loan.buffer);
  }
  loans_.clear();
}

ShapesByName Session::PresentShapes() const {
  ShapesByName shapes = shapes_;
  for (const BufferDecl* buffer : absent_) shapes.erase(buffer->name);
  return shapes;
}

bool Session::IsAbsent(std::string_view name) const {
  return std::any_of(absent_.begin(), absent_.end(),
                     [&](const BufferDecl* buffer) { return buffer->name == name; });
}

}  // namespace tg::runtime
