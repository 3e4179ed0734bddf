// One run of a graph over tensors: what graph.h describes, node by node.
#ifndef TG_IR_INTERPRET_GRAPH_RUN_H_
#define TG_IR_INTERPRET_GRAPH_RUN_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/interpret/graph.h"
#include "ir/interpret/graph_state.h"
#include "ir/walk.h"

namespace tg::interpret {

// The value of a node during a run: a tensor, memory (a version of a buffer, viewed through `map`),
// both, or, for a kernel, the versions of all buffers that it wrote.
struct GraphValue {
  Tensor tensor;
  VersionPtr version;
  std::shared_ptr<const std::vector<int64_t>> map;  // null: the whole buffer
  std::vector<VersionPtr> written;
};

// State that the graph of a run shares with the bodies of its loops.
struct GraphProgram {
  const Module& module;
  const HostBuffers& inputs;
  VarValues vars;
  const InterpretOptions& options;
  std::map<std::string, VersionPtr, std::less<>> entries;
};

class GraphRun {
 public:
  GraphRun(GraphProgram& program, const Graph& graph, std::span<const Tensor> carried, int depth)
      : p_(program), graph_(graph), ctx_(*graph.body.context), carried_(carried), depth_(depth) {}

  absl::StatusOr<GraphResult> Run();

 private:
  absl::Status Eval(const UOp* u);
  absl::StatusOr<VersionPtr> Entry(std::string_view name);
  absl::Status Buffer(const UOp* u, GraphValue& v);
  absl::Status Bind(const UOp* u, GraphValue& v);
  // `order` with what measures a variable (ir/measure.h) in front of what may depend on it. Notes
  // the variables.
  std::vector<const UOp*> MeasuredFirst(std::vector<const UOp*> order);
  absl::Status Move(const UOp* u, GraphValue& v);
  absl::Status BufferView(const UOp* u, GraphValue& v);
  absl::Status Assign(const UOp* u, GraphValue& v);
  absl::Status After(const UOp* u, GraphValue& v);
  absl::Status RunKernelNode(const UOp* u, GraphValue& v);
  absl::Status Loop(const UOp* u, GraphValue& v);
  absl::Status Repeat(const UOp* u, GraphValue& v);
  absl::StatusOr<VersionPtr> JoinAll(std::vector<VersionPtr> versions, size_t first_token,
                                     const UOp* u);
  absl::StatusOr<GraphResult> Commit(const UOp* sink);
  // The value of source i as a tensor all of whose elements are defined.
  absl::StatusOr<Tensor> Operand(const UOp* u, size_t i);
  absl::StatusOr<int64_t> Number(const UOp* u, size_t i);
  // Records a write of `values` to elements `map` (null: all) of `base`.
  absl::StatusOr<VersionPtr> Write(const VersionPtr& base, const std::vector<int64_t>* map,
                                   const Tensor& value);

  std::string Text(int64_t id) { return std::string(ctx_.String(static_cast<StringId>(id))); }

  GraphProgram& p_;
  const Graph& graph_;
  const Context& ctx_;
  std::span<const Tensor> carried_;
  int depth_;
  NodeMap<std::shared_ptr<GraphValue>> values_;
  NodeSet is_target_;  // memory whose map is needed
  NodeSet measured_;   // variables that the graph measures
  std::map<std::pair<int64_t, std::vector<const UOp*>>, std::vector<Tensor>> loops_;
  int next_write_ = 0;
};

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_GRAPH_RUN_H_
