#include "frontend/onnx/signature.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/proto.h"

namespace tg::onnx {

std::string OnnxDimensionName(std::string_view param, std::string_view input, size_t axis) {
  // Some exporters write "?" for every dimension that they know nothing of.
  return !param.empty() && param != "?" ? std::string(param)
                                        : absl::StrCat(std::string(input), ".", axis);
}

std::string OnnxValueInfo::ToString() const {
  if (!shape) return type + " of unknown rank";
  std::string text = type + "[";
  for (size_t i = 0; i < shape->size(); ++i) {
    absl::StrAppend(&text, i ? ", " : "", (*shape)[i].ToString());
  }
  return text + "]";
}

absl::StatusOr<OnnxSignature> ReadOnnxSignature(std::string_view bytes) {
  const absl::StatusOr<onnx::Model> model = onnx::ParseModel(bytes);
  if (!model.ok()) return model.status();
  const auto describe = [](const onnx::ValueInfo& value, bool is_input) {
    OnnxValueInfo info;
    info.name = value.name;
    info.is_tensor = value.type.kind == onnx::TypeProto::Kind::kTensor;
    if (info.is_tensor) info.scalar = onnx::ScalarFor(value.type.element);
    info.type = !info.is_tensor ? "no tensor"
                : info.scalar   ? DType(*info.scalar).ToString()
                                : std::string(onnx::TypeName(value.type.element));
    if (!value.type.shape) return info;
    info.shape.emplace();
    for (size_t i = 0; i < value.type.shape->size(); ++i) {
      const onnx::Dimension& d = (*value.type.shape)[i];
      OnnxDimension& dim = info.shape->emplace_back();
      if (d.value && *d.value >= 0) {
        dim.size = *d.value;
      } else if (is_input) {
        dim.name = OnnxDimensionName(d.param, value.name, i);
      } else {
        dim.name = d.param.empty() ? "?" : std::string(d.param);
      }
    }
    return info;
  };
  std::set<std::string_view> initialized;
  for (const auto& t : model->graph.initializers) initialized.insert(t.name);
  OnnxSignature signature;
  for (const onnx::ValueInfo& input : model->graph.inputs) {
    if (!initialized.count(input.name)) signature.inputs.push_back(describe(input, true));
  }
  for (const onnx::ValueInfo& output : model->graph.outputs) {
    signature.outputs.push_back(describe(output, false));
  }
  for (const onnx::Node& node : model->graph.nodes) {
    for (const std::string_view output : node.outputs) signature.values.emplace_back(output);
  }
  return signature;
}

bool OnnxSignature::MayBeDataSize(std::string_view name) const {
  const std::string symbol = frontend::SymbolFrom(name.substr(0, name.rfind('.')));
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    return frontend::SymbolFrom(value) == symbol;
  });
}

}  // namespace tg::onnx
