#include "runtime/session/reference_session.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// Returns the first elements of a buffer that fill `shape`. A buffer with a symbolic extent is
// stored at its maximum size.
interpret::HostBuffer Prefix(const interpret::HostBuffer& buffer, std::vector<int64_t> shape) {
  const auto n = static_cast<size_t>(tg::interpret::NumElements(shape));
  interpret::HostBuffer part;
  part.dtype = buffer.dtype;
  part.shape = std::move(shape);
  part.data.assign(buffer.data.begin(), buffer.data.begin() + static_cast<std::ptrdiff_t>(n));
  if (!buffer.defined.empty()) {
    part.defined.assign(buffer.defined.begin(),
                        buffer.defined.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (buffer.error.size() >= n) {
    part.error.assign(buffer.error.begin(), buffer.error.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return part;
}

}  // namespace

absl::Status ReferenceSession::Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                                      std::span<const std::byte> bytes) {
  buffers_[buffer.name] =
      interpret::BufferFromBytes(buffer.dtype, {shape.begin(), shape.end()}, bytes.data());
  return absl::OkStatus();
}

absl::Status ReferenceSession::Download(const BufferDecl& buffer, std::span<std::byte> elements) {
  const auto found = buffers_.find(buffer.name);
  if (found == buffers_.end()) {
    return absl::FailedPreconditionError(Cat("no graph has written @", buffer.name));
  }
  TG_ASSIGN_OR_RETURN(const HostTensor all, ToHostTensor(found->second));
  if (all.data.size() < elements.size()) {
    return InvalidArgument("@", buffer.name, " holds ", TypeAndShape(all.type, all.shape), ", of ",
                           all.data.size(), " bytes, less than ", elements.size());
  }
  std::copy_n(all.data.begin(), elements.size(), elements.begin());
  return absl::OkStatus();
}

absl::Status ReferenceSession::Execute(const GraphNeeds& graph, const VarMap& vars, int64_t times) {
  for (int64_t i = 0; i < times; ++i) TG_RETURN_IF_ERROR(ExecuteOnce(graph, vars));
  return absl::OkStatus();
}

absl::Status ReferenceSession::ExecuteOnce(const GraphNeeds& graph, const VarMap& vars) {
  interpret::HostBuffers inputs;
  for (const BufferDecl* buffer : graph.needs.buffers) {
    const auto found = buffers_.find(buffer->name);
    if (found == buffers_.end() || buffer->role == Role::kOutput) continue;
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, vars));
    inputs[buffer->name] = Prefix(found->second, std::move(shape));
  }
  const interpret::VarValues values(vars.begin(), vars.end());
  interpret::VarValues measured;
  interpret::InterpretOptions options = options_;
  options.measured = &measured;
  TG_ASSIGN_OR_RETURN(interpret::HostBuffers written,
                      interpret::Interpret(*module_, graph.name, inputs, values, options));
  for (const auto& [name, value] : measured) SetMeasured(name, value);
  for (auto& [name, buffer] : written) {
    const BufferDecl* decl = module_->FindBuffer(name);
    interpret::HostBuffer& stored = buffers_[name];
    if (decl->role == Role::kState && stored.data.size() > buffer.data.size()) {
      std::copy(buffer.data.begin(), buffer.data.end(), stored.data.begin());
      stored.error = std::move(buffer.error);
    } else {
      stored = std::move(buffer);
    }
  }
  return absl::OkStatus();
}

std::vector<double> ReferenceSession::ErrorOf(std::string_view name) const {
  const auto found = buffers_.find(name);
  return found == buffers_.end() ? std::vector<double>() : found->second.error;
}

}  // namespace tg::runtime
