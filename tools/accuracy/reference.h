// Exact values by MPFR, and the error of other values.
#ifndef TG_TOOLS_ACCURACY_REFERENCE_H_
#define TG_TOOLS_ACCURACY_REFERENCE_H_

#include <cstdint>
#include <memory>

#include "ir/dtype.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

// One function on one type. Not thread-safe.
class Reference {
 public:
  Reference(Function function, Scalar scalar);
  ~Reference();

  // The error of `result` as the function of x and y, all given as bits of the type, in units of
  // the last place of the exact value (Function::absolute: or of 1). Infinity if exactly one of
  // them is NaN, if one is infinite and the other does not round to it, or if an exact zero has the
  // wrong sign. An error that is known to be at most `enough` may be approximate.
  double UlpsFrom(int64_t x, int64_t y, int64_t result, double enough = 0);

 private:
  struct Numbers;
  double Exactly(double x, double y, int64_t result_bits);

  const Function function_;
  const Scalar scalar_;
  std::unique_ptr<Numbers> numbers_;
};

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_REFERENCE_H_
