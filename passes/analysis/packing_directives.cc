// Directives that block a kernel for caches: pack, and loop on the axis of a reduce.
#include <charconv>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/directive_applier.h"

namespace tg {

absl::Status DirectiveApplier::Loop() {
  if (absl::Status s = RefuseAfterFission(); !s.ok()) return s;
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
  if (args.size() != 2 || args[0].ident.empty() || args[1].ident.empty()) {
    return IllegalDirective(directive_, "takes a packed value and an axis");
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
  if ((axis.kind != AxisKind::kGlobal && axis.kind != AxisKind::kLoop) || axis.own_loops) {
    return IllegalDirective(directive_,
                            absl::StrCat("axis ", axis.name, " is no loop around all results"));
  }
  // The copy would keep what a store overwrites.
  if (s_.IsInPlace())
    return IllegalDirective(directive_, "the kernel reads an argument that it writes");
  if (llvm::any_of(s_.axes, [](const ScheduledAxis& a) { return a.own_loops || a.stores > 1; })) {
    return IllegalDirective(directive_, "after fission or split_grid");
  }
  value.at = axis.name;
  return absl::OkStatus();
}

absl::Status DirectiveApplier::CheckPackedMemory() {
  for (const PackedValue& value : s_.packed) {
    if (value.at.empty()) continue;
    const auto at = static_cast<size_t>(s_.FindAxis(value.at));
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      const bool varies = (value.varies & LoopBit(s_.axes[i].base)) != 0;
      if (varies && s_.IsInside(i, at) && s_.axes[i].size.is_symbolic()) {
        return IllegalDirective(directive_, absl::StrCat("a packed value varies along axis ",
                                                         s_.axes[i].name, ", which is symbolic"));
      }
    }
  }
  const int64_t bytes = s_.PackedBytes();
  if (bytes <= target_.private_memory) return absl::OkStatus();
  return IllegalDirective(directive_, absl::StrCat("packed values need ", bytes, " bytes; target ",
                                                   target_.name, " has ", target_.private_memory));
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
