#include "tools/run/random_inputs.h"

#include <random>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"

namespace tg::run {

absl::StatusOr<runtime::HostTensor> RandomTensor(const Module& module, const BufferDecl& buffer,
                                                 const runtime::VarMap& vars, int64_t seed) {
  const Scalar scalar = buffer.dtype.scalar();
  const std::optional<runtime::ElementType> type = runtime::ElementTypeOf(scalar);
  if (!buffer.dtype.is_value() || !type) {
    return Unimplemented("no random numbers of type ", buffer.dtype.ToString(), " for @",
                         buffer.name);
  }
  runtime::VarMap values = vars;
  for (const VarDecl& var : module.vars) values.try_emplace(var.name, var.max);
  TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, runtime::ShapeOf(buffer, values));
  TG_ASSIGN_OR_RETURN(runtime::HostTensor tensor, runtime::MakeHostTensor(*type, shape));

  std::seed_seq name_and_seed(buffer.name.begin(), buffer.name.end());
  std::mt19937_64 random(name_and_seed);
  random.discard(1);
  std::mt19937_64 numbers(random() ^ static_cast<uint64_t>(seed));
  const size_t count = tensor.data.size() / runtime::ElementSize(*type);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t n = numbers();
    int64_t bits = 0;
    if (IsFloat(scalar)) {
      bits = BitsFromDouble(scalar, static_cast<double>(n >> 11) * 0x1p-52 - 1);
    } else if (scalar == Scalar::kBool) {
      bits = static_cast<int64_t>(n >> 63);
    } else {
      bits = static_cast<int64_t>(n >> 32) % 10;
    }
    interpret::StoreBits(scalar, tensor.data.data(), i, bits);
  }
  return tensor;
}

}  // namespace tg::run
