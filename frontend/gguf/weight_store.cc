#include "frontend/gguf/weight_store.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"

namespace tg::gguf {
namespace {

std::string TextOf(const Ints& shape) {
  return frontend::ShapeText(Shape(shape.begin(), shape.end()));
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

const Tensor* WeightStore::Find(const std::string& name, const Ints& shape) {
  const Tensor* tensor = model_.FindTensor(name);
  if (!tensor) {
    if (!used_[name]) missing_ += Cat(" '", name, "'");
    used_[name] = true;
    return nullptr;
  }
  const bool is_new = !std::exchange(used_[name], true);
  if (tensor->shape == shape) return tensor;
  if (is_new) {
    wrong_ += Cat(", tensor '", name, "' is ", TextOf(tensor->shape), ", not ", TextOf(shape));
  }
  return nullptr;
}

const Weight* WeightStore::Get(const std::string& name, const Ints& shape) {
  const auto known = weights_.find(name);
  if (known != weights_.end() && known->second.shape == shape) return &known->second;
  const Tensor* tensor = Find(name, shape);
  if (!tensor) return nullptr;
  const std::string& path = model_.paths[static_cast<size_t>(tensor->file)];
  return &weights_.try_emplace(name, DeclareWeight(module_, *tensor, BaseName(path))).first->second;
}

std::vector<double> WeightStore::Numbers(const std::string& name, int64_t count) {
  const Tensor* tensor = Find(name, {count});
  if (!tensor) return {};
  if (tensor->type != TensorType::kF32) {
    wrong_ += Cat(", tensor '", name, "' is ", InfoOf(tensor->type).name, ", not F32");
    return {};
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, tensor->bytes.data() + i * static_cast<int64_t>(sizeof value),
                sizeof value);
    numbers.push_back(value);
  }
  return numbers;
}

absl::Status WeightStore::Check(const std::vector<std::string>& spare) const {
  const std::string& path = model_.paths[0];
  if (!missing_.empty()) return InvalidArgument(path, ": the file lacks the tensors", missing_);
  if (!wrong_.empty()) return InvalidArgument(path, ": ", wrong_.substr(2));
  std::string unused;
  for (const auto& [name, tensor] : model_.tensors) {
    const std::string key(name);
    if (!used_.contains(key) && std::find(spare.begin(), spare.end(), key) == spare.end()) {
      unused += Cat(" '", name, "'");
    }
  }
  if (unused.empty()) return absl::OkStatus();
  return InvalidArgument(path, ": the architecture has no use for the tensors", unused);
}

int64_t WeightStore::BytesOf(const std::string& name) const {
  const Tensor* tensor = model_.FindTensor(name);
  return tensor ? static_cast<int64_t>(tensor->bytes.size()) : 0;
}

int64_t WeightStore::BytesUsed() const {
  int64_t bytes = 0;
  for (const auto& [name, weight] : weights_) bytes += BytesOf(name);
  return bytes;
}

}  // namespace tg::gguf
