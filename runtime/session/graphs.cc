// What is learnt of a module's graphs.
#include <algorithm>
#include <set>
#include <string>

#include "base/status.h"
#include "ir/module.h"
#include "ir/walk.h"
#include "runtime/session/given.h"
#include "runtime/session/session.h"

namespace tg::runtime {
namespace {

// The graph and the bodies of its loops.
std::vector<const Graph*> WithLoops(const Module& module, const Graph& graph) {
  std::vector<const Graph*> all = {&graph};
  for (size_t i = 0; i < all.size(); ++i) {
    const Body& body = all[i]->body;
    for (const UOp* u : PostOrder(body.root)) {
      if (u->op != Op::kLoop && u->op != Op::kRepeat) continue;
      const Graph* inner =
          module.FindGraph(body.context->String(static_cast<StringId>(u->word(0))));
      if (inner != nullptr && std::find(all.begin(), all.end(), inner) == all.end()) {
        all.push_back(inner);
      }
    }
  }
  return all;
}

// Returns the variables that a graph and the bodies of its loops read from the run. Variables that
// a bind or a loop sets are excluded.
std::set<std::string> VarsAskedFor(const Module& module, const Graph& graph) {
  std::set<std::string> asked, bound;
  for (const Graph* inner : WithLoops(module, graph)) {
    const Body& body = inner->body;
    const auto name = [&](const UOp* u) {
      return std::string(body.context->String(static_cast<StringId>(u->word(0))));
    };
    for (const UOp* u : PostOrder(body.root)) {
      if (u->op == Op::kVar) asked.insert(name(u));
      if (u->op == Op::kBind) bound.insert(name(u->src(0)));
      if (u->op == Op::kRepeat) bound.insert(name(u->src(1)));
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
  for (const Graph* inner : WithLoops(module, graph)) {
    const tg::Context& context = *inner->body.context;
    for (const UOp* u : PostOrder(inner->body.root)) {
      if (u->op == Op::kBuffer) used.insert(context.String(static_cast<StringId>(u->word())));
    }
    const auto targets = inner->body.root->words();
    for (size_t i = 1; i < targets.size(); ++i) {
      used.insert(context.String(static_cast<StringId>(targets[i])));
    }
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
