// Numbers as elements of a tensor.
#ifndef TG_RUNTIME_MEDIA_STORE_H_
#define TG_RUNTIME_MEDIA_STORE_H_

#include <span>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::runtime {

// Makes a tensor of these values. For integer types they are rounded and clamped; a bool is true if
// the value is not 0.
absl::StatusOr<HostTensor> TensorOf(ElementType type, std::vector<int64_t> shape,
                                    std::span<const float> values);

// Whether the type has integers only.
bool IsIntegral(ElementType type);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_STORE_H_
