// What is said of a variable that a run has measured (measure.h) and that is outside of its bounds.
#ifndef TG_IR_WRONG_MEASURE_H_
#define TG_IR_WRONG_MEASURE_H_

#include <cstdint>
#include <string>

#include "base/cat.h"
#include "ir/decls.h"

namespace tg {

// Empty if the variable can have this value.
inline std::string WrongMeasure(const VarDecl& var, int64_t value) {
  if (value >= var.min && value <= var.max) return "";
  const std::string bound =
      value < var.min ? Cat("at least ", var.min) : Cat("at most ", var.max, " (option --max)");
  return Cat("size @", var.name, ", which depends on data, is ", value, " in this run; it is ",
             bound);
}

}  // namespace tg

#endif  // TG_IR_WRONG_MEASURE_H_
