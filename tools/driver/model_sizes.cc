#include "tools/driver/model_sizes.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "ir/value.h"
#include "runtime/session/given.h"

namespace tg::driver {

void ModelSizes::AddTo(Flags& flags) {
  flags.Repeated("var", "NAME=NUMBER", &var_texts_,
                 "the size of an open dimension of an ONNX model; one without a name is called "
                 "INPUT.AXIS");
  flags.Repeated("max", "NAME=NUMBER", &max_texts_,
                 "the greatest size of such a dimension, which stays a variable; 1024 for those "
                 "that neither option names");
  flags.Repeated(
      "value", "NAME=NUMBER,NUMBER,...", &value_texts_,
      "the elements of a small input of an ONNX model, such as a sampling rate or a shape, "
      "where the model computes something else for others; it is no input any more where "
      "they decide all of its uses");
}

absl::Status ModelSizes::Parse() {
  const auto parse = [](std::string_view option, const std::vector<std::string>& texts,
                        model::SizeMap& sizes) {
    for (const std::string& text : texts) {
      const size_t equals = text.rfind('=');
      int64_t size = 0;
      if (equals == 0 || equals == std::string::npos ||
          !absl::SimpleAtoi(text.substr(equals + 1), &size) || size < 1) {
        return InvalidArgument(option, " needs NAME=NUMBER, a size of at least 1, not '", text,
                               "'");
      }
      sizes[text.substr(0, equals)] = size;
    }
    return absl::OkStatus();
  };
  TG_RETURN_IF_ERROR(parse("--var", var_texts_, vars_));
  TG_RETURN_IF_ERROR(parse("--max", max_texts_, max_sizes_));
  for (const std::string& text : value_texts_) {
    const size_t equals = text.find('=');
    bool is_valid = equals != 0 && equals != std::string::npos;
    std::vector<double> values;
    const std::vector<std::string> numbers =
        absl::StrSplit(is_valid ? text.substr(equals + 1) : "", ',');
    for (const std::string& number : numbers) {
      double value = 0;
      is_valid = is_valid && absl::SimpleAtod(number, &value);
      values.push_back(value);
    }
    if (!is_valid) {
      return InvalidArgument("--value needs NAME=NUMBER,NUMBER,..., not '", text, "'");
    }
    values_[text.substr(0, equals)] = std::move(values);
  }
  return absl::OkStatus();
}

absl::StatusOr<onnx::OnnxImportOptions> ModelSizes::For(std::string_view bytes,
                                                        bool is_onnx) const {
  onnx::OnnxImportOptions options;
  if (vars_.empty() && max_sizes_.empty() && values_.empty()) return options;
  if (!is_onnx) {
    return InvalidArgument(!vars_.empty()        ? "--var"
                           : !max_sizes_.empty() ? "--max"
                                                 : "--value",
                           " is for ONNX models; variables of other modules stay variables");
  }
  options.sizes = vars_;
  options.max_sizes = max_sizes_;
  const auto signature = onnx::ReadOnnxSignature(bytes);
  // What is wrong with a damaged model is an error of its import.
  if (!signature.ok()) return options;
  TG_RETURN_IF_ERROR(model::CheckDimensions(*signature, vars_, max_sizes_, "--var", "--max"));
  for (const auto& [name, values] : values_) {
    std::vector<std::string_view> names;
    const onnx::OnnxValueInfo* input = nullptr;
    for (const onnx::OnnxValueInfo& i : signature->inputs) {
      names.push_back(i.name);
      if (i.name == name) input = &i;
    }
    if (input == nullptr) {
      return InvalidArgument("--value ", name, ": there is no input '", name, "'",
                             runtime::OtherNames(name, names));
    }
    if (!input->scalar) return InvalidArgument("--value ", name, ": it is ", input->type);
    std::vector<int64_t>& bits = options.input_values[name];
    for (const double value : values) {
      const Scalar s = *input->scalar;
      // Numbers of a text are decimal; 2^53 is the greatest up to which doubles have all integers.
      if (!IsFloat(s) && (value != std::trunc(value) || std::abs(value) > 0x1p53)) {
        return InvalidArgument("--value ", name, ": ", value, " is not an ", input->type);
      }
      bits.push_back(IsFloat(s) ? BitsFromDouble(s, value)
                                : WrapInt(s, static_cast<int64_t>(value)));
    }
  }
  return options;
}

}  // namespace tg::driver
