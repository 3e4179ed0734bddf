// The operators of ONNX whose errors are measured: operators.def.
#ifndef TG_TOOLS_ACCURACY_OPERATORS_H_
#define TG_TOOLS_ACCURACY_OPERATORS_H_

#include <span>
#include <string>

#include "tools/accuracy/functions.h"

namespace tg::accuracy {

struct MeasuredOperator {
  Function function;
  std::string name;  // unique, of letters and underscores
  bool half = false;
  double f16, bf16, f32, f64;

  // The function, limited to the arguments that the bound holds for.
  Function On(Scalar s) const;
  double BoundFor(Scalar s) const;
};

std::span<const MeasuredOperator> MeasuredOperators();

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_OPERATORS_H_
