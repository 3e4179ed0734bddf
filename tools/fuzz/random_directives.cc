#include "tools/fuzz/random_directives.h"

#include <algorithm>
#include <string>

#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/cost/predict_cost.h"
#include "passes/directives/directives.h"
#include "passes/schedule/kernel_facts.h"

namespace tg::fuzz {
namespace {

// The most operations and accesses of a kernel. Each work-item may fill a copy of a whole value,
// and an instruction of 64 rows may compute one: such work takes the interpreter minutes, and shows
// no more than that of a smaller graph.
constexpr double kMostSteps = 1 << 24;

// Whether the kernel's schedule makes no more work than that.
bool IsSmall(const Module& module, const KernelCalls& calls, const Kernel& kernel,
             const passes::Target& target) {
  schedule::KernelFacts facts(module, calls, kernel, target);
  const absl::StatusOr<loop_nest::LoopNest> nest = facts.NestOf(kernel.directives);
  if (!nest.ok()) return true;
  const cost::ScheduledWork work =
      cost::WorkOf(facts.kernel().body, *nest, facts.accesses_and_staged(), target, facts.closed());
  double steps = 0;
  const auto add = [&](const cost::LoopNestOf& of) {
    steps += work.Executions(of) * work.Lanes(of);
  };
  for (const cost::Arithmetic& a : work.arithmetic) add(a.nest);
  for (const cost::MemoryAccess& a : work.accesses) add(a.nest);
  return steps <= kMostSteps;
}

}  // namespace

void ChooseRandomDirectives(const Module& module, Kernel& kernel, const passes::Target& target,
                            testing::Rng& rng) {
  kernel.directives.clear();
  ShapeMap shapes(module, *kernel.body.context);
  const KernelCalls calls(module);
  absl::StatusOr<loop_nest::LoopNest> schedule =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!schedule.ok() || schedule->axes.empty()) return;
  const int64_t wanted = rng.Below(7);
  for (int64_t i = 0; i < 4 * wanted && static_cast<int64_t>(kernel.directives.size()) < wanted;
       ++i) {
    const auto pack =
        std::find_if(directive::DirectiveDocs().begin(), directive::DirectiveDocs().end(),
                     [](const directive::Doc& d) { return d.name == "pack"; });
    const directive::Doc& kind =
        !schedule->packed.empty() && rng.Percent(20) ? *pack : rng.Pick(directive::DirectiveDocs());
    const auto axis = [&]() -> const loop_nest::LoopAxis& { return rng.Pick(schedule->axes); };
    // Few axes are loops.
    const auto loop = std::find_if(schedule->axes.begin(), schedule->axes.end(),
                                   [](const auto& a) { return a.kind == AxisKind::kLoop; });
    const loop_nest::LoopAxis& first = axis();
    Directive directive{std::string(kind.name), {}};
    if (kind.name == "pack") {
      if (schedule->packed.empty()) continue;
      const int64_t number = rng.Below(static_cast<int64_t>(schedule->packed.size()));
      const bool is_local = target.has_local && rng.Percent(target.is_gpu ? 70 : 20);
      const auto inner = std::find_if(schedule->axes.begin(), schedule->axes.end(),
                                      [](const auto& a) { return a.kind == AxisKind::kReduce; });
      const auto wanted_at = is_local && rng.Percent(70) ? inner : loop;
      const loop_nest::LoopAxis& at =
          wanted_at != schedule->axes.end() && rng.Percent(70) ? *wanted_at : axis();
      directive.args = {{"p" + std::to_string(number), 0}, {at.name, 0}};
      if (is_local) directive.args.push_back({"local", 0});
      if (is_local && rng.Percent(60)) {
        directive.args.push_back(rng.Percent(50) ? DirectiveArg{"ahead", 0} : DirectiveArg{"", 2});
      }
    } else if (kind.name == "matrix" || kind.name == "warpgroup") {
      // Rows, columns and terms, each rounded up to what one instruction computes.
      std::vector<std::string> globals, reduces;
      for (const loop_nest::LoopAxis& a : schedule->axes) {
        if (a.kind == AxisKind::kGlobal) globals.push_back(a.name);
        if (a.kind == AxisKind::kReduce) reduces.push_back(a.name);
      }
      if (globals.size() < 2 || reduces.empty() || schedule->packed.size() < 2) continue;
      constexpr int64_t kTerms = 32;  // a multiple of what any instruction takes
      const bool is_wide = kind.name == "warpgroup" || rng.Percent(50);
      directive.name = is_wide ? "warpgroup" : "matrix";
      const int64_t rows = is_wide ? 64 : loop_nest::MatrixAxes::kRows,
                    columns =
                        is_wide ? rng.Pick({16, 32, 64, 128}) : loop_nest::MatrixAxes::kColumns;
      for (const int64_t n : {rows, columns, kTerms}) {
        const std::string name = rng.Pick(n == kTerms ? reduces : globals);
        const Directive pad{"padto", {{name, 0}, {"", n}}};
        if (directive::ApplyDirective(*schedule, pad, target).ok())
          kernel.directives.push_back(pad);
        directive.args.push_back({name, 0});
      }
      if (is_wide) directive.args.push_back({"", columns});
    } else {
      directive.args.push_back({first.name, 0});
      if (kind.name == "order") {
        // Axes of one kind, in a random order: most lists of random axes are illegal.
        for (const loop_nest::LoopAxis& other : schedule->axes) {
          if (other.kind != first.kind || other.name == first.name || rng.Percent(20)) continue;
          const int64_t place = rng.Below(static_cast<int64_t>(directive.args.size()) + 1);
          directive.args.insert(directive.args.begin() + place, {other.name, 0});
        }
      } else if (kind.name == "swap") {
        directive.args.push_back({axis().name, 0});
      } else if (kind.name == "grid") {
        directive.args.push_back({"", rng.Below(3)});
        if (rng.Percent(50)) directive.args.push_back({std::string(directive::Grid::kDown), 0});
      } else if (kind.name.starts_with("group") && rng.Percent(30)) {
        directive.args.push_back({axis().name, 0});
      } else if (kind.name == "shuffle" && rng.Percent(80)) {
        // A whole subgroup, or the work-items of another axis.
        const bool is_shared = rng.Percent(40);
        const std::string items = is_shared ? axis().name : "";
        const Directive pad{"padto", {{first.name, 0}, {"", target.subgroup_size}}};
        const std::string terms = first.name;
        directive.args = {{terms, 0}, {items, is_shared ? 0 : target.subgroup_size}};
        if (directive::ApplyDirective(*schedule, pad, target).ok())
          kernel.directives.push_back(pad);
      } else if (kind.name != "stage_in_output" && kind.name != "neighbours" && !rng.Percent(25)) {
        // Factors that are likely to divide the axis.
        int64_t n = rng.Pick({2, 2, 3, 4, 4, 5, 8, 16});
        if (first.max_size > 1 && rng.Percent(50)) {
          do {
            n = rng.In(2, first.max_size);
          } while (first.max_size % n != 0);
        }
        directive.args.push_back({"", n});
      }
    }
    if (!directive::ApplyDirective(*schedule, directive, target).ok()) continue;
    kernel.directives.push_back(directive);
    // A warpgroup's instruction reads copies in local memory, and is none without them.
    if (directive.name != "warpgroup" || rng.Percent(20)) continue;
    const int64_t buffers = rng.Pick({1, 3, 4});
    for (size_t p = 0; p < schedule->packed.size(); ++p) {
      Directive copy{
          "pack",
          {{"p" + std::to_string(p), 0}, {directive.args[2].ident + ".0", 0}, {"local", 0}}};
      if (buffers > 1) copy.args.insert(copy.args.end(), {{"ahead", 0}, {"", buffers}});
      if (directive::ApplyDirective(*schedule, copy, target).ok())
        kernel.directives.push_back(copy);
    }
  }
  while (!kernel.directives.empty() && !IsSmall(module, calls, kernel, target)) {
    kernel.directives.pop_back();
  }
}

namespace {
// Whether the shape has axes and all of them have iterations.
bool HasElements(const Shape& shape) {
  return !shape.empty() &&
         std::none_of(shape.begin(), shape.end(), [](const Dim& d) { return d.Is(0); });
}
}  // namespace

void StageAtRandom(const Module& module, Kernel& kernel, const passes::Target& target,
                   testing::Rng& rng) {
  Body& body = kernel.body;
  Context& ctx = *body.context;
  ShapeMap shapes(module, ctx);
  // In a kernel that reads what it writes, a staged value could read elements that other work-items
  // write.
  const KernelCalls calls(module);
  const absl::StatusOr<loop_nest::LoopNest> schedule =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!schedule.ok() || schedule->IsInPlace()) return;
  const UOp* const plain = body.root;
  const auto axes = kernel.axes;
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* u : PostOrder(body.root)) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = ctx.Rebuild(u, ctx, {srcs.data(), srcs.size()});
    body.CarryOver(u, to);
    const bool value = IsElementwise(u->op) || u->op == Op::kReduceAxis || u->op == Op::kLoad;
    const bool stageable = !u->dtype.is_pointer() && !u->dtype.is_image() && !u->dtype.is_index() &&
                           HasElements(shapes.Of(u));
    const Op wrap = rng.Percent(50) ? Op::kStaged : Op::kPacked;
    if (value && stageable && rng.Percent(25)) to = ctx.Make(wrap, u->dtype, UOpSpan(&to, 1));
    map[u] = to;
  }
  body.root = map.Get(body.root);
  ShapeMap fresh(module, ctx);
  kernel.axes = analysis::ToAxes(analysis::BaseAxes(module, kernel, fresh, kernel.body.Order()));
  const absl::StatusOr<loop_nest::LoopNest> staged =
      directive::MakeLoopNest(module, calls, kernel, target, fresh);
  if (staged.ok() &&
      (staged->StagedBytes() > target.private_memory || !IsSmall(module, calls, kernel, target))) {
    body.root = plain;
    kernel.axes = axes;
  }
}

}  // namespace tg::fuzz
