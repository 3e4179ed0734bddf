#include "codegen/kernel_names.h"

#include "absl/strings/str_cat.h"
#include "passes/analysis/kernel_axes.h"

namespace tg::codegen {
namespace {

// The SGR parameter of an axis: bright colours, which are readable on dark and light ground.
int Color(AxisKind kind) {
  switch (kind) {
    case AxisKind::kGlobal:
      return 94;
    case AxisKind::kLocal:
      return 96;
    case AxisKind::kGroup:
      return 92;
    case AxisKind::kReduce:
      return 91;
    case AxisKind::kUnroll:
      return 95;
    case AxisKind::kUpcast:
    case AxisKind::kVector:
      return 93;
    case AxisKind::kLoop:
    case AxisKind::kStage:
      return 97;
  }
  return 0;
}

}  // namespace

std::string ColoredName(const Kernel& kernel) {
  const std::string plain = analysis::KernelName(kernel.axes);
  const std::string& name = kernel.name;
  const bool made_of_sizes =
      name.starts_with(plain) &&
      (name.size() == plain.size() || name[plain.size()] < '0' || name[plain.size()] > '9');
  if (!made_of_sizes || kernel.axes.empty()) return name;
  std::string out = name.substr(0, 1);
  for (const Axis& a : kernel.axes) {
    absl::StrAppend(&out, "_\x1b[", Color(a.kind), "m", a.size, "\x1b[0m");
  }
  return out + name.substr(plain.size());
}

}  // namespace tg::codegen
