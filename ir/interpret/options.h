// What a run of the interpreter checks and assumes.
#ifndef TG_IR_INTERPRET_OPTIONS_H_
#define TG_IR_INTERPRET_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ir/interpret/scalar.h"
#include "ir/module.h"

namespace tg::interpret {

struct InterpretOptions {
  MulAcc mulacc = MulAcc::kFused;
  // Reports a race: two work-items access one address without a barrier between them, and one of
  // them changes the value.
  bool check_races = true;
  // Reports reads of elements that nobody wrote, and outputs of a graph with such elements.
  bool check_undefined = true;
  // Computes HostBuffer::error along with the values of tensor graphs and of kernels over shapes.
  bool track_error = false;
  // The error of div, recip and sqrt in other evaluations, in units in the last place. It is 0 for
  // a device that is asked to round them correctly. For other functions see ir/accuracy.def.
  double div_sqrt_ulp = 0;
  // `error` allows a*b + c to round once.
  bool allow_contraction = true;
  // `error` allows what these permit: no-nan, zero-mul, inf-ratio, fast-math.
  ModuleFlags flags;
  // Values of tensor graphs, and of kernels over shapes, with more elements than this are not kept
  // in memory; readers compute them in pieces (deferred.h).
  int64_t max_held = int64_t{1} << 24;
  // The maximum number of bytes that values may occupy at the same time. A graph that needs more is
  // an error before anything is computed. 0: three quarters of the memory that the process may use.
  int64_t max_bytes = 0;
  // The number of work-items that are interpreted together. More are faster but take more memory. A
  // group is never split.
  int64_t max_items = 1024;
  // A kernel that executes more node evaluations than this is reported as endless.
  int64_t max_steps = int64_t{1} << 40;
  // If not null: receives the variables that the graph measures (ir/measure.h).
  std::map<std::string, int64_t, std::less<>>* measured = nullptr;
};

// The options that a module's flags ask for.
InterpretOptions OptionsFor(const Module& module);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_OPTIONS_H_
