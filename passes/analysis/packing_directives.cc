// Directives that block a kernel for caches: pack, and loop on the axis of a reduce.
#include <charconv>

#include "absl/strings/str_cat.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/directive_applier.h"

namespace tg {

absl::Status DirectiveApplier::Loop() {
  size_t axis = 0;
  if (!directive_.args.empty()) {
    if (absl::Status s = FindAxis(directive_.args[0], axis); !s.ok()) return s;
    if (s_.axes[axis].kind == AxisKind::kReduce) {
      if (absl::Status s = CheckReduceLoop(axis); !s.ok()) return s;
    }
  }
  return Mark({AxisKind::kGlobal, AxisKind::kReduce}, AxisKind::kLoop, INT64_MAX);
}

absl::Status DirectiveApplier::Pack() {
  const auto& args = directive_.args;
  if (args.size() < 2 || args.size() > 4 || args[0].ident.empty() || args[1].ident.empty() ||
      (args.size() > 2 && args[2].ident != "local") ||
      (args.size() > 3 && args[3].ident != "ahead" &&
       (!args[3].ident.empty() || args[3].number < 1 || args[3].number > 2))) {
    return IllegalDirective(
        directive_, "takes a packed value, an axis, `local`, and one or two buffers or `ahead`");
  }
  const std::string& name = args[0].ident;
  size_t number = s_.packed.size();
  if (name[0] == 'p') std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (number >= s_.packed.size() || name != absl::StrCat("p", number)) {
    return IllegalDirective(
        directive_, absl::StrCat("no packed value ", name, "; there are ", s_.packed.size()));
  }
  PackedValue& value = s_.packed[number];
  if (!value.at.empty()) return IllegalDirective(directive_, "it is packed already");
  size_t at = 0;
  if (absl::Status s = FindAxis(args[1], at); !s.ok()) return s;
  const ScheduledAxis& axis = s_.axes[at];
  value.is_local = args.size() > 2;
  if (value.is_local) {
    if (absl::Status s = NeedLocals(); !s.ok()) return s;
    // A work-item computes several elements at once, and no loop for each.
    for (const UOp* u : PostOrder(value.node->src(0))) {
      if (u->op != Op::kReduceAxis && u->op != Op::kStaged && u->op != Op::kPacked) continue;
      return IllegalDirective(directive_, "loops make the value, or copies of other values");
    }
  }
  if (value.is_local && axis.kind == AxisKind::kReduce) {
    if (absl::Status s = CheckPackInReduce(value, at); !s.ok()) return s;
  } else if (axis.kind != AxisKind::kGlobal && axis.kind != AxisKind::kLoop) {
    return IllegalDirective(directive_,
                            absl::StrCat("axis ", axis.name, " is no loop around all results"));
  }
  value.ahead = args.size() > 3 && !args[3].ident.empty();
  value.buffers = value.ahead ? 2 : args.size() > 3 ? args[3].number : 1;
  if (value.ahead &&
      (axis.kind != AxisKind::kReduce || axis.size.is_symbolic() || axis.max_size == 0)) {
    return IllegalDirective(
        directive_, absl::StrCat("axis ", axis.name, " is no loop of a reduce that always runs"));
  }
  if (value.buffers > 1 && axis.kind == AxisKind::kGlobal) {
    return IllegalDirective(
        directive_, absl::StrCat("axis ", axis.name, " has no steps that follow each other"));
  }
  // The copy would keep what a store overwrites.
  if (s_.IsInPlace())
    return IllegalDirective(directive_, "the kernel reads an argument that it writes");
  value.at = axis.name;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckPackedMemory() {
  for (const PackedValue& value : s_.packed) {
    if (value.at.empty()) continue;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (!s_.IsCopied(value, i)) continue;
      const char* why = s_.axes[i].size.is_symbolic() ? "is symbolic"
                        : s_.axes[i].shares.empty()   ? nullptr
                                                      : "shares the work-items of another axis";
      if (!why) continue;
      return IllegalDirective(directive_, absl::StrCat("a packed value varies along axis ",
                                                       s_.axes[i].name, ", which ", why));
    }
  }
  const int64_t bytes = s_.PackedBytes();
  if (bytes <= target_.private_memory) return absl::OkStatus();
  return IllegalDirective(directive_, absl::StrCat("packed values need ", bytes, " bytes; target ",
                                                   target_.name, " has ", target_.private_memory));
}

absl::Status DirectiveApplier::CheckPackInReduce(const PackedValue& value, size_t at) {
  const BaseAxis& own = s_.base[s_.axes[at].base];
  if ((value.varies & LoopBit(s_.axes[at].base)) == 0) {
    return IllegalDirective(directive_,
                            absl::StrCat("the value does not vary along axis ", s_.axes[at].name));
  }
  for (size_t n = 0; n < s_.base.size(); ++n) {
    const bool inside = s_.base[n].IsStored() || s_.base[n].reduce == own.reduce;
    if (inside || (value.varies & LoopBit(n)) == 0) continue;
    return IllegalDirective(directive_, absl::StrCat("the value varies along axis ",
                                                     s_.base[n].name, ", one of another loop"));
  }
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckReduceLoop(size_t axis) {
  const ScheduledAxis& a = s_.axes[axis];
  if (!s_.accumulates[a.base]) {
    return IllegalDirective(
        directive_, absl::StrCat("the results of the reduce of axis ", a.name,
                                 " are not what the kernel stores, each once, in its type"));
  }
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const ScheduledAxis& other = s_.axes[i];
    // What is stored has the partial results of one reduce.
    if (s_.IsReduceLoop(i) && s_.base[other.base].reduce != s_.base[a.base].reduce) {
      return IllegalDirective(
          directive_, absl::StrCat("the reduce of axis ", other.name, " is in blocks already"));
    }
  }
  if (s_.IsInPlace())
    return IllegalDirective(directive_, "the kernel reads an argument that it writes");
  if (a.size.is_symbolic() || a.max_size == 0) {
    return IllegalDirective(directive_, absl::StrCat("axis ", a.name, " may have no iterations"));
  }
  if (llvm::any_of(s_.axes, [](const ScheduledAxis& g) { return g.kind == AxisKind::kGroup; })) {
    return IllegalDirective(directive_, "work-items of a group share a reduce");
  }
  return absl::OkStatus();
}

}  // namespace tg
