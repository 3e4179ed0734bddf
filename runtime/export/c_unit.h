// A module as a C translation unit: a model to link.
//
// The unit has the module's kernels as static functions (codegen/c) and, for each graph, a function
// that launches them in order:
//
//   int digits_main(const float* x, float* logits, void* scratch);
//
// Parameters: the buffers that the graph uses and that are not temporary, in the module's order,
// then the variables (int64_t), then scratch memory for temporaries. A param with values in the
// module is a constant of the unit. The result is 0, or 1 where a variable is outside of its
// bounds; then nothing has been written. Functions keep no state, so that threads may
// call them at the same time with different memory.
#ifndef TG_RUNTIME_EXPORT_C_UNIT_H_
#define TG_RUNTIME_EXPORT_C_UNIT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/renderer.h"
#include "ir/module.h"
#include "passes/target.h"
#include "passes/thread_pool.h"

namespace tg::runtime {

// The function of a graph.
struct CEntry {
  const Graph* graph = nullptr;
  std::string function;
  std::vector<int> buffers;        // parameters: indices in Module::buffers
  std::vector<std::string> vars;   // and names of variables
  std::vector<std::string> names;  // of the parameters, buffers first
  size_t scratch_bytes = 0;
};

struct CUnit {
  std::string source, header;
  std::vector<CEntry> entries;  // by graph
};

// Unimplemented for what a plan cannot execute, for images, and for requirements on extents.
absl::StatusOr<CUnit> MakeCUnit(const Module& module, const codegen::Renderer& renderer,
                                const passes::Target& target, passes::ThreadPool* workers);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_EXPORT_C_UNIT_H_
