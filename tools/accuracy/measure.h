// Measures the greatest error of a function over given arguments.
#ifndef TG_TOOLS_ACCURACY_MEASURE_H_
#define TG_TOOLS_ACCURACY_MEASURE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "ir/accuracy.h"
#include "tools/accuracy/evaluate.h"
#include "tools/accuracy/samples.h"

namespace tg::accuracy {

struct Measured {
  double ulps = 0;                   // the greatest error; see Reference::UlpsFrom
  int64_t x = 0, y = 0, result = 0;  // bits of the arguments and the result with that error
  int64_t count = 0;                 // number of arguments

  // Merges the measurement of other arguments.
  void Merge(const Measured& other);
};

absl::StatusOr<Measured> Measure(const Evaluator& evaluator, const Function& function,
                                 Scalar scalar, const Implementation& by,
                                 const Arguments& arguments);

// The stated bound of the implementation on this device.
double StatedUlps(const Evaluator& evaluator, const Accuracy& row, Implementation::Kind kind);

// "exp2 f32 by own: 0.52 ulp at 1.5, which gives 2.8284271".
std::string Describe(const Measured& m, const Function& function, Scalar scalar,
                     const Implementation& by);

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_MEASURE_H_
