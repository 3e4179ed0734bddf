// Exact values by MPFR, and how far others are from them.
#ifndef TG_TOOLS_ACCURACY_REFERENCE_H_
#define TG_TOOLS_ACCURACY_REFERENCE_H_

#include <cstdint>
#include <memory>

#include "ir/dtype.h"
#include "tools/accuracy/functions.h"

namespace tg::accuracy {

// One function on one type. Not for several threads.
class Reference {
 public:
  Reference(Function function, Scalar scalar);
  ~Reference();

  // The distance of `result` from the function of x and y, which are bits of the type, in units of
  // the last place of the exact value (Function::absolute: or of 1). Infinity where one is NaN and
  // the other is not, where one is infinite and the other does not round to that, and where a zero
  // that is exact has the wrong sign. What is known to be at most `enough` may be given less
  // exactly.
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
