#include "ir/module.h"

#include "absl/strings/str_cat.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
namespace {

constexpr std::string_view kAxisKinds[] = {"global", "local",  "group", "reduce", "unroll",
                                           "upcast", "vector", "loop",  "stage"};

template <typename E, size_t N>
std::optional<E> FromName(const std::string_view (&names)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

template <typename List>
auto* Find(const List& list, std::string_view name) {
  for (const auto& item : list) {
    if (item->name == name) return item.get();
  }
  return static_cast<decltype(list[0].get())>(nullptr);
}

}  // namespace

std::string_view AxisKindName(AxisKind k) { return kAxisKinds[static_cast<int>(k)]; }
std::optional<AxisKind> AxisKindFromName(std::string_view name) {
  return FromName<AxisKind>(kAxisKinds, name);
}

std::vector<const UOp*> Body::Order() const {
  if (!root || root->id + 1 != num_ordered)
    return root ? PostOrder(root) : std::vector<const UOp*>();
  return context->FirstNodes(num_ordered);
}

void Body::SetOrigin(uint32_t first, StringId origin) {
  for (uint32_t id = first; id < context->num_nodes(); ++id) {
    const UOp* u = context->node(id);
    if (u->num_srcs > 0 && !side.origin(u)) side.SetOrigin(u, origin);
  }
}

std::string Body::Describe(const UOp* u) const {
  std::string text(Mnemonic(u->op));
  if (u->op == Op::kBuffer) {
    return absl::StrCat(text, " @", std::string(context->String(static_cast<StringId>(u->word()))));
  }
  if (const StringId name = side.name(u)) {
    absl::StrAppend(&text, " %", std::string(context->String(name)));
  }
  const Location at = side.loc(u);
  if (at.line) absl::StrAppend(&text, " at line ", at.line, ", column ", at.column);
  return text;
}

std::optional<DeclDim> DeclDim::From(const Context& context, const Dim& dim) {
  if (!dim.is_symbolic()) return DeclDim{.size = dim.value()};
  const UOp* u = dim.symbol();
  if (u->op == Op::kVar) {
    return DeclDim{.var = std::string(context.String(static_cast<StringId>(u->word())))};
  }
  std::optional<DimExpr> expr = DimExpr::FromNode(context, u);
  if (!expr) return std::nullopt;
  return DeclDim{.expr = *std::move(expr)};
}

Dim DeclDim::In(Context& context) const {
  if (!is_symbolic()) return size;
  if (!expr.empty()) return expr.Node(context);
  return context.Make(Op::kVar, kIndex, {},
                      context.MakeAttr(Op::kVar, {int64_t{context.Intern(var)}}));
}

Graph* Module::FindGraph(std::string_view name) const { return Find(graphs, name); }
Kernel* Module::FindKernel(std::string_view name) const { return Find(kernels, name); }

const UOp* BufferOf(const UOp* operand) {
  while (operand->op != Op::kBuffer && operand->num_srcs > 0) operand = operand->src(0);
  return operand;
}

namespace {

std::vector<const UOp*> NodesOf(const Body& body) {
  std::vector<const UOp*> order;
  NodeSet seen;
  AppendPostOrder(body.linear, seen, order);
  if (body.root) AppendPostOrder(UOpSpan(&body.root, 1), seen, order);
  return order;
}

}  // namespace

void CloneBody(const Body& from, Body& to) {
  const std::vector<const UOp*> order = NodesOf(from);
  const bool ordered = to.context->num_nodes() == 0 && from.linear.empty();
  NodeMap<const UOp*> map;
  map.Reserve(from.context->num_nodes());
  to.context->Reserve(order.size());
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : order) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* copy = to.context->Rebuild(u, *from.context, UOpSpan(srcs.data(), srcs.size()));
    map[u] = copy;
    if (const StringId name = from.side.name(u)) {
      to.side.SetName(copy, to.context->Intern(from.context->String(name)));
    }
    if (const StringId origin = from.side.origin(u)) {
      to.side.SetOrigin(copy, to.context->Intern(from.context->String(origin)));
    }
    if (from.side.loc(u).line) to.side.SetLoc(copy, from.side.loc(u));
  }
  to.root = from.root ? map.Get(from.root) : nullptr;
  to.num_ordered = to.root && ordered ? to.root->id + 1 : 0;
  to.linear.clear();
  for (const UOp* u : from.linear) to.linear.push_back(map.Get(u));
}

void Compact(Body& body) {
  std::vector<const UOp*> nodes = NodesOf(body);
  body.side.Retain(nodes);
  body.context->Retain(std::move(nodes));
  body.num_simple = 0;
  body.num_ordered = body.root && body.linear.empty() ? body.root->id + 1 : 0;
}

std::unique_ptr<Module> Clone(const Module& module) {
  auto copy = std::make_unique<Module>();
  copy->name = module.name;
  copy->target = module.target;
  copy->flags = module.flags;
  copy->vars = module.vars;
  copy->buffers = module.buffers;
  copy->requirements = module.requirements;
  copy->path = module.path;
  for (const auto& g : module.graphs) {
    auto& to = copy->graphs.emplace_back(std::make_unique<Graph>());
    to->name = g->name;
    to->loc = g->loc;
    CloneBody(g->body, to->body);
  }
  for (const auto& k : module.kernels) {
    auto& to = copy->kernels.emplace_back(std::make_unique<Kernel>());
    to->name = k->name;
    to->stage = k->stage;
    to->metadata = k->metadata;
    to->axes = k->axes;
    to->directives = k->directives;
    to->loc = k->loc;
    CloneBody(k->body, to->body);
  }
  return copy;
}

}  // namespace tg
