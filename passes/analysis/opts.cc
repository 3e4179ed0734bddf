// The table of opts.
#include "absl/strings/str_cat.h"
#include "passes/analysis/opt_applier.h"
#include "passes/analysis/schedule.h"

namespace tg {
namespace {

// THE table of opts.
struct OptRow {
  OptKind kind;
  absl::Status (OptApplier::*apply)();
};
constexpr OptRow kOpts[] = {
    {{"split", "split(AXIS, N)", "AXIS becomes AXIS.0 and AXIS.1, the latter of size N"},
     &OptApplier::Split},
    {{"upcast", "upcast(AXIS[, N])", "N results of an axis, computed by one work-item"},
     &OptApplier::Upcast},
    {{"vectorize", "vectorize(AXIS[, N])", "as upcast, as the innermost lanes of vectors"},
     &OptApplier::Vectorize},
    {{"unroll", "unroll(AXIS[, N])", "N terms of a reduce in one step"}, &OptApplier::Unroll},
    {{"local", "local(AXIS[, N])", "N neighbours on a global axis share a work-group"},
     &OptApplier::Local},
    {{"group", "group(AXIS[, N|SHARED])",
      "N work-items, or those along a local axis or of another reduce, share a reduce, "
      "taking turns at its terms; or they make what is staged"},
     &OptApplier::Group},
    {{"grouptop", "grouptop(AXIS[, N|SHARED])", "as group, with a block of terms each"},
     &OptApplier::GroupTop},
    {{"loop", "loop(AXIS[, N])", "a global axis, or N of it, as a loop inside the work-item"},
     &OptApplier::Loop},
    {{"distribute_cyclic", "distribute_cyclic(AXIS, N)",
      "AXIS.1 is N groups, and AXIS.0 a loop: group k computes the steps k, k + N, ...; if N does "
      "not divide the steps, the first groups have one more"},
     &OptApplier::DistributeCyclic},
    {{"fission", "fission(AXIS)",
      "loop fission: each store, and each staged value that varies along a loop, gets a copy of "
      "the loop and of the loops inside it; a staged value has an element for each iteration"},
     &OptApplier::Fission},
    {{"split_grid", "split_grid(AXIS)",
      "partitions the grid: each store gets a slice of the groups along a global axis"},
     &OptApplier::SplitGrid},
    {{"padto", "padto(AXIS, N)", "rounds an axis up to a multiple of N, guarding what is beyond"},
     &OptApplier::PadTo},
    {{"swap", "swap(AXIS, AXIS)", "exchanges two global axes in the order of the grid"},
     &OptApplier::Swap},
    {{"grid", "grid(AXIS, D)", "a global axis becomes dimension D of the grid"}, &OptApplier::Grid},
    {{"nolocals", "nolocals()", "work-groups of one work-item"}, &OptApplier::NoLocals},
};

}  // namespace

std::span<const OptKind> OptKinds() {
  static const std::vector<OptKind>& kinds = *[] {
    auto* v = new std::vector<OptKind>;
    for (const OptRow& row : kOpts) v->push_back(row.kind);
    return v;
  }();
  return kinds;
}

std::string OptText(const Opt& opt) {
  std::string out = opt.name + "(";
  for (size_t i = 0; i < opt.args.size(); ++i) {
    if (i) out += ", ";
    out += opt.args[i].ident.empty() ? std::to_string(opt.args[i].number) : opt.args[i].ident;
  }
  return out + ")";
}

// Older texts call distribute_cyclic `deal`, and have `distribute` for fission and for split_grid.
static std::string_view CurrentName(const Schedule& schedule, const Opt& opt) {
  if (opt.name == "deal") return "distribute_cyclic";
  if (opt.name != "distribute") return opt.name;
  const int axis = opt.args.empty() ? -1 : schedule.FindAxis(opt.args[0].ident);
  const bool is_global =
      axis >= 0 && schedule.axes[static_cast<size_t>(axis)].kind == AxisKind::kGlobal;
  return is_global ? "split_grid" : "fission";
}

absl::Status ApplyGivenOpt(Schedule& schedule, const Opt& opt, const Target& target) {
  const std::string_view name = CurrentName(schedule, opt);
  for (const OptRow& row : kOpts) {
    if (row.kind.name != name) continue;
    OptApplier applier(schedule, opt, target);
    absl::Status status = (applier.*row.apply)();
    if (status.ok()) status = applier.CheckDimensions();
    if (status.ok()) status = applier.CheckLocalMemory();
    return status;
  }
  std::string names;
  for (const OptRow& row : kOpts) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(row.kind.name));
  }
  return IllegalOpt(opt, "no such opt; there are: " + names);
}

absl::Status ApplyOpt(Schedule& schedule, const Opt& opt, const Target& target) {
  // What opts change.
  auto axes = schedule.axes;
  auto digits = schedule.digits;
  auto padded = schedule.padded;
  const bool no_locals = schedule.no_locals;
  absl::Status status = ApplyGivenOpt(schedule, opt, target);
  if (status.ok()) return status;
  schedule.axes = std::move(axes);
  schedule.digits = std::move(digits);
  schedule.padded = std::move(padded);
  schedule.no_locals = no_locals;
  return status;
}

}  // namespace tg
