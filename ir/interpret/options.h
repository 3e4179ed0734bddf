// What a run of the interpreter checks and assumes.
#ifndef TG_IR_INTERPRET_OPTIONS_H_
#define TG_IR_INTERPRET_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "ir/interpret/scalar.h"
#include "ir/module.h"

namespace tg {

struct InterpretOptions {
  MulAcc mulacc = MulAcc::kFused;
  // Reports two work-items that touch one address without a barrier between, one of them writing
  // another value than what is there.
  bool check_races = true;
  // Reports reads of elements that nobody wrote, and outputs of a graph that are left so.
  bool check_undefined = true;
  // Computes HostBuffer::error along with the values of tensor graphs and of kernels over shapes.
  bool track_error = false;
  // What `error` allows other evaluations of div, recip and sqrt, in units of the last place, since
  // a device may be asked to round them correctly. What it allows other functions: ir/accuracy.def.
  double div_sqrt_ulp = 0;
  // `error` allows a*b + c to round once.
  bool allow_contraction = true;
  // Work-items that are interpreted side by side: more is faster and takes more memory. A group is
  // never split.
  int64_t max_items = 1024;
  // A kernel that executes more node evaluations than this is reported as endless.
  int64_t max_steps = int64_t{1} << 40;
};

// The options that a module's flags ask for.
InterpretOptions OptionsFor(const Module& module);

}  // namespace tg

#endif  // TG_IR_INTERPRET_OPTIONS_H_
