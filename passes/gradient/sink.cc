#include "passes/gradient/sink.h"

#include "base/cat.h"

namespace tg::gradient {

std::vector<SinkRoot> RootsOf(const Body& body) {
  const auto targets = body.root->list();
  std::vector<SinkRoot> roots;
  for (size_t i = 0; i < body.root->num_srcs; ++i) {
    SinkRoot root{.value = body.root->src(i)};
    if (i < targets.size()) root.target = body.context->String(static_cast<StringId>(targets[i]));
    roots.push_back(std::move(root));
  }
  return roots;
}

void SetRoots(Body& body, const std::vector<SinkRoot>& roots) {
  std::vector<const UOp*> values;
  std::vector<std::string_view> targets;
  for (const SinkRoot& root : roots) {
    values.push_back(root.value);
    targets.push_back(root.target);
  }
  body.root = Builder(*body.context).Sink(values, targets);
}

WrittenValue FindWritten(Module& module, std::string_view buffer) {
  for (const auto& graph : module.graphs) {
    for (const SinkRoot& root : RootsOf(graph->body)) {
      if (root.target == buffer) return {graph.get(), root.value};
    }
  }
  return {};
}

std::string FreeSymbol(const Module& module, const std::string& base) {
  std::string name = base;
  for (int i = 1; module.FindBuffer(name) || module.FindVar(name); ++i) name = Cat(base, ".", i);
  return name;
}

}  // namespace tg::gradient
