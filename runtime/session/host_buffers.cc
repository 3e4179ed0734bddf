// Conversions between tensors and the interpreter's buffers.
#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {

interpret::HostBuffer ToHostBuffer(const BufferDecl& buffer, const HostTensor& tensor) {
  return interpret::BufferFromBytes(buffer.dtype, tensor.shape, tensor.data.data());
}

absl::StatusOr<HostTensor> ToHostTensor(const interpret::HostBuffer& buffer) {
  const std::optional<ElementType> type =
      buffer.dtype.is_value() ? ElementTypeOf(buffer.dtype.scalar()) : std::nullopt;
  if (!type) {
    return InvalidArgument("a buffer of type ", buffer.dtype.ToString(), " is not a tensor");
  }
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(*type, buffer.shape));
  const std::vector<uint8_t> bytes = interpret::BufferToBytes(buffer);
  TG_CHECK(bytes.size() == tensor.data.size());
  std::transform(bytes.begin(), bytes.end(), tensor.data.begin(),
                 [](uint8_t b) { return static_cast<std::byte>(b); });
  return tensor;
}

}  // namespace tg::runtime
