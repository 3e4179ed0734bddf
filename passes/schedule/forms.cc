#include "passes/schedule/forms.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/cost/bounds.h"
#include "passes/directives/directives.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/schedule_builder.h"

namespace tg::schedule {
namespace {

struct BodyRule {
  On on;
  std::string_view name;
  std::optional<BodySchedules> (*propose)(const BodyRequest&, Kernel&);
};

constexpr BodyRule kBodyRules[] = {
#define TG_BODY(on, name, function) {On::on, name, &function},
#define TG_RULE(on, function)
#define TG_FORM(on, function)
#include "passes/schedule/rules.def"
#undef TG_FORM
#undef TG_RULE
#undef TG_BODY
};

// Whether there is nothing to choose: some axis has no iterations, or every axis has one.
bool IsTrivial(const loop_nest::LoopNest& nest) {
  return nest.axes.empty() ||
         llvm::any_of(nest.axes, [](const auto& a) { return a.max_size == 0; });
}

// Seconds that each schedule takes at least without matrix instructions: those of the terms of all
// reduces that need a loop, at the full rate of the device.
double LeastSeconds(KernelFacts& facts) {
  const loop_nest::LoopNest& nest = facts.plain();
  std::map<const UOp*, double> terms;
  for (size_t n = 0; n < nest.base.size(); ++n) {
    const analysis::BaseAxis& base = nest.base[n];
    if (!base.reduce || facts.closed().Contains(base.reduce)) continue;
    const auto [at, is_new] = terms.try_emplace(base.reduce, 1);
    at->second *= static_cast<double>(base.max_size);
    for (size_t other = 0; is_new && other < nest.base.size(); ++other) {
      const bool varies = (nest.varies[n] & analysis::LoopBit(other)) != 0;
      if (varies && nest.base[other].IsStored()) {
        at->second *= static_cast<double>(nest.base[other].max_size);
      }
    }
  }
  double operations = 0;
  for (const auto& [reduce, of_reduce] : terms) {
    // Narrow types fill a register with more of them, and a sum and its products
    // are one instruction.
    operations += 2 * of_reduce * static_cast<double>(ByteSize(reduce->dtype.scalar())) / 4;
  }
  return cost::ArithmeticSeconds(operations, facts.target());
}

// Leaves the cheapest schedule of a body in `form`: of what a rule of bodies proposes, or, if that
// is nothing, of what the other rules propose.
void ChooseSchedule(KernelFacts& facts, const BodySchedules& of_rule, bool remembers, Form& form) {
  const auto remember = [&](const std::vector<Directive>& directives) {
    const absl::StatusOr<cost::Cost> cost = facts.CostOf(directives);
    if (cost.ok() && remembers) form.considered.Add(cost->OnDevice(), directives);
    return cost.ok() ? cost->OnDevice() : std::numeric_limits<double>::infinity();
  };
  if (of_rule.schedules.empty()) {
    ScheduleBuilder builder(facts, remembers ? &form.considered : nullptr);
    form.seconds = ApplyCheapest(
        builder, [&](const loop_nest::LoopNest& nest) { return facts.CostOf(nest).OnDevice(); });
    form.directives = builder.directives();
    form.axes = builder.nest().ToAxes();
    return;
  }
  form.seconds = std::numeric_limits<double>::infinity();
  for (const std::vector<Directive>& directives : of_rule.schedules) {
    const double seconds = remember(directives);
    if (seconds < form.seconds) form.seconds = seconds, form.directives = directives;
  }
  for (const std::vector<Directive>& directives : of_rule.others) remember(directives);
  if (const auto nest = facts.NestOf(form.directives); nest.ok()) form.axes = nest->ToAxes();
}

std::string Text(const std::vector<Directive>& directives) {
  std::string text;
  for (const Directive& directive : directives) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", directive::DirectiveText(directive));
  }
  return text.empty() ? "no directives" : text;
}

}  // namespace

std::vector<Form> FormsOf(const Module& module, const KernelCalls& calls, Kernel& kernel,
                          const passes::Target& target, size_t considered) {
  const UOp* const root = kernel.body.root;
  KernelFacts facts(module, calls, kernel, target);
  std::vector<Form> forms;
  if (IsTrivial(facts.plain())) {
    Form& form = forms.emplace_back();
    form.root = root;
    form.axes = facts.plain().ToAxes();
    return forms;
  }
  size_t chosen = 0;
  const double certain = 1 - target.form_error;
  const auto add = [&](KernelFacts& of_form, std::string_view name,
                       const BodySchedules& schedules) {
    Form form = {.name = name, .root = kernel.body.root, .considered = Candidates(considered)};
    ChooseSchedule(of_form, schedules, considered > 0, form);
    // The rules' order is that of experience.
    if (forms.empty() || form.seconds < forms[chosen].seconds * certain) chosen = forms.size();
    forms.push_back(std::move(form));
  };
  const double least = LeastSeconds(facts);
  bool is_certain = false;
  const auto is_decided = [&] {
    const bool asked = considered > 0 || forms.empty();
    return is_certain || (!asked && forms[chosen].seconds * certain <= least);
  };
  const On on = target.is_gpu ? On::kUnits : On::kCores;
  for (const BodyRule& rule : kBodyRules) {
    if (rule.on != on || is_decided()) continue;
    const auto schedules = rule.propose({module, calls, facts, considered}, kernel);
    if (schedules) {
      KernelFacts of_form(module, calls, kernel, target);
      if (schedules->is_certain) forms.clear(), chosen = 0;
      add(of_form, rule.name, *schedules);
      is_certain = schedules->is_certain;
    }
    kernel.body.root = root;
  }
  if (!is_decided()) add(facts, "", {});
  std::rotate(forms.begin(), forms.begin() + static_cast<ptrdiff_t>(chosen),
              forms.begin() + static_cast<ptrdiff_t>(chosen) + 1);
  return forms;
}

void Take(const Form& form, Kernel& kernel) {
  kernel.body.root = form.root;
  kernel.directives = form.directives;
  kernel.axes = form.axes;
}

std::string Explain(const Module& module, const KernelCalls& calls, Kernel& kernel,
                    const passes::Target& target, const std::vector<Form>& forms) {
  const auto cost_of = [&](const Kernel& k) -> std::string {
    const absl::StatusOr<cost::Cost> cost = KernelCost(module, calls, k, target);
    return cost.ok() ? cost->Text() : std::string(cost.status().message());
  };
  std::string text =
      absl::StrCat("@", kernel.name, ": ", Text(kernel.directives), "\n  ", cost_of(kernel), "\n");
  for (const Form& form : forms) {
    for (const std::vector<Directive>& directives : form.considered.Schedules()) {
      if (form.root == kernel.body.root && directives == kernel.directives) continue;
      Kernel other;
      other.name = kernel.name;
      other.directives = directives;
      const UOp* const root = std::exchange(kernel.body.root, form.root);
      CloneBody(kernel.body, other.body);
      kernel.body.root = root;
      absl::StrAppend(&text, "  candidate ", Text(directives), "\n    ", cost_of(other), "\n");
    }
  }
  return text;
}

}  // namespace tg::schedule
