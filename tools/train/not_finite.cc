#include <cmath>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/interpret/graph.h"
#include "ir/interpret/host_buffer.h"
#include "ir/tuple.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"
#include "tools/train/trainer.h"

namespace tg::train {
namespace {

// Values that the interpreter has not stored, because of their size, count as finite.
bool IsFinite(const interpret::Tensor& value) {
  if (!value.data || !IsFloat(value.scalar)) return true;
  for (const int64_t bits : *value.data) {
    if (!std::isfinite(DoubleFromBits(value.scalar, bits))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> FindNotFinite(runtime::Session& session, const Module& module,
                                          const Tensors& states) {
  interpret::HostBuffers given;
  for (const BufferDecl& b : module.buffers) {
    if (b.role == Role::kOutput || b.role == Role::kTemp || b.values) continue;
    const auto state = states.find(b.name);
    runtime::HostTensor tensor;
    if (state != states.end()) {
      tensor = state->second;
    } else {
      absl::StatusOr<runtime::HostTensor> read = session.Get(b.name);
      if (!read.ok()) continue;  // an input that the step does not read
      tensor = *std::move(read);
    }
    given[b.name] = runtime::ToHostBuffer(b, tensor);
  }
  const std::unique_ptr<Module> copy = Clone(module);
  Graph& graph = *copy->FindGraph(kTrainGraph);
  Body& body = graph.body;
  std::vector<const UOp*> nodes;
  for (const UOp* u : OrderOutsideTuples(body.root)) {
    if (u->dtype.is_float() && u->op != Op::kAssign && u->op != Op::kAfter) nodes.push_back(u);
  }
  body.root = Builder(*body.context).Sink(nodes);
  TG_ASSIGN_OR_RETURN(
      const interpret::GraphResult result,
      interpret::InterpretGraph(*copy, graph, given, {}, interpret::OptionsFor(*copy)));
  NodeSet infinite;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const UOp* u = nodes[i];
    if (IsFinite(result.values[i])) continue;
    infinite.Insert(u);
    bool is_first = !IsConst(u);
    for (const UOp* s : u->srcs()) is_first &= !infinite.Contains(s);
    if (!is_first) continue;
    const StringId origin = body.side.origin(u);
    if (!origin) return body.Describe(u);
    return Cat(body.Describe(u), " (", body.context->String(origin), ")");
  }
  return std::string();
}

}  // namespace tg::train
