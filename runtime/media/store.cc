#include "runtime/media/store.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {

bool IsIntegral(ElementType type) { return !IsFloat(ScalarOf(type)); }

absl::StatusOr<HostTensor> TensorOf(ElementType type, std::vector<int64_t> shape,
                                    std::span<const float> values) {
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(type, std::move(shape)));
  const Scalar scalar = ScalarOf(type);
  const bool rounds = IsIntegral(type) && type != ElementType::kBool;
  const double min = rounds ? DoubleFromBits(scalar, MinValue(scalar)) : 0;
  const double max = rounds ? DoubleFromBits(scalar, MaxValue(scalar)) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double v = values[i];
    if (rounds) v = std::clamp(std::nearbyint(v), min, max);
    interpret::StoreBits(scalar, tensor.data.data(), i, BitsFromDouble(scalar, v));
  }
  return tensor;
}

}  // namespace tg::runtime
