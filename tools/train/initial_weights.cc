// What weights begin with, and what adapters make of them.
#include <cmath>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"
#include "tools/train/trainer.h"

namespace tg::train {

absl::StatusOr<runtime::HostTensor> ZerosFor(const Module& module, const std::string& state) {
  const BufferDecl& decl = *module.FindBuffer(state);
  std::vector<int64_t> shape;
  for (const DeclDim& d : decl.shape) shape.push_back(d.size);
  return runtime::MakeHostTensor(*runtime::ElementTypeOf(decl.dtype.scalar()), shape);
}

absl::Status SetAll(runtime::Session& session, const Module& module, const std::string& state,
                    double value) {
  TG_ASSIGN_OR_RETURN(runtime::HostTensor tensor, ZerosFor(module, state));
  const Scalar scalar = runtime::ScalarOf(tensor.type);
  for (size_t i = 0; i < tensor.data.size() / runtime::ElementSize(tensor.type); ++i) {
    interpret::StoreBits(scalar, tensor.data.data(), i, BitsFromDouble(scalar, value));
  }
  return session.Set(state, tensor);
}

absl::Status InitializeWeights(runtime::Session& session, const TrainingModule& training,
                               uint64_t seed) {
  uint64_t number = 0;
  for (const std::string& name : training.weights) {
    TG_ASSIGN_OR_RETURN(runtime::HostTensor tensor, ZerosFor(*training.module, name));
    const std::vector<int64_t>& shape = tensor.shape;
    const Scalar scalar = runtime::ScalarOf(tensor.type);
    const auto count = static_cast<size_t>(interpret::NumElements(shape));
    const bool is_matrix = shape.size() > 1;
    const double bound =
        is_matrix && count > 0
            ? 1 / std::sqrt(static_cast<double>(count) / static_cast<double>(shape[0]))
            : 0;
    const bool is_scale =
        name.ends_with("weight") || name.ends_with("scale") || name.ends_with("gamma");
    const uint64_t key = interpret::Threefry2x32(number++, seed);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t random = interpret::Threefry2x32(i, key) >> 11;
      const double unit = static_cast<double>(random) * 0x1p-53;
      const double value = is_matrix ? (2 * unit - 1) * bound : is_scale ? 1 : 0;
      interpret::StoreBits(scalar, tensor.data.data(), i, BitsFromDouble(scalar, value));
    }
    TG_RETURN_IF_ERROR(session.Set(name, tensor));
  }
  return absl::OkStatus();
}

absl::Status InitializeAdapters(runtime::Session& session, const TrainingModule& training,
                                uint64_t seed) {
  TG_RETURN_IF_ERROR(InitializeWeights(session, training, seed));
  for (const Adapter& adapter : training.adapters) {
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor zeros, ZerosFor(*training.module, adapter.left));
    TG_RETURN_IF_ERROR(session.Set(adapter.left, zeros));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> MergedWeights(runtime::Session& session, const TrainingModule& training) {
  Tensors merged;
  for (const Adapter& adapter : training.adapters) {
    TG_ASSIGN_OR_RETURN(runtime::HostTensor weight, session.Get(adapter.weight));
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor left, session.Get(adapter.left));
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor right, session.Get(adapter.right));
    const auto rows = static_cast<size_t>(left.shape[0]), rank = static_cast<size_t>(left.shape[1]);
    const auto columns = static_cast<size_t>(right.shape[1]);
    const auto number = [](const runtime::HostTensor& t, size_t i) {
      const Scalar scalar = runtime::ScalarOf(t.type);
      return DoubleFromBits(scalar, interpret::LoadBits(scalar, t.data.data(), i));
    };
    const Scalar scalar = runtime::ScalarOf(weight.type);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        double change = 0;
        for (size_t k = 0; k < rank; ++k) {
          change += number(left, i * rank + k) * number(right, k * columns + j);
        }
        const size_t at = i * columns + j;
        const double value = number(weight, at) + adapter.scale * change;
        interpret::StoreBits(scalar, weight.data.data(), at, BitsFromDouble(scalar, value));
      }
    }
    merged[adapter.weight] = std::move(weight);
  }
  return merged;
}

}  // namespace tg::train
