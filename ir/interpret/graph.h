// Interprets a graph over tensors, and the kernels that it runs.
//
// A graph is a function from the buffers' contents on entry to their contents afterwards: `buffer`
// always reads what was there on entry, `assign` makes a new version of a buffer, `after` joins
// versions, and all versions that the sink reaches are committed together at the end, followed by
// the sink's own targets. A loop's body is such a function without any commit.
#ifndef TG_IR_INTERPRET_GRAPH_H_
#define TG_IR_INTERPRET_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/module.h"

namespace tg::interpret {

struct GraphResult {
  // The final contents of every buffer that the graph wrote.
  HostBuffers buffers;
  // The values of the sink's sources that have one.
  std::vector<Tensor> values;
};

// `inputs` holds inputs, params and states by name. Outputs, and params with values in the module's
// text, need not be given; any other missing buffer is an error when it is read. `vars` gives
// variables their values; variables that the graph binds may be left out.
absl::StatusOr<GraphResult> InterpretGraph(const Module& module, const Graph& graph,
                                           const HostBuffers& inputs, const VarValues& vars,
                                           const InterpretOptions& options);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_GRAPH_H_
