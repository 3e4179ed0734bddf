// Parts of a graph as separate modules, whose times can be predicted.
#ifndef TG_PASSES_KERNELIZE_GRAPH_ALONE_H_
#define TG_PASSES_KERNELIZE_GRAPH_ALONE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/analysis/structural_key.h"
#include "passes/target.h"

namespace tg::kernelize {

// The predicted seconds of a run of a module of one graph, without what @init computes.
using PredictModule = llvm::function_ref<double(Module&)>;

// A prepared graph (prepare.h), for rules that predict its parts in several forms.
struct PredictedGraph {
  const Module& module;
  Body& body;
  ShapeMap& shapes;
  const passes::Target& target;
  PredictModule predict;
  NodeSet& fused;        // prepare.h; a rule adds what replaces one of them
  std::string& remarks;  // a rule adds a line for each part that it asks about
};

struct GraphAlone {
  explicit GraphAlone(const ModuleFlags& flags) {
    module.flags = flags;
    module.graphs.push_back(std::make_unique<Graph>());
    module.graphs[0]->name = "main";
  }
  Body& body() { return module.graphs[0]->body; }

  const UOp* AddBuffer(std::string_view name, DType dtype, const Shape& shape, Role role) {
    BufferDecl decl;
    decl.name = name;
    decl.dtype = dtype;
    decl.role = role;
    for (const Dim& d : shape) decl.shape.push_back({d.value(), ""});
    module.buffers.push_back(std::move(decl));
    return Builder(*body().context).Buffer(name, dtype);
  }

  // What the buffer `name` receives, the only result.
  void SetResult(const UOp* value, std::string_view name) {
    body().root = Builder(*body().context)
                      .Sink(UOpSpan(&value, 1), std::span<const std::string_view>(&name, 1));
  }

  // Equal for equal graphs over equal buffers.
  std::string Key() {
    std::string key = analysis::StructuralKey(body(), body().Order());
    for (const BufferDecl& decl : module.buffers) {
      absl::StrAppend(&key, static_cast<int>(decl.role));
      for (const auto& d : decl.shape) absl::StrAppend(&key, ",", d.size);
    }
    return key;
  }

  Module module;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_GRAPH_ALONE_H_
