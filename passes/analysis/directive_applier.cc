#include "passes/analysis/directive_applier.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

// The place of a kind in the order of a kernel's name; unrolled and upcast axes keep the order in
// which they were made, vectors are the innermost lanes.
int Rank(AxisKind k) {
  switch (k) {
    case AxisKind::kGlobal:
      return 0;
    case AxisKind::kLoop:
      return 1;
    case AxisKind::kLocal:
      return 2;
    case AxisKind::kGroup:
      return 3;
    case AxisKind::kReduce:
      return 4;
    case AxisKind::kStage:
      return 5;
    case AxisKind::kUnroll:
    case AxisKind::kUpcast:
      return 6;
    case AxisKind::kVector:
      return 7;
  }
  TG_UNREACHABLE();
}

}  // namespace

absl::Status IllegalDirective(const Directive& directive, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("directive ", DirectiveText(directive), ": ", why));
}

absl::Status DirectiveApplier::Split() { return SplitAxis(/*outer_is_n=*/false, nullptr); }

absl::Status DirectiveApplier::Upcast() {
  return Mark({AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage}, AxisKind::kUpcast, 16);
}

absl::Status DirectiveApplier::Vectorize() {
  return Mark({AxisKind::kGlobal, AxisKind::kLoop, AxisKind::kStage}, AxisKind::kVector, 64);
}

absl::Status DirectiveApplier::Unroll() { return Mark({AxisKind::kReduce}, AxisKind::kUnroll, 32); }

absl::Status DirectiveApplier::RefuseAfterReduceLoop() {
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    if (s_.IsReduceLoop(i)) {
      return IllegalDirective(directive_, "axis " + s_.axes[i].name + " is a loop around results");
    }
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::Local() {
  if (absl::Status s = NeedLocals(); !s.ok()) return s;
  if (absl::Status s = Mark({AxisKind::kGlobal}, AxisKind::kLocal, INT64_MAX); !s.ok()) return s;
  return CheckGroup();
}

absl::Status DirectiveApplier::Group() { return MarkGroup(); }

absl::Status DirectiveApplier::GroupTop() { return MarkGroup(); }

absl::Status DirectiveApplier::PadTo() {
  size_t axis = 0;
  int64_t n = 0;
  if (absl::Status s = Operands(axis, &n, /*need_amount=*/true); !s.ok()) return s;
  ScheduledAxis& a = s_.axes[axis];
  if (s_.digits[a.base].size() != 1)
    return IllegalDirective(directive_, "pad before the axis is split");
  if (a.kind != AxisKind::kGlobal && a.kind != AxisKind::kReduce && a.kind != AxisKind::kLoop &&
      a.kind != AxisKind::kStage) {
    return IllegalDirective(directive_, "the axis is already " + std::string(AxisKindName(a.kind)));
  }
  if (a.size.is_symbolic()) return IllegalDirective(directive_, "the axis is symbolic");
  if (a.max_size <= n / 4)
    return IllegalDirective(directive_, "it would more than quadruple the axis");
  const int64_t size = (a.max_size + n - 1) / n * n;
  if (size == a.max_size) return absl::OkStatus();
  a.size = a.max_size = size;
  s_.padded[a.base] = true;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::Swap() {
  size_t a = 0, b = 0;
  if (directive_.args.size() != 2) return IllegalDirective(directive_, "takes two axes");
  if (absl::Status s = FindAxis(directive_.args[0], a); !s.ok()) return s;
  if (absl::Status s = FindAxis(directive_.args[1], b); !s.ok()) return s;
  if (a == b) return IllegalDirective(directive_, "names one axis twice");
  if (s_.axes[a].kind != AxisKind::kGlobal || s_.axes[b].kind != AxisKind::kGlobal) {
    return IllegalDirective(directive_, "both axes must be global");
  }
  std::swap(s_.axes[a], s_.axes[b]);
  for (auto& digits : s_.digits) {
    for (Digit& d : digits) d.axis = d.axis == a ? b : d.axis == b ? a : d.axis;
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::Grid() {
  size_t axis = 0;
  int64_t dim = 0;
  if (absl::Status s = Operands(axis, &dim, true); !s.ok()) return s;
  if (dim < 0 || dim > 2) return IllegalDirective(directive_, "the grid has dimensions 0, 1 and 2");
  if (s_.axes[axis].kind != AxisKind::kGlobal)
    return IllegalDirective(directive_, "the axis is not global");
  for (const ScheduledAxis& a : s_.axes) {
    if (a.grid_dim == dim)
      return IllegalDirective(directive_, "axis " + a.name + " has that dimension");
  }
  s_.axes[axis].grid_dim = static_cast<int>(dim);
  return absl::OkStatus();
}

absl::Status DirectiveApplier::NoLocals() {
  if (!directive_.args.empty()) return IllegalDirective(directive_, "takes no axis");
  if (s_.GroupSize() != 1)
    return IllegalDirective(directive_, "there are local or group axes already");
  s_.no_locals = true;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::FindAxis(const DirectiveArg& arg, size_t& axis) {
  if (arg.ident.empty()) return IllegalDirective(directive_, "an axis is named, not numbered");
  if (const int found = s_.FindAxis(arg.ident); found >= 0) {
    axis = static_cast<size_t>(found);
    return absl::OkStatus();
  }
  std::string names;
  for (const ScheduledAxis& a : s_.axes) absl::StrAppend(&names, names.empty() ? "" : ", ", a.name);
  return IllegalDirective(
      directive_,
      absl::StrCat("no axis '", arg.ident, "'; there are: ", names.empty() ? "none" : names));
}

absl::Status DirectiveApplier::Operands(size_t& axis, int64_t* n, bool need_amount) {
  if (directive_.args.empty() || directive_.args.size() > 2)
    return IllegalDirective(directive_, "takes an axis and a number");
  if (absl::Status s = FindAxis(directive_.args[0], axis); !s.ok()) return s;
  *n = 0;
  if (amount_ != 0) {
    *n = amount_;
  } else if (directive_.args.size() == 2) {
    if (!directive_.args[1].ident.empty())
      return IllegalDirective(directive_, "the second argument is a number");
    *n = directive_.args[1].number;
  } else if (need_amount) {
    return IllegalDirective(directive_, "takes an axis and a number");
  }
  if (directive_.name == "grid") return absl::OkStatus();
  if (*n < 0 || *n == 1) return IllegalDirective(directive_, "the amount must be at least 2");
  if (*n == 0 && need_amount) return IllegalDirective(directive_, "the amount must be at least 2");
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckParts(const ScheduledAxis& whole) {
  if (!whole.shares.empty()) {
    return IllegalDirective(directive_,
                            absl::StrCat("axis ", whole.name, " shares axis ", whole.shares));
  }
  for (const ScheduledAxis& a : s_.axes) {
    if (a.shares == whole.name)
      return IllegalDirective(directive_, "group axis " + a.name + " shares the axis");
  }
  for (size_t n = 0; n < s_.packed.size(); ++n) {
    if (s_.packed[n].at == whole.name)
      return IllegalDirective(directive_, absl::StrCat("p", n, " is packed in steps of the axis"));
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckSplit(const ScheduledAxis& whole) {
  if (absl::Status s = CheckParts(whole); !s.ok()) return s;
  if (whole.size.is_symbolic()) return IllegalDirective(directive_, "the axis is symbolic");
  if (whole.max_size == 0) return IllegalDirective(directive_, "the axis has no iterations");
  return absl::OkStatus();
}

void DirectiveApplier::SplitInto(size_t axis, int64_t outer, int64_t inner) {
  ScheduledAxis& high = s_.axes[axis];
  ScheduledAxis low = high;
  low.name = high.name + ".1";
  low.size = low.max_size = inner;
  low.grid_dim = -1;
  high.name += ".0";
  high.size = high.max_size = outer;
  auto& digits = s_.digits[low.base];
  Insert(axis + 1, std::move(low));
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i].axis != axis) continue;
    const int64_t stride = digits[i].stride;
    digits[i].stride = stride * inner;
    digits.insert(digits.begin() + static_cast<ptrdiff_t>(i) + 1, {axis + 1, stride});
    break;
  }
}

absl::Status DirectiveApplier::SplitAxis(bool outer_is_n, size_t* marked) {
  size_t axis = 0;
  int64_t n = 0;
  if (absl::Status s = Operands(axis, &n, marked == nullptr); !s.ok()) return s;
  const ScheduledAxis& whole = s_.axes[axis];
  if (absl::Status s = CheckParts(whole); !s.ok()) return s;
  if (marked && (n == 0 || (!whole.size.is_symbolic() && n == whole.max_size))) {
    const bool loop = whole.kind == AxisKind::kGlobal && directive_.name == "loop";
    if (whole.size.is_symbolic() && !loop)
      return IllegalDirective(directive_, "the axis is symbolic");
    *marked = axis;
    return absl::OkStatus();
  }
  if (absl::Status s = CheckSplit(whole); !s.ok()) return s;
  if (whole.max_size % n != 0) {
    return IllegalDirective(directive_, absl::StrCat(n, " does not divide the axis's size ",
                                                     whole.max_size, " (padto first)"));
  }
  if (n == whole.max_size) return IllegalDirective(directive_, "the amount is the whole axis");
  const int64_t inner = outer_is_n ? whole.max_size / n : n;
  SplitInto(axis, whole.max_size / inner, inner);
  if (marked) *marked = outer_is_n ? axis : axis + 1;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::Mark(std::initializer_list<AxisKind> from, AxisKind to,
                                    int64_t limit) {
  size_t axis = 0;
  if (!directive_.args.empty()) {
    if (absl::Status s = FindAxis(directive_.args[0], axis); !s.ok()) return s;
    const AxisKind kind = s_.axes[axis].kind;
    if (std::find(from.begin(), from.end(), kind) == from.end() || s_.IsReduceLoop(axis)) {
      return IllegalDirective(directive_, absl::StrCat("axis ", s_.axes[axis].name, " is ",
                                                       std::string(AxisKindName(kind))));
    }
  }
  const bool outer_is_n = directive_.name == "grouptop";
  if (absl::Status s = SplitAxis(outer_is_n, &axis); !s.ok()) return s;
  const int64_t n = s_.axes[axis].max_size;
  if (n > limit)
    return IllegalDirective(directive_, absl::StrCat("the amount ", n, " is over ", limit));
  MoveTo(axis, to);
  return absl::OkStatus();
}

void DirectiveApplier::MoveTo(size_t axis, AxisKind to) {
  auto& axes = s_.axes;
  // Behind all of its new rank.
  size_t at = axes.size();
  while (at > 0 && Rank(axes[at - 1].kind) > Rank(to)) --at;
  if (at > axis) --at;
  axes[axis].kind = to;
  axes[axis].grid_dim = -1;  // it is no part of the grid any more
  const auto place = [&](size_t i) { return axes.begin() + static_cast<ptrdiff_t>(i); };
  if (at > axis)
    std::rotate(place(axis), place(axis + 1), place(at + 1));
  else
    std::rotate(place(at), place(axis), place(axis + 1));
  for (auto& digits : s_.digits) {
    for (Digit& d : digits) {
      if (d.axis == axis)
        d.axis = at;
      else
        d.axis += (at <= d.axis && d.axis < axis) - (axis < d.axis && d.axis <= at);
    }
  }
}

absl::Status DirectiveApplier::MarkGroup() {
  if (absl::Status s = NeedLocals(); !s.ok()) return s;
  // All work-items of a group read what one of them overwrites.
  if (s_.IsInPlace())
    return IllegalDirective(directive_, "the kernel reads an argument that it writes");
  if (directive_.args.size() == 2 && !directive_.args[1].ident.empty()) return MarkShared();
  if (absl::Status s = Mark({AxisKind::kReduce}, AxisKind::kGroup, INT64_MAX); !s.ok()) return s;
  if (absl::Status s = RefuseAfterReduceLoop(); !s.ok()) return s;
  return CheckGroup();
}

absl::Status DirectiveApplier::MarkShared() {
  size_t axis = 0, local = 0;
  if (absl::Status s = FindAxis(directive_.args[0], axis); !s.ok()) return s;
  if (absl::Status s = FindAxis(directive_.args[1], local); !s.ok()) return s;
  const ScheduledAxis with = s_.axes[local];
  const bool group = with.kind == AxisKind::kGroup && with.shares.empty();
  if (with.kind != AxisKind::kLocal && !group) {
    return IllegalDirective(
        directive_, absl::StrCat("axis ", with.name, " is ", std::string(AxisKindName(with.kind)),
                                 ", not local"));
  }
  const size_t base = s_.axes[axis].base;
  const BaseAxis& own = s_.base[base];
  if (absl::Status s = RefuseAfterReduceLoop(); !s.ok()) return s;
  const std::string what = own.staged ? "what is staged" : "the reduce";
  if (!group && (s_.varies[base] & LoopBit(with.base))) {
    return IllegalDirective(directive_, absl::StrCat(what, " varies along axis ", with.name));
  }
  for (const ScheduledAxis& a : s_.axes) {
    if (a.shares != with.name && a.name != with.name) continue;
    if (s_.base[a.base].reduce == own.reduce && s_.base[a.base].staged == own.staged) {
      return IllegalDirective(directive_,
                              absl::StrCat("axis ", a.name, " of ", what, " shares it already"));
    }
    // Work-items with different indices along one axis cannot share a term of the other.
    if ((s_.varies[base] & LoopBit(a.base)) || (s_.varies[a.base] & LoopBit(base))) {
      return IllegalDirective(directive_,
                              absl::StrCat("axis ", a.name, ", one inside the other, shares it"));
    }
  }
  amount_ = with.max_size;
  if (absl::Status s = Mark({AxisKind::kReduce, AxisKind::kStage}, AxisKind::kGroup, INT64_MAX);
      !s.ok()) {
    return s;
  }
  // Marked last, and moved behind all others of its rank.
  for (size_t i = s_.axes.size(); i-- > 0;) {
    if (s_.axes[i].kind != AxisKind::kGroup) continue;
    s_.axes[i].shares = with.name;
    break;
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::NeedLocals() {
  if (s_.no_locals) return IllegalDirective(directive_, "after nolocals()");
  if (!target_.has_local)
    return IllegalDirective(directive_, "target " + target_.name + " has no local memory");
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckGroup() {
  const int64_t size = s_.GroupSize();
  if (size > target_.max_group_size) {
    return IllegalDirective(directive_,
                            absl::StrCat("a group of ", size, " work-items; target ", target_.name,
                                         " allows ", target_.max_group_size));
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckDimensions() {
  int groups = 0, locals = 0, bound = 0, free = 0;
  for (const ScheduledAxis& a : s_.axes) {
    // A local axis that group axes share keeps to itself.
    const bool local = a.kind == AxisKind::kLocal || a.kind == AxisKind::kGroup;
    const bool shared =
        local && std::any_of(s_.axes.begin(), s_.axes.end(),
                             [&](const ScheduledAxis& g) { return g.shares == a.name; });
    groups += (a.kind == AxisKind::kGroup && a.shares.empty()) || shared;
    locals += a.kind == AxisKind::kLocal && !shared;
    if (a.kind == AxisKind::kGlobal) ++(a.grid_dim >= 0 ? bound : free);
  }
  if (groups + (locals > 0) > 3)
    return IllegalDirective(directive_, "a group has three dimensions");
  if (bound + (free > 0) > 3) return IllegalDirective(directive_, "the grid has three dimensions");
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckLocalMemory() {
  const int64_t bytes = s_.LocalBytes();
  if (bytes > target_.local_memory) {
    return IllegalDirective(directive_,
                            absl::StrCat("a group needs ", bytes, " bytes of local memory; target ",
                                         target_.name, " has ", target_.local_memory));
  }
  return absl::OkStatus();
}

void DirectiveApplier::Insert(size_t at, ScheduledAxis axis) {
  s_.axes.insert(s_.axes.begin() + static_cast<ptrdiff_t>(at), std::move(axis));
  for (auto& digits : s_.digits) {
    for (Digit& d : digits) d.axis += d.axis >= at;
  }
}

}  // namespace tg
