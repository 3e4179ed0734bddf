#include "passes/analysis/kernel_axes.h"

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/hash.h"
#include "ir/tuple.h"
#include "passes/analysis/bounds.h"
#include "passes/analysis/dependence.h"

namespace tg::analysis {

int64_t MaxOf(const Module& module, const Context& ctx, const UOp* symbol) {
  return Bounds(ctx, &module).Max(symbol);
}

int64_t MinOf(const Module& module, const Context& ctx, const UOp* symbol) {
  return Bounds(ctx, &module).Min(symbol);
}

std::vector<BaseAxis> BaseAxes(const Module& module, const Kernel& kernel, ShapeMap& shapes,
                               UOpSpan order) {
  std::vector<BaseAxis> axes;
  const Context& ctx = *kernel.body.context;
  const auto add = [&](char letter, size_t number, const Dim& size, const UOp* node, size_t dim) {
    BaseAxis axis;
    axis.name = letter + std::to_string(number);
    axis.size = size;
    axis.max_size = MaxExtent(module, ctx, size);
    axis.min_size = size.is_symbolic() ? MinOf(module, ctx, size.symbol()) : size.value();
    if (letter == 'r') axis.reduce = node;
    if (letter == 's') axis.staged = node;
    axis.dim = dim;
    axes.push_back(std::move(axis));
  };
  TG_CHECK(kernel.stage == Stage::kKernel && kernel.body.root->num_srcs > 0);
  const Shape& stored = shapes.Of(kernel.body.root->src(0)->src(0));
  size_t next = 0;
  for (size_t k = 0; k < stored.size(); ++k) {
    if (!stored[k].Is(1)) add('i', next++, stored[k], nullptr, k);
  }
  next = 0;
  bool stages = false;
  for (const UOp* u : order) {
    stages |= u->op == Op::kStaged || u->op == Op::kReduceTuple;
    if (u->op != Op::kReduceAxis && u->op != Op::kReduceTuple) continue;
    if (FirstOfTuple(order, u) != u) continue;
    const Shape& from = shapes.Of(u->src(0));
    for (int64_t axis : u->list(1)) {
      const Dim& size = from[static_cast<size_t>(axis)];
      if (!size.Is(1)) add('r', next++, size, u, static_cast<size_t>(axis));
    }
  }
  if (!stages) return axes;
  next = 0;
  for (const StagedAxis& a : StagedAxes(order, axes, shapes)) {
    add('s', next++, shapes.Of(a.node)[a.dim], a.node, a.dim);
  }
  return axes;
}

AxisKind KindOf(const BaseAxis& base) {
  if (base.reduce) return AxisKind::kReduce;
  return base.staged ? AxisKind::kStage : AxisKind::kGlobal;
}

std::vector<Axis> ToAxes(const std::vector<BaseAxis>& base) {
  std::vector<Axis> axes;
  for (const BaseAxis& b : base) {
    Axis axis;
    axis.name = b.name;
    axis.size = b.max_size;
    axis.kind = KindOf(b);
    axis.symbolic = b.size.is_symbolic();
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::string KernelName(const std::vector<Axis>& axes) {
  bool reduces = false;
  std::string sizes;
  for (const Axis& axis : axes) {
    reduces |= axis.kind == AxisKind::kReduce || axis.kind == AxisKind::kUnroll ||
               axis.kind == AxisKind::kGroup;
    sizes += "_" + std::to_string(axis.size);
  }
  return (reduces ? "r" : "E") + (sizes.empty() ? "_1" : sizes);
}

std::string UniqueKernelName(const std::string& name, std::string_view content,
                             const std::set<std::string>& taken) {
  if (!taken.contains(name)) return name;
  for (uint64_t hash = Fnv64(content);; ++hash) {
    const std::string hex = absl::StrFormat("%016x", hash);
    for (size_t digits = 4; digits <= 16; digits += 4) {
      std::string longer = name + "_h" + hex.substr(0, digits);
      if (!taken.contains(longer)) return longer;
    }
  }
}

void RenameKernels(Module& module, const std::map<std::string, std::string>& names) {
  for (const auto& kernel : module.kernels) {
    if (const auto it = names.find(kernel->name); it != names.end()) kernel->name = it->second;
  }
  for (const auto& graph : module.graphs) {
    Body& body = graph->body;
    Context& ctx = *body.context;
    NodeMap<const UOp*> map;
    std::vector<const UOp*> srcs;
    for (const UOp* u : body.Order()) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      Attr attr = u->attr;
      if (u->op == Op::kKernel) {
        const auto it = names.find(std::string(ctx.String(static_cast<StringId>(attr.bits))));
        if (it != names.end()) attr.bits = ctx.Intern(it->second);
      }
      map[u] = ctx.Make(u->op, u->dtype, srcs, attr);
      body.CarryOver(u, map[u]);
    }
    body.root = map.Get(body.root);
  }
}

}  // namespace tg::analysis
