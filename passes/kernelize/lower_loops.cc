#include "passes/kernelize/lower_loops.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/devices.h"
#include "ir/shape.h"
#include "ir/tuple.h"

namespace tg::kernelize {
namespace {

// The results of one loop: nodes with the same body and sources.
using LoopKey = std::pair<int64_t, std::vector<const UOp*>>;

class Lowering {
 public:
  explicit Lowering(Module& module) : module_(module) {}

  absl::Status Run() {
    for (const auto& graph : module_.graphs) {
      for (const UOp* u : LoopsOf(*graph)) bodies_.insert(BodyName(*graph, u));
    }
    if (bodies_.empty()) return absl::OkStatus();
    if (DeviceNames(module_).size() > 1) {
      return absl::UnimplementedError("kernelize: a loop of a module for several devices");
    }
    // Copies of bodies are added to the list.
    for (size_t i = 0; i < module_.graphs.size(); ++i) {
      Graph& graph = *module_.graphs[i];
      if (bodies_.contains(graph.name)) continue;
      if (absl::Status s = Rewrite(graph); !s.ok()) return s;
    }
    std::erase_if(module_.graphs, [&](const auto& g) { return bodies_.contains(g->name); });
    return absl::OkStatus();
  }

 private:
  static std::vector<const UOp*> LoopsOf(const Graph& graph) {
    std::vector<const UOp*> loops;
    for (const UOp* u : OrderOutsideTuples(graph.body.root)) {
      if (u->op == Op::kLoop) loops.push_back(u);
    }
    return loops;
  }

  static std::string BodyName(const Graph& graph, const UOp* loop) {
    return std::string(graph.body.context->String(static_cast<StringId>(loop->word(0))));
  }

  std::string FreeName(const std::string& wanted) const {
    std::string name = wanted;
    const auto is_taken = [&] {
      return module_.FindGraph(name) || module_.FindBuffer(name) || module_.FindVar(name);
    };
    for (int i = 1; is_taken(); ++i) name = absl::StrCat(wanted, ".", i);
    return name;
  }

  std::string Temporary(const std::string& name, DType type, const std::vector<DeclDim>& shape) {
    BufferDecl decl;
    decl.name = FreeName(name);
    decl.dtype = type;
    decl.shape = shape;
    module_.buffers.push_back(std::move(decl));
    return module_.buffers.back().name;
  }

  // A source of `u` in the same body, or in a combining body, which is no part of the rewriting.
  static std::vector<const UOp*> Sources(const UOp* u, const NodeMap<const UOp*>& map) {
    std::vector<const UOp*> srcs(u->srcs().begin(), u->srcs().end());
    for (size_t i = 0; i < SourcesInBody(u).size(); ++i) srcs[i] = map.Get(srcs[i]);
    return srcs;
  }

  absl::Status Rewrite(Graph& graph) {
    if (LoopsOf(graph).empty()) return absl::OkStatus();
    Body& body = graph.body;
    ShapeMap shapes(module_, *body.context);
    NodeMap<const UOp*> map;
    std::map<LoopKey, std::vector<const UOp*>> made;  // the values after the loop
    for (const UOp* u : OrderOutsideTuples(body.root)) {
      const std::vector<const UOp*> srcs = Sources(u, map);
      if (u->op != Op::kLoop) {
        map[u] = body.context->Rebuild(u, *body.context, srcs);
      } else {
        const auto [known, is_new] = made.try_emplace({u->word(0), srcs});
        if (is_new) {
          auto values = Lower(graph, shapes, u, srcs);
          if (!values.ok()) return values.status();
          known->second = *std::move(values);
        }
        map[u] = known->second[static_cast<size_t>(u->word(1))];
      }
      body.CarryOver(u, map[u]);
    }
    body.root = map.Get(body.root);
    body.num_ordered = 0;
    return absl::OkStatus();
  }

  // A value of the loop.
  struct Value {
    std::string first, second;  // buffers; the second is empty where no iteration changes the value
  };

  absl::StatusOr<std::vector<const UOp*>> Lower(Graph& graph, ShapeMap& shapes, const UOp* loop,
                                                const std::vector<const UOp*>& srcs) {
    const auto fail = [&](absl::string_view why) {
      return absl::UnimplementedError(
          absl::StrCat("kernelize: ", graph.body.Describe(loop), ": ", why));
    };
    Context& ctx = *graph.body.context;
    const Graph& body = *module_.FindGraph(BodyName(graph, loop));
    const std::optional<DeclDim> trip = DeclDim::From(ctx, Dim(loop->src(0)));
    const auto bounds = trip ? BoundsOf(module_, *trip) : std::nullopt;
    if (!bounds) return fail("its trip count is no expression of variables");
    const std::string name = FreeName(body.name + ".loop");
    VarDecl counter;
    counter.name = FreeName(name + ".step");
    counter.max = std::max<int64_t>(0, bounds->second - 1);
    module_.vars.push_back(counter);
    std::vector<Value> values;
    const UOp* sink = body.body.root;
    for (size_t i = 0; i < sink->num_srcs; ++i) {
      std::vector<DeclDim> shape;
      for (const Dim& d : shapes.Of(loop->src(1 + i))) {
        const std::optional<DeclDim> extent = DeclDim::From(ctx, d);
        if (!extent) return fail("the shape of a carried value is no expression of variables");
        shape.push_back(*extent);
      }
      const DType type = loop->src(1 + i)->dtype;
      const UOp* next = sink->src(i);
      const bool changes = next->op != Op::kCarried || next->word(0) != static_cast<int64_t>(i);
      values.push_back({Temporary(absl::StrCat(name, ".", i), type, shape), ""});
      if (changes) values.back().second = Temporary(absl::StrCat(name, ".next", i), type, shape);
    }
    MakeBody(body, name, values);

    Builder b(ctx);
    std::vector<const UOp*> operands = {srcs[0], b.Var(counter.name)}, fixed;
    std::vector<const UOp*> first;  // the versions before the loop
    int64_t pairs = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const DType type = loop->src(1 + i)->dtype;
      const UOp* to = b.Buffer(values[i].first, type);
      first.push_back(ctx.Make(Op::kAssign, type, {to, srcs[1 + i]}));
      if (values[i].second.empty()) {
        fixed.push_back(first.back());
        continue;
      }
      operands.push_back(first.back());
      operands.push_back(b.Buffer(values[i].second, type));
      ++pairs;
    }
    if (pairs == 0) return std::vector<const UOp*>(srcs.begin() + 1, srcs.end());
    operands.insert(operands.end(), fixed.begin(), fixed.end());
    const UOp* repeat =
        ctx.Make(Op::kRepeat, kVoid, operands,
                 ctx.MakeAttr(Op::kRepeat, {int64_t{ctx.Intern(name)}, pairs, 0, 0}));
    std::vector<const UOp*> last;
    for (size_t i = 0; i < values.size(); ++i) {
      last.push_back(values[i].second.empty()
                         ? srcs[1 + i]
                         : ctx.Make(Op::kAssign, first[i]->dtype, {first[i], repeat}));
    }
    return last;
  }

  void MakeBody(const Graph& from, const std::string& name, const std::vector<Value>& values) {
    auto graph = std::make_unique<Graph>();
    graph->name = name;
    graph->loc = from.loc;
    Body& body = graph->body;
    CloneBody(from.body, body);
    Builder b(*body.context);
    NodeMap<const UOp*> map;
    for (const UOp* u : OrderOutsideTuples(body.root)) {
      if (u == body.root) break;
      map[u] = u->op == Op::kCarried
                   ? b.Buffer(values[static_cast<size_t>(u->word(0))].first, u->dtype)
                   : body.context->Rebuild(u, *body.context, Sources(u, map));
      body.CarryOver(u, map[u]);
    }
    std::vector<const UOp*> roots;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].second.empty()) continue;
      const UOp* next = map.Get(body.root->src(i));
      roots.push_back(b.context().Make(Op::kAssign, next->dtype,
                                       {b.Buffer(values[i].second, next->dtype), next}));
    }
    body.root = b.Sink(roots);
    body.num_ordered = 0;
    module_.graphs.push_back(std::move(graph));
  }

  Module& module_;
  std::set<std::string, std::less<>> bodies_;
};

}  // namespace

absl::Status LowerLoops(Module& module) { return Lowering(module).Run(); }

}  // namespace tg::kernelize
