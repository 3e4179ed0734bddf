#include "passes/simplify/simplify.h"

#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/builder.h"
#include "ir/shape.h"
#include "passes/simplify/gate.h"
#include "passes/simplify/id_sums.h"
#include "passes/simplify/rule_lists.h"
#include "passes/simplify/write_order.h"

namespace tg::simplify {
namespace {

// Keeps the shapes of tensor graphs and of kernels over shapes. A rule may replace a value by a
// constant of shape [], which is wrong if a user is not elementwise; this restores the shape.
struct ShapeKeeper {
  Context& ctx;
  ShapeMap shapes;

  static const UOp* FixUp(void* data, const UOp* from, const UOp* to) {
    auto& self = *static_cast<ShapeKeeper*>(data);
    if (from->dtype.is_void() || to->dtype.is_void()) return to;
    const Shape want = self.shapes.Of(from);
    // The result of a rule is a scalar, or has the right shape, although its symbolic extents may
    // be other expressions.
    if (want.empty() || !self.shapes.Of(to).empty()) return to;
    Builder b(self.ctx);
    return b.Expand(b.Reshape(to, Shape(want.size(), 1)), want);
  }
};

const UOp* Final(const absl::StatusOr<const UOp*>& r) {
  if (!r.ok()) {
    // The rule set does not terminate, which is a bug.
    std::fprintf(stderr, "%s\n", std::string(r.status().message()).c_str());
    TG_UNREACHABLE();
  }
  return *r;
}

constexpr passes::PassOption kOptions[] = {
    {"explain", passes::PassOption::Kind::kFlag, "false", "say how often each rule was applied"},
};

absl::Status Run(Module& module, passes::PassContext& context) {
  SimplifyStats stats;
  if (absl::Status s = Simplify(module, &stats); !s.ok()) return s;
  context.statistics["simplify.applications"] += static_cast<int64_t>(stats.applications);
  if (context.Flag("explain")) context.remarks += stats.report;
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kSimplifyPass = {
    "simplify", "algebra on indices, integers, bools and floats", kOptions, &Run};

const rewrite::RuleSet& AlgebraRules() {
  static const rewrite::RuleSet kRules(
      {&FoldRules(), &AddMulRules(), &DivModRules(), &CompareRules(), &BoolWhereRules(),
       &BitRules(), &FloatRules(), &WidthRules(), &GeneralRules(), &LaneRules()});
  return kRules;
}

const rewrite::RuleSet& SimplifyRules() {
  static const rewrite::RuleSet kRules(
      {&FoldRules(), &AddMulRules(), &DivModRules(), &CompareRules(), &BoolWhereRules(),
       &BitRules(), &FloatRules(), &WidthRules(), &GeneralRules(), &LaneRules(), &MemoryRules()});
  return kRules;
}

Simplifier::Simplifier(Context& ctx, const Module* module)
    : bounds_(ctx, module),
      order_(ctx),
      algebra_(AlgebraRules(), {ctx, bounds_, order_, module ? module->flags : ModuleFlags()}),
      rewriter_(SimplifyRules(), {ctx, bounds_, order_, algebra_.context().flags, &algebra_}) {}

const UOp* Simplifier::operator()(const UOp* u) {
  if (const UOp* known = rewriter_.Find(u)) return known;
  if (const UOp* sum = SimplifyIdSum(u, rewriter_)) return sum;
  return Final(rewriter_.Rewrite(u));
}

const UOp* Simplifier::Top(const UOp* u) { return Final(algebra_.RewriteTop(u)); }

const UOp* Simplifier::Under(const UOp* gate, const UOp* value) {
  const UOp* simple = SimplifyUnder(gate, value, rewriter_.context());
  return simple ? simple : value;
}

absl::Status Simplify(Body& body, Stage stage, const Module& module, SimplifyStats* stats) {
  if (stage == Stage::kLinear || !body.root) return absl::OkStatus();
  Context& ctx = *body.context;
  Simplifier simplifier(ctx, &module);
  rewrite::Rewriter& rewriter = simplifier.rewriter();
  ShapeKeeper keeper{ctx, ShapeMap(module, ctx)};
  if (stage == Stage::kTensor || stage == Stage::kKernel) {
    rewriter.set_fix_up(&ShapeKeeper::FixUp, &keeper);
    rewriter.context().nested = nullptr;  // the rewriter for gates has no fix-up for shapes
    rewriter.set_keep_extents(true);
  }
  rewriter.SetFinal(body.num_simple);
  std::optional<WriteOrder> writes;
  if (stage == Stage::kTensor) writes.emplace(body);
  if (absl::Status s = rewrite::RewriteBody(body, rewriter); !s.ok()) return s;
  if (writes) writes->Restore(body, [&](const UOp* u) { return rewriter.Find(u); });
  if (stats && rewriter.num_applications() > 0) {
    stats->applications += rewriter.num_applications();
    stats->report += rewriter.HitReport();
    const std::vector<uint64_t> hits = rewriter.hits();
    stats->hits.resize(hits.size());
    for (size_t i = 0; i < hits.size(); ++i) stats->hits[i] += hits[i];
  }
  return absl::OkStatus();
}

absl::Status Simplify(Module& module, SimplifyStats* stats) {
  for (const auto& g : module.graphs) {
    if (absl::Status s = Simplify(g->body, Stage::kTensor, module, stats); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat("graph @", g->name, ": ", s.message()));
    }
  }
  for (const auto& k : module.kernels) {
    if (absl::Status s = Simplify(k->body, k->stage, module, stats); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat("kernel @", k->name, ": ", s.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace tg::simplify
