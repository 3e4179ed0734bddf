#include "tools/accuracy/onnx_node.h"

#include <cstring>
#include <string_view>

#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/onnx_tensors.h"

namespace tg::accuracy {
namespace {

constexpr int64_t kOpset = 28, kIrVersion = 10;

// Fields of a message of protocol buffers. The numbers of fields are those of onnx.proto.
std::string Varint(uint64_t n) {
  std::string out;
  for (; n > 127; n >>= 7) out += static_cast<char>((n & 127) | 128);
  return out + static_cast<char>(n);
}
std::string Number(uint64_t field, int64_t n) {
  return Varint(field << 3) + Varint(static_cast<uint64_t>(n));
}
std::string Bytes(uint64_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

std::string ValueInfo(const NodeInput& input) {
  std::string shape;
  for (const int64_t d : input.shape) shape += Bytes(1, Number(1, d));
  const auto type = static_cast<int64_t>(onnx::TypeFor(input.type));
  return Bytes(1, input.name) + Bytes(2, Bytes(1, Number(1, type) + Bytes(2, shape)));
}

std::string Initializer(const NodeInput& input) {
  std::string dims, data(input.constant.size() * sizeof(int64_t), '\0');
  for (const int64_t d : input.shape) dims += Number(1, d);
  std::memcpy(data.data(), input.constant.data(), data.size());
  const auto type = static_cast<int64_t>(onnx::TypeFor(Scalar::kI64));
  return dims + Number(2, type) + Bytes(8, input.name) + Bytes(9, data);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ImportNode(const OnnxNode& node,
                                                   std::span<const NodeInput> inputs) {
  std::string encoded, graph;
  for (const std::string& name : node.inputs) encoded += Bytes(1, name);
  for (const std::string& name : node.outputs) encoded += Bytes(2, name);
  encoded += Bytes(4, node.op) + Bytes(7, node.domain);
  for (const auto& [name, n] : node.attributes) {
    encoded += Bytes(5, Bytes(1, name) + Number(3, n) + Number(20, 2));
  }
  for (const auto& [name, text] : node.strings) {
    encoded += Bytes(5, Bytes(1, name) + Bytes(4, text) + Number(20, 3));
  }
  graph += Bytes(1, encoded);
  for (const NodeInput& input : inputs) {
    graph += input.constant.empty() ? Bytes(11, ValueInfo(input)) : Bytes(5, Initializer(input));
  }
  for (const std::string& name : node.outputs) {
    if (!name.empty()) graph += Bytes(12, Bytes(1, name));
  }
  std::string model = Number(1, kIrVersion) + Bytes(7, graph);
  model += Bytes(8, Bytes(1, "") + Number(2, kOpset));
  if (!node.domain.empty()) model += Bytes(8, Bytes(1, node.domain) + Number(2, 1));
  return onnx::ImportOnnx(model, node.op + ".onnx", {});
}

}  // namespace tg::accuracy
