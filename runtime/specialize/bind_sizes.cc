#include "runtime/specialize/bind_sizes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/attr.h"
#include "ir/shape.h"
#include "ir/value.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::specialize {
namespace {

using runtime::VarMap;

auto LookupIn(const VarMap& vars) {
  return [&vars](std::string_view name) -> std::optional<int64_t> {
    const auto value = vars.find(name);
    return value == vars.end() ? std::nullopt : std::optional(value->second);
  };
}

class Binder {
 public:
  Binder(const Body& from, const VarMap& vars, Body& to) : from_(from), vars_(vars), to_(to) {}

  void Run() {
    for (const UOp* u : from_.Order()) {
      const UOp* made = Bind(u);
      map_[u] = made;
      if (const StringId name = from_.side.name(u)) to_.side.SetName(made, Intern(name));
      if (const StringId origin = from_.side.origin(u)) to_.side.SetOrigin(made, Intern(origin));
      if (from_.side.loc(u).line) to_.side.SetLoc(made, from_.side.loc(u));
    }
    to_.root = map_.Get(from_.root);
  }

 private:
  StringId Intern(StringId text) { return to_.context->Intern(from_.context->String(text)); }

  const UOp* Bind(const UOp* u) {
    Context& ctx = *to_.context;
    if (u->op == Op::kVar) {
      const auto value = vars_.find(from_.context->String(static_cast<StringId>(u->word())));
      if (value != vars_.end()) {
        return ctx.Make(Op::kConst, u->dtype, {}, ctx.MakeAttr(Op::kConst, {value->second}));
      }
    }
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
    if (const UOp* extent = BindExtent(u, UOpSpan(srcs.data(), srcs.size()))) return extent;
    const size_t operands = NumOperands(u);
    if (operands == u->num_srcs) {
      return ctx.Rebuild(u, *from_.context, UOpSpan(srcs.data(), srcs.size()));
    }
    // Symbolic entries of the attribute, in the order of the sources behind the operands.
    llvm::SmallVector<const UOp*, 8> rest(srcs.begin(), srcs.begin() + static_cast<long>(operands));
    std::vector<int64_t> words(u->words().begin(), u->words().end());
    size_t next = operands;
    ForEachField(GetOpInfo(u->op), words, [&](const AttrField& field, std::span<int64_t> its) {
      if (field.kind != FieldKind::kDims && field.kind != FieldKind::kPairs &&
          field.kind != FieldKind::kViews) {
        return;
      }
      for (int64_t& word : its) {
        if (word != kSymbolic) continue;
        const size_t i = next++;
        if (IsConst(srcs[i])) {
          word = srcs[i]->word();
        } else {
          rest.push_back(srcs[i]);
        }
      }
    });
    return ctx.Make(u->op, u->dtype, UOpSpan(rest.data(), rest.size()), ctx.MakeAttr(u->op, words));
  }

  // Arithmetic of extents, in the form in which shapes are computed: numbers, as far as the
  // variables have values. Null if the node is something else.
  const UOp* BindExtent(const UOp* u, UOpSpan srcs) const {
    if (!u->dtype.is_index() || u->num_srcs != 2) return nullptr;
    const std::optional<DimExpr> expr = DimExpr::FromNode(*from_.context, u);
    if (!expr) return nullptr;
    Context& ctx = *to_.context;
    if (const auto value = expr->Evaluate(LookupIn(vars_))) return DimNode(ctx, *value);
    const Dim a = srcs[0], b = srcs[1];
    if (u->op == Op::kAdd) return DimNode(ctx, AddDims(ctx, a, b));
    if (u->op == Op::kSub) return DimNode(ctx, SubDims(ctx, a, b));
    return u->op == Op::kMul ? DimNode(ctx, MulDims(ctx, a, b)) : nullptr;
  }

  const Body& from_;
  const VarMap& vars_;
  Body& to_;
  NodeMap<const UOp*> map_;
};

// An extent of a declaration. One that no declaration can hold is left as it is.
DeclDim Bound(const DeclDim& dim, const VarMap& vars) {
  if (!dim.is_symbolic()) return dim;
  Body from, to;
  from.root = DimNode(*from.context, dim.In(*from.context));
  Binder(from, vars, to).Run();
  return DeclDim::From(*to.context, to.root).value_or(dim);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> BindSizes(const Module& module, std::string_view graph,
                                                  const VarMap& vars) {
  const Graph* from = module.FindGraph(graph);
  if (from == nullptr) return NotFound("there is no graph @", std::string(graph));
  if (!module.kernels.empty() || module.FindGraph(kInitGraph) != nullptr) {
    return absl::UnimplementedError("sizes of a module with kernels, or an @init of its own");
  }
  VarMap bound = vars;
  std::vector<const Graph*> graphs = {from};  // with the bodies of its loops
  for (size_t i = 0; i < graphs.size(); ++i) {
    const Body& body = graphs[i]->body;
    const auto name = [&](const UOp* u) {
      return std::string(body.context->String(static_cast<StringId>(u->word(0))));
    };
    for (const UOp* u : body.Order()) {
      if (u->op == Op::kBind) bound.erase(name(u->src(0)));
      if (u->op == Op::kRepeat) bound.erase(name(u->src(1)));
      if (u->op != Op::kLoop && u->op != Op::kRepeat) continue;
      const Graph* inner = module.FindGraph(name(u));
      if (std::find(graphs.begin(), graphs.end(), inner) == graphs.end()) graphs.push_back(inner);
    }
  }
  auto out = std::make_unique<Module>();
  out->name = module.name;
  out->target = module.target;
  out->flags = module.flags;
  out->path = module.path;
  out->buffers = module.buffers;
  for (const VarDecl& var : module.vars) {
    if (!bound.contains(var.name)) out->vars.push_back(var);
  }
  for (BufferDecl& buffer : out->buffers) {
    for (DeclDim& dim : buffer.shape) dim = Bound(dim, bound);
  }
  for (const Graph* graph_of : graphs) {
    auto& to = out->graphs.emplace_back(std::make_unique<Graph>());
    to->name = graph_of->name;
    to->loc = graph_of->loc;
    Binder(graph_of->body, bound, to->body).Run();
  }
  return out;
}

}  // namespace tg::specialize
