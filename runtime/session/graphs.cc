// What is learnt of a module's graphs.
#include <set>
#include <string>

#include "base/status.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "runtime/session/given.h"
#include "runtime/session/session.h"

namespace tg::runtime {
namespace {

// Returns the variables that a graph and the bodies of its loops read from the run. Variables that
// a bind sets are excluded.
std::set<std::string> VarsAskedFor(const Module& module, const Graph& graph) {
  std::set<std::string> asked, bound;
  std::set<const Graph*> seen = {&graph};
  std::vector<const Graph*> work = {&graph};
  while (!work.empty()) {
    const Body& body = work.back()->body;
    work.pop_back();
    const auto name = [&](const UOp* u) {
      return std::string(body.context->String(static_cast<StringId>(u->word(0))));
    };
    for (const UOp* u : PostOrder(body.root)) {
      if (u->op == Op::kVar) asked.insert(name(u));
      if (u->op == Op::kBind) bound.insert(name(u->src(0)));
      if (u->op != Op::kLoop) continue;
      const Graph* inner = module.FindGraph(name(u));
      if (inner != nullptr && seen.insert(inner).second) work.push_back(inner);
    }
  }
  for (const BufferDecl* buffer : BuffersOf(module, graph)) {
    if (buffer->role == Role::kTemp) continue;
    for (const DeclDim& dim : buffer->shape) {
      dim.ForEachVar([&](const std::string& var) { asked.insert(var); });
    }
  }
  for (const std::string& var : bound) asked.erase(var);
  return asked;
}

}  // namespace

absl::StatusOr<const Graph*> FindGraphToRun(const Module& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& graph : module.graphs) names.push_back(graph->name);
  TG_ASSIGN_OR_RETURN(const size_t found, FindGraphToRun(module.name, names, name));
  return module.graphs[found].get();
}

std::vector<GraphNeeds> NeedsOfGraphs(const Module& module) {
  std::vector<GraphNeeds> all;
  for (const auto& graph : module.graphs) all.push_back({graph->name, NeedsOf(module, *graph)});
  return all;
}

std::vector<const BufferDecl*> BuffersOf(const Module& module, const Graph& graph) {
  std::set<std::string_view> used;
  const tg::Context& context = *graph.body.context;
  for (const UOp* u : PostOrder(graph.body.root)) {
    if (u->op == Op::kBuffer) used.insert(context.String(static_cast<StringId>(u->word())));
  }
  const auto targets = graph.body.root->words();
  for (size_t i = 1; i < targets.size(); ++i) {
    used.insert(context.String(static_cast<StringId>(targets[i])));
  }
  std::vector<const BufferDecl*> out;
  for (const BufferDecl& buffer : module.buffers) {
    if (used.contains(buffer.name)) out.push_back(&buffer);
  }
  return out;
}

Needs NeedsOf(const Module& module, const Graph& graph) {
  Needs needs{BuffersOf(module, graph), {}};
  for (const std::string& name : VarsAskedFor(module, graph)) {
    if (const VarDecl* var = module.FindVar(name)) needs.vars.push_back(var);
  }
  return needs;
}

}  // namespace tg::runtime
