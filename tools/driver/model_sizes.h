// The options of tools by which an ONNX model gets sizes, and contents of inputs that decide what
// it computes.
#ifndef TG_TOOLS_DRIVER_MODEL_SIZES_H_
#define TG_TOOLS_DRIVER_MODEL_SIZES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "frontend/onnx/import_onnx.h"
#include "model/read.h"
#include "tools/driver/flags.h"

namespace tg::driver {

// --var, --max and --value of tools that only compile.
class ModelSizes {
 public:
  void AddTo(Flags& flags);
  // Reads the values; an error is a usage error.
  absl::Status Parse();
  // Returns the options for the file with these bytes. InvalidArgument where an option was given
  // for a dimension that is not open, an unknown input, or another kind of file.
  absl::StatusOr<onnx::OnnxImportOptions> For(std::string_view bytes, bool is_onnx) const;

 private:
  std::vector<std::string> var_texts_, max_texts_, value_texts_;
  model::SizeMap vars_, max_sizes_;
  std::map<std::string, std::vector<double>, std::less<>> values_;  // by input
};

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_MODEL_SIZES_H_
