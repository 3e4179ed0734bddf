// Interprets a whole module: one of its graphs, with the kernels that it runs. The module must have
// passed the verifier; every such module gives a result or an error, never undefined behaviour.
#ifndef TG_IR_INTERPRET_RUN_H_
#define TG_IR_INTERPRET_RUN_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/module.h"

namespace tg::interpret {

// Runs graph `graph`. `inputs` holds inputs, params and states by name (buffers with values in the
// text may be left out). Returns the final contents of every buffer that the graph wrote; `inputs`
// is not changed. To step a state, merge the result into the next run's inputs.
absl::StatusOr<HostBuffers> Interpret(const Module& module, std::string_view graph,
                                      const HostBuffers& inputs, const VarValues& vars,
                                      const InterpretOptions& options);
absl::StatusOr<HostBuffers> Interpret(const Module& module, std::string_view graph,
                                      const HostBuffers& inputs, const VarValues& vars = {});

// The same for a first run: runs @init if the module has it, then the graph. Returns the buffers
// that the graph wrote.
absl::StatusOr<HostBuffers> InterpretFirstRun(const Module& module, std::string_view graph,
                                              const HostBuffers& inputs, const VarValues& vars,
                                              const InterpretOptions& options);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_RUN_H_
