#include "runtime/session/reference_session.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {

absl::Status ReferenceSession::Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                                      std::span<const std::byte> bytes) {
  buffers_[buffer.name] =
      BufferFromBytes(buffer.dtype, {shape.begin(), shape.end()}, bytes.data());
  return absl::OkStatus();
}

absl::Status ReferenceSession::Download(const BufferDecl& buffer, HostTensor& tensor) {
  const auto found = buffers_.find(buffer.name);
  if (found == buffers_.end()) {
    return absl::FailedPreconditionError(Cat("no graph has written @", buffer.name));
  }
  TG_ASSIGN_OR_RETURN(const HostTensor all, ToHostTensor(found->second));
  if (all.data.size() < tensor.data.size()) {
    return InvalidArgument("@", buffer.name, " holds ", TypeAndShape(all.type, all.shape),
                           ", less than ", TypeAndShape(tensor.type, tensor.shape));
  }
  std::copy_n(all.data.begin(), tensor.data.size(), tensor.data.begin());
  return absl::OkStatus();
}

absl::Status ReferenceSession::Execute(const Graph& graph, std::span<const BufferDecl* const>,
                                       const VarMap& vars) {
  const VarValues values(vars.begin(), vars.end());
  TG_ASSIGN_OR_RETURN(HostBuffers written,
                      Interpret(module(), graph.name, buffers_, values, options_));
  for (auto& [name, buffer] : written) buffers_[name] = std::move(buffer);
  return absl::OkStatus();
}

std::vector<double> ReferenceSession::ErrorOf(std::string_view name) const {
  const auto found = buffers_.find(name);
  return found == buffers_.end() ? std::vector<double>() : found->second.error;
}

}  // namespace tg::runtime
