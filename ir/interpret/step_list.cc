#include "ir/interpret/step_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/kernel.h"
#include "ir/walk.h"

namespace tg::interpret {

absl::StatusOr<Steps> StepsOfLinear(const Body& body) {
  Steps steps;
  NodeSet seen, closed;
  std::vector<size_t> open;  // steps of loops and ifs
  const auto fail = [&](const UOp* u, std::string message) {
    return absl::InvalidArgumentError(NodeLabel(body, "linear list", u) + message);
  };
  const auto close = [&](StepKind kind) {
    steps.push_back({kind, steps[open.back()].node, open.back() + 1});
    steps[open.back()].jump = steps.size();
    open.pop_back();
  };
  for (const UOp* u : body.linear) {
    for (const UOp* s : u->srcs()) {
      if (!seen.Contains(s)) return fail(u, "is listed before a source");
      if (closed.Contains(s) && u->op != Op::kEnd) return fail(u, "uses a loop that has ended");
    }
    if (!seen.Insert(u)) return fail(u, "is listed twice");
    switch (u->op) {
      case Op::kRange:
      case Op::kIf:
        open.push_back(steps.size());
        steps.push_back({u->op == Op::kIf ? StepKind::kIf : StepKind::kLoop, u, 0});
        break;
      case Op::kEndIf:
        if (open.empty() || steps[open.back()].node != u->src(0)) {
          return fail(u, "does not close the innermost block");
        }
        close(StepKind::kEndIf);
        break;
      case Op::kEnd: {
        const auto ranges = u->srcs().subspan(1);
        const auto is_named = [&](const UOp* r) {
          return std::find(ranges.begin(), ranges.end(), r) != ranges.end();
        };
        while (!open.empty() && is_named(steps[open.back()].node)) {
          closed.Insert(steps[open.back()].node);
          close(StepKind::kEndLoop);
        }
        for (const UOp* r : ranges) {
          if (!closed.Contains(r)) return fail(u, "does not close the innermost loops");
        }
        break;
      }
      default:
        steps.push_back({StepKind::kEval, u, 0});
    }
  }
  if (!open.empty()) return fail(steps[open.back()].node, "is never closed");
  return steps;
}

}  // namespace tg::interpret
