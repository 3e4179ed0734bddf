// A module as a C translation unit: a model to link.
//
// The unit has the module's kernels as static functions (codegen/c) and, for each graph, a function
// that launches them in order:
//
//   int net_main(const float* x, float* y, int64_t n, const void* weights, void* state,
//                void* scratch);
//
// Parameters: the buffers that the graph uses and that the caller gives, in the module's order,
// then the variables, then up to three blocks of memory. `weights` has the params that the module
// takes from files, `states` the states, `scratch` the temporaries; a param with values in the
// module is a constant of the unit. If there are states, net_init sets them to their initial values
// and runs graph @init.
//
// The result is 0, or 1 where a variable is outside of its bounds or breaks a requirement; then
// nothing has been written. Functions have no static variables, so that threads may call them at
// the same time with different memory.
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
  const Graph* graph = nullptr;  // null for an initialization without a graph @init
  std::string function, prototype;
  std::vector<int> buffers;        // parameters: indices in Module::buffers
  std::vector<std::string> vars;   // and names of variables
  std::vector<std::string> names;  // of these parameters, buffers first
  size_t scratch_bytes = 0;
};

// A buffer in a block.
struct CBlockPart {
  int buffer;  // index in Module::buffers
  size_t offset;
};

struct CUnit {
  std::string source, header;
  std::vector<CEntry> entries;  // initialization first
  std::vector<CBlockPart> weights, states;
  // The kernels in LLVM's assembly language, where they are no functions of the source.
  std::string assembly;
  // Bytes of the blocks, multiples of 64. 0: functions have no such parameter, except `scratch`.
  size_t weights_bytes = 0, states_bytes = 0, scratch_bytes = 0;
};

// Unimplemented for what a plan cannot execute, and for images. `name` begins the names of
// functions and macros, and of the file of weights in the header's comments; empty: the module's.
absl::StatusOr<CUnit> MakeCUnit(const Module& module, const codegen::Renderer& renderer,
                                const passes::Target& target, passes::ThreadPool* workers,
                                std::string_view name = "");

// The same with kernels that are compiled to an object (cpu::Compile): their names begin with that
// of the unit, which declares them.
absl::StatusOr<CUnit> MakeObjectUnit(const Module& module, const passes::Target& target,
                                     passes::ThreadPool* workers, std::string_view name);

// Returns the contents of the block `weights`, read from the module's files.
absl::StatusOr<std::string> ReadCWeights(const Module& module, const CUnit& unit);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_EXPORT_C_UNIT_H_
