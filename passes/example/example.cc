#include "passes/example/example.h"

#include <string>
#include <vector>

#include "ir/value.h"
#include "ir/walk.h"

namespace tg::example {
namespace {

constexpr passes::PassOption kOptions[] = {
    {"max", passes::PassOption::Kind::kInt, "-1",
     "limit on the nodes rewritten in a body; -1: none"},
    {"explain", passes::PassOption::Kind::kFlag, "false", "say what was rewritten"},
};

// The node that is doubled by `u`, or null.
const UOp* DoubledBy(const UOp* u) {
  if (u->op != Op::kMul) return nullptr;
  for (int side = 0; side < 2; ++side) {
    const UOp* factor = u->src(side);
    if (IsConst(factor) && DoubleFromBits(factor->dtype.scalar(), factor->word()) == 2)
      return u->src(1 - side);
  }
  return nullptr;
}

// Returns how many nodes it rewrote.
int64_t RunOnBody(Body& body, int64_t max) {
  int64_t rewritten = 0;
  NodeMap<const UOp*> map;  // from old nodes to new ones; sources come before their users
  std::vector<const UOp*> srcs;
  for (const UOp* u : PostOrder(body.root)) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* x = rewritten == max ? nullptr : DoubledBy(u);
    if (x) {
      ++rewritten;
      srcs = {map.Get(x), map.Get(x)};
    }
    map[u] = body.context->Make(x ? Op::kAdd : u->op, u->dtype, srcs, u->attr);
    body.CarryOver(u, map[u]);  // the name and the place in the text
  }
  body.root = map.Get(body.root);
  return rewritten;
}

void RunOn(Body& body, const std::string& name, passes::PassContext& context) {
  const int64_t rewritten = RunOnBody(body, context.Int("max"));
  context.statistics["example.doubled"] += rewritten;
  if (context.Flag("explain")) {
    context.remarks += "example: " + std::to_string(rewritten) + " nodes of @" + name + "\n";
  }
}

absl::Status Run(Module& module, passes::PassContext& context) {
  for (const auto& graph : module.graphs) RunOn(graph->body, graph->name, context);
  for (const auto& kernel : module.kernels) {
    // The order of a linear kernel is decided: no pass adds nodes to it.
    if (kernel->stage != Stage::kLinear) RunOn(kernel->body, kernel->name, context);
  }
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kExamplePass = {"example", "turns mul x, 2 into add x, x", kOptions,
                                             &Run};

}  // namespace tg::example
