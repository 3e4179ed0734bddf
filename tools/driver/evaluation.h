// Evaluates a module on random data, to compare a pass's input with its output.
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

namespace tg::driver {

// A graph, or a kernel that no graph runs (as in tests of kernel passes), with its input data.
struct EvaluationCase {
  bool is_kernel = false;
  std::string name;
  // For a kernel: its index among the kernels that no graph runs, and the number of these. Passes
  // keep their order, but may rename them.
  size_t number = 0, of = 0;
  interpret::VarValues vars;
  interpret::HostBuffers inputs;  // for a kernel: all slots, by number

  std::string Title() const;  // "graph @main with @n = 3"
};

// Makes a case for each graph that is not the body of a loop, and for each kernel that no graph
// runs. A variable gets its declared maximum if `seed` is even, else a random value within its
// bounds.
std::vector<EvaluationCase> MakeCases(const Module& module, uint64_t seed);

// The contents of the buffers that a case writes (for a graph: all but temporaries). They have
// bounds of their rounding errors if `track_error` is set and the module is at a stage that
// supports bounds (tensor, kernel). An error names the case and contains the interpreter's message.
absl::StatusOr<interpret::HostBuffers> Evaluate(const Module& module, const EvaluationCase& c,
                                                bool track_error);

// Whether Evaluate computes error bounds for this module: no kernel is past the stages that support
// them.
bool GivesBounds(const Module& module);

// Describes the first difference, or a buffer that only one of the two has; nullopt if there is
// none. `expected` is a result of Evaluate. With bounds, values may differ by their bounds. Without
// bounds, floats may differ by the sum of 4 units in the last place, 1e-5, and 1e-5 of the expected
// value, and by any amount where the module's flags leave the expected value open.
std::optional<std::string> Disagreement(const interpret::HostBuffers& expected,
                                        const interpret::HostBuffers& actual, bool bounds,
                                        ModuleFlags flags);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_EVALUATION_H_
