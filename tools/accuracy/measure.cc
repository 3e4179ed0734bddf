#include "tools/accuracy/measure.h"

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "ir/value.h"
#include "tools/accuracy/reference.h"

namespace tg::accuracy {

void Measured::Merge(const Measured& other) {
  count += other.count;
  if (other.ulps <= ulps) return;
  ulps = other.ulps;
  x = other.x;
  y = other.y;
  result = other.result;
}

absl::StatusOr<Measured> Measure(const Evaluator& evaluator, const Function& function,
                                 Scalar scalar, const Implementation& by,
                                 const Arguments& arguments) {
  TG_ASSIGN_OR_RETURN(const std::vector<int64_t> results,
                      evaluator.Run(function, scalar, by, arguments.x, arguments.y));
  Reference reference(function, scalar);
  Measured worst;
  worst.count = static_cast<int64_t>(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const int64_t x = arguments.x[i], y = arguments.y.empty() ? 0 : arguments.y[i];
    const double ulps = reference.UlpsFrom(x, y, results[i], worst.ulps);
    if (ulps > worst.ulps) worst = {ulps, x, y, results[i], worst.count};
  }
  return worst;
}

double StatedUlps(const Evaluator& evaluator, const Accuracy& row, Implementation::Kind kind) {
  switch (kind) {
    case Implementation::Kind::kInterpreter:
      return row.interpreter;
    case Implementation::Kind::kDevice:
      if (evaluator.is_native()) return row.own;
      return evaluator.is_pocl() ? row.pocl : row.opencl;
    default:
      return row.own;
  }
}

std::string Describe(const Measured& m, const Function& function, Scalar scalar,
                     const Implementation& by) {
  const std::string argument = absl::StrFormat("%.17g", DoubleFromBits(scalar, m.x));
  const std::string second =
      function.arity == 2 ? absl::StrFormat(", %.17g", DoubleFromBits(scalar, m.y)) : "";
  return absl::StrFormat("%-7s %-7s by %-24s %.6g ulp at %s%s, which gives %.17g; %d arguments",
                         function.name, std::string(GetScalarInfo(scalar).text), by.Name(), m.ulps,
                         argument, second, DoubleFromBits(scalar, m.result), m.count);
}

}  // namespace tg::accuracy
