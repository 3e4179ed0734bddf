// Values of a module on random data, for comparing what a pass was given with what it made of it.
#ifndef TG_TOOLS_DRIVER_EVALUATION_H_
#define TG_TOOLS_DRIVER_EVALUATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg {

// A graph, or a kernel that no graph runs (as in tests of kernel passes), with data to run it on.
struct EvaluationCase {
  bool is_kernel = false;
  std::string name;
  // Of a kernel: its place among the kernels that no graph runs, and how many these are. Passes
  // keep them in their order, and may give them other names.
  size_t number = 0, of = 0;
  VarValues vars;
  HostBuffers inputs;  // of a kernel: every slot, by its number

  std::string Title() const;  // "graph @main with @n = 3"
};

// A case for each graph that is not the body of a loop, and for each kernel that no graph runs.
// Variables get their declared maximum when `seed` is even, else a random value in their bounds.
std::vector<EvaluationCase> MakeCases(const Module& module, uint64_t seed);

// What a case leaves in the buffers that it writes (of a graph: all but temporaries), with bounds
// of their rounding errors where `track_error` asks for them and the module is still at a stage
// that gives them (tensor, kernel). An error names the case and what the interpreter found.
absl::StatusOr<HostBuffers> Evaluate(const Module& module, const EvaluationCase& c,
                                     bool track_error);

// Whether Evaluate finds bounds for this module: no kernel is past the stages that give them.
bool GivesBounds(const Module& module);

// What differs, or nullopt. `expected` is what Evaluate gave. With bounds, floats differ by no more
// than these allow; without, by a few units in the last place, as after a reordered short sum, or
// at will where the flags of the module allow that.
std::optional<std::string> Disagreement(const HostBuffers& expected, const HostBuffers& actual,
                                        bool bounds, ModuleFlags flags);

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_EVALUATION_H_
