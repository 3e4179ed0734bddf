// Memory that a caller lends to a session.
#include <algorithm>
#include <optional>

#include "base/status.h"
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
  return SetOrLend(name, type, shape, {elements, {}}, /*lend=*/true);
}

absl::Status Session::Lend(std::string_view name, ElementType type, std::span<const int64_t> shape,
                           DeviceHandle memory) {
  return SetOrLend(name, type, shape, {{}, memory}, /*lend=*/true);
}

absl::Status Session::Take(const BufferDecl& buffer, std::span<const int64_t> shape,
                           const Given& elements, size_t bytes, bool lend) {
  if (elements.device.handle == nullptr) {
    if (lend && Borrow(buffer, elements.host)) return absl::OkStatus();
    return Upload(buffer, shape, elements.host);
  }
  for (const Loan& loan : loans_) {
    if (loan.device.handle == elements.device.handle && loan.buffer->role == Role::kOutput) {
      return InvalidArgument("@", buffer.name, ": its memory is that of @", loan.buffer->name);
    }
  }
  bool is_lent = false;
  if (lend) {
    TG_ASSIGN_OR_RETURN(is_lent, Adopt(buffer, elements.device, bytes));
  }
  if (!is_lent) return CopyFrom(buffer, elements.device, bytes);
  loans_.push_back({&buffer, {}, elements.device});
  return absl::OkStatus();
}

absl::StatusOr<bool> Session::Adopt(const BufferDecl&, DeviceHandle, size_t) { return false; }

absl::Status Session::CopyFrom(const BufferDecl& buffer, DeviceHandle, size_t) {
  return InvalidArgument("@", buffer.name, ": the session has no memory of a device");
}

absl::Status Session::CopyTo(const BufferDecl& buffer, DeviceHandle memory, size_t bytes) {
  return Session::CopyFrom(buffer, memory, bytes);
}

bool Session::Borrow(const BufferDecl& buffer, std::span<const std::byte> elements) {
  if (elements.size() < kMinLentBytes) return false;
  // Kernels address whole elements.
  const auto address = reinterpret_cast<uintptr_t>(elements.data());
  const auto type = ElementTypeOf(buffer.dtype.scalar());
  if (!type || address % ElementSize(*type) != 0) return false;
  if (!Adopt(buffer, elements, /*owner=*/nullptr)) return false;
  loans_.push_back({&buffer, elements, {}});
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

absl::Status Session::LendOutput(std::string_view graph, std::string_view name,
                                 DeviceHandle memory) {
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindStored(*declarations_, name));
  if (buffer->role != Role::kOutput) return InvalidArgument("@", name, " is no output");
  TG_ASSIGN_OR_RETURN(const size_t number,
                      FindGraphToRun(declarations_->name, graph_names_, graph));
  EndLoan(*buffer);
  for (const Loan& loan : loans_) {
    if (loan.device.handle == memory.handle) {
      return InvalidArgument("@", name, ": its memory is that of @", loan.buffer->name);
    }
  }
  const std::vector<const BufferDecl*>& written = graphs_[number].needs.buffers;
  bool is_lent = false;
  const absl::StatusOr<size_t> bytes = BufferBytes(*declarations_, *buffer);
  if (bytes.ok() && std::find(written.begin(), written.end(), buffer) != written.end()) {
    TG_ASSIGN_OR_RETURN(is_lent, Adopt(*buffer, memory, *bytes));
  }
  if (is_lent) {
    loans_.push_back({buffer, {}, memory});
    std::erase(absent_, buffer);
  } else {
    results_.push_back({number, buffer->name, memory});
  }
  return absl::OkStatus();
}

absl::Status Session::CopyResults(std::string_view graph) {
  TG_ASSIGN_OR_RETURN(const size_t number,
                      FindGraphToRun(declarations_->name, graph_names_, graph));
  for (const Result& result : results_) {
    if (result.graph == number) TG_RETURN_IF_ERROR(GetInto(result.name, result.memory));
  }
  return absl::OkStatus();
}

absl::Status Session::GetInto(std::string_view name, DeviceHandle memory) {
  ElementType type;
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindReadable(name, type));
  TG_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ShapeOf(*buffer, last_sizes_));
  const std::optional<size_t> bytes = NumBytes(type, shape);
  if (!bytes) return InvalidArgument("@", name, " is ", TypeAndShape(type, shape));
  return CopyTo(*buffer, memory, *bytes);
}

void Session::EndLoan(const BufferDecl& buffer) {
  std::erase_if(results_, [&](const Result& result) { return result.name == buffer.name; });
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
  results_.clear();
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
