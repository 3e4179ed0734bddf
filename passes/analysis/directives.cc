// The table of directives.
#include "absl/strings/str_cat.h"
#include "passes/analysis/directive_applier.h"
#include "passes/analysis/kernel_schedule.h"

namespace tg {
namespace {

// THE table of directives.
struct DirectiveRow {
  DirectiveKind kind;
  absl::Status (DirectiveApplier::*apply)();
};
constexpr DirectiveRow kDirectives[] = {
    {{"split", "split(AXIS, N)", "AXIS becomes AXIS.0 and AXIS.1, the latter of size N"},
     &DirectiveApplier::Split},
    {{"upcast", "upcast(AXIS[, N])", "N results of an axis, computed by one work-item"},
     &DirectiveApplier::Upcast},
    {{"vectorize", "vectorize(AXIS[, N])", "as upcast, as the innermost lanes of vectors"},
     &DirectiveApplier::Vectorize},
    {{"unroll", "unroll(AXIS[, N])", "N terms of a reduce in one step"}, &DirectiveApplier::Unroll},
    {{"local", "local(AXIS[, N])", "N neighbours on a global axis share a work-group"},
     &DirectiveApplier::Local},
    {{"group", "group(AXIS[, N|SHARED])",
      "N work-items, or those along a local axis or of another reduce, share a reduce, "
      "taking turns at its terms; or they make what is staged"},
     &DirectiveApplier::Group},
    {{"grouptop", "grouptop(AXIS[, N|SHARED])", "as group, with a block of terms each"},
     &DirectiveApplier::GroupTop},
    {{"loop", "loop(AXIS[, N])",
      "a global axis, or N of it, as a loop inside the work-item; or blocks of a reduce, around "
      "its "
      "results"},
     &DirectiveApplier::Loop},
    {{"pack", "pack(VALUE, AXIS[, local[, 2|ahead]])",
      "in each step of AXIS, a copy of what is read of a `packed` value (p0, p1, ...), in the "
      "order of the loops inside; in local memory, the work-items of a group make it together, "
      "in one or two buffers by turns, the latter also one step ahead"},
     &DirectiveApplier::Pack},
    {{"stage_in_output", "stage_in_output(AXIS)",
      "keeps the staged value of AXIS in the output, each element where its result will be"},
     &DirectiveApplier::StageInOutput},
    {{"padto", "padto(AXIS, N)", "rounds an axis up to a multiple of N, guarding what is beyond"},
     &DirectiveApplier::PadTo},
    {{"swap", "swap(AXIS, AXIS)", "exchanges two global axes in the order of the grid"},
     &DirectiveApplier::Swap},
    {{"grid", "grid(AXIS, D)", "a global axis becomes dimension D of the grid"},
     &DirectiveApplier::Grid},
    {{"nolocals", "nolocals()", "work-groups of one work-item"}, &DirectiveApplier::NoLocals},
};

}  // namespace

std::span<const DirectiveKind> DirectiveKinds() {
  static const std::vector<DirectiveKind>& kinds = *[] {
    auto* v = new std::vector<DirectiveKind>;
    for (const DirectiveRow& row : kDirectives) v->push_back(row.kind);
    return v;
  }();
  return kinds;
}

std::string DirectiveText(const Directive& directive) {
  std::string out = directive.name + "(";
  for (size_t i = 0; i < directive.args.size(); ++i) {
    if (i) out += ", ";
    out += directive.args[i].ident.empty() ? std::to_string(directive.args[i].number)
                                           : directive.args[i].ident;
  }
  return out + ")";
}

absl::Status ApplyGivenDirective(Schedule& schedule, const Directive& directive,
                                 const Target& target) {
  for (const DirectiveRow& row : kDirectives) {
    if (row.kind.name != directive.name) continue;
    DirectiveApplier applier(schedule, directive, target);
    absl::Status status = (applier.*row.apply)();
    if (status.ok()) status = applier.CheckDimensions();
    if (status.ok()) status = applier.CheckLocalMemory();
    if (status.ok()) status = applier.CheckPackedMemory();
    if (status.ok()) status = applier.CheckOutputStaging();
    return status;
  }
  std::string names;
  for (const DirectiveRow& row : kDirectives) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(row.kind.name));
  }
  return IllegalDirective(directive, "no such directive; there are: " + names);
}

absl::Status ApplyDirective(Schedule& schedule, const Directive& directive, const Target& target) {
  // What directives change.
  auto axes = schedule.axes;
  auto digits = schedule.digits;
  auto padded = schedule.padded;
  auto packed = schedule.packed;
  const auto in_output = schedule.in_output;
  const bool no_locals = schedule.no_locals;
  absl::Status status = ApplyGivenDirective(schedule, directive, target);
  if (status.ok()) return status;
  schedule.axes = std::move(axes);
  schedule.digits = std::move(digits);
  schedule.padded = std::move(padded);
  schedule.packed = std::move(packed);
  schedule.in_output = in_output;
  schedule.no_locals = no_locals;
  return status;
}

}  // namespace tg
