#include "ir/interpret/machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/expand_stages.h"

namespace tg::interpret {

Machine::Machine(const Kernel& kernel, std::span<const KernelArg> args, const VarValues& vars,
                 const InterpretOptions& options)
    : kernel_(kernel), body_(kernel.body), args_(args), vars_(vars), options_(options) {}

bool Machine::Fail(const UOp* u, std::string message) {
  if (status_.ok()) {
    status_ = absl::FailedPreconditionError(
        NodeLabel(body_, absl::StrCat("kernel @", kernel_.name), u) + message);
  }
  return false;
}

void Machine::StartBatch(int64_t first_group, int64_t groups) {
  first_group_ = first_group;
  items_ = static_cast<size_t>(groups * group_);
  all_active_ = true;
  depth_ = 0;
  batches_.assign(1, {});
  for (const auto& m : memories_) {
    if (m->buffer) continue;
    std::fill(m->own_defined.begin(), m->own_defined.end(), 0);
    if (m->space == AddrSpace::kLocal && options_.check_races) {
      m->races = std::make_shared<RaceDetector>(m->own_data.size());
    }
  }
  for (const UOp* u : nodes_) {
    if (u->op != Op::kSpecial) continue;
    int64_t* out = Out(u);
    const auto which = static_cast<size_t>(u->word());
    for (size_t i = 0; i < items_; ++i) {
      int64_t rest = which < 3 ? GroupOf(i) : static_cast<int64_t>(i) % group_;
      for (size_t k = which < 3 ? 0 : 3; k < which; ++k) rest /= special_size_[k];
      out[i] = rest % special_size_[which];
    }
  }
}

bool Machine::BeginLoop(const Step& step, size_t* pc) {
  const UOp* u = step.node;
  if (!layout_[u].axes.empty()) return Fail(u, "its end differs between unrolled points");
  const int64_t* ends = In(u, 0);
  if (frames_.size() <= depth_) frames_.emplace_back();
  Frame& f = frames_[depth_];
  f.i = 0;
  f.end = INT64_MIN;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < items_; ++i) {
    if (!Active(i)) continue;
    f.end = std::max(f.end, ends[i]);
    least = std::min(least, ends[i]);
  }
  if (f.end <= 0) {
    *pc = step.jump;
    return true;
  }
  f.uniform = least == f.end;
  if (!f.uniform) {
    f.saved_all = all_active_;
    f.saved = active_;
    f.ends.assign(ends, ends + items_);
    for (size_t i = 0; i < items_; ++i) active_[i] = Active(i) && f.ends[i] > 0;
    all_active_ = false;
  }
  std::fill_n(Out(u), items_, 0);
  ++depth_;
  ++*pc;
  return true;
}

bool Machine::EndLoop(const Step& step, size_t* pc) {
  Frame& f = frames_[depth_ - 1];
  ++f.i;
  if (f.i < f.end) {
    if (!f.uniform) {
      for (size_t i = 0; i < items_; ++i) {
        active_[i] = (f.saved_all || f.saved[i]) && f.i < f.ends[i];
      }
    }
    std::fill_n(Out(step.node), items_, f.i);
    *pc = step.jump;
    return true;
  }
  if (!f.uniform) {
    active_ = f.saved;
    all_active_ = f.saved_all;
  }
  --depth_;
  ++*pc;
  return true;
}

bool Machine::BeginIf(const Step& step, size_t* pc) {
  const UOp* u = step.node;
  if (layout_[u->src(0)].points != 1) return Fail(u, "its condition differs between points");
  const int64_t* condition = In(u, 0);
  if (frames_.size() <= depth_) frames_.emplace_back();
  Frame& f = frames_[depth_];
  bool any = false, all = true;
  for (size_t i = 0; i < items_; ++i) {
    any |= Active(i) && condition[i];
    all &= !Active(i) || condition[i];
  }
  if (!any) {
    *pc = step.jump;
    return true;
  }
  f.uniform = all;
  if (!all) {
    f.saved_all = all_active_;
    f.saved = active_;
    for (size_t i = 0; i < items_; ++i) active_[i] = Active(i) && condition[i];
    all_active_ = false;
  }
  ++depth_;
  ++*pc;
  return true;
}

bool Machine::RunSteps() {
  for (size_t pc = 0; pc < steps_.size();) {
    const Step& step = steps_[pc];
    if (++steps_done_ > options_.max_steps) return Fail(step.node, "runs for too many steps");
    switch (step.kind) {
      case StepKind::kEval:
        if (!Eval(step.node)) return false;
        ++pc;
        break;
      case StepKind::kLoop:
        if (!BeginLoop(step, &pc)) return false;
        break;
      case StepKind::kEndLoop:
        if (!EndLoop(step, &pc)) return false;
        break;
      case StepKind::kIf:
        if (!BeginIf(step, &pc)) return false;
        break;
      case StepKind::kEndIf: {
        Frame& f = frames_[--depth_];
        if (!f.uniform) {
          active_ = f.saved;
          all_active_ = f.saved_all;
        }
        ++pc;
        break;
      }
      case StepKind::kReduceBegin:
        ReduceBegin(step.node);
        ++pc;
        break;
      case StepKind::kReduceStep:
        if (!ReduceStep(step.node)) return false;
        ++pc;
        break;
      case StepKind::kReduceEnd:
        ReduceEnd(step.node);
        ++pc;
        break;
    }
  }
  return true;
}

absl::Status Machine::Run() {
  if (!Prepare()) return status_;
  const int64_t groups = special_size_[0] * special_size_[1] * special_size_[2];
  if (group_ == 0) return absl::OkStatus();
  const int64_t batch = static_cast<int64_t>(capacity_) / group_;
  for (int64_t first = 0; first < groups; first += batch) {
    StartBatch(first, std::min(batch, groups - first));
    if (!RunSteps()) return status_;
  }
  return absl::OkStatus();
}

absl::Status RunLoweredKernel(const Kernel& kernel, std::span<const KernelArg> args,
                              const VarValues& vars, const InterpretOptions& options) {
  if (kernel.stage != Stage::kLowered || !HasStages(kernel.body)) {
    return Machine(kernel, args, vars, options).Run();
  }
  Kernel expanded;
  expanded.name = kernel.name;
  expanded.stage = kernel.stage;
  CloneBody(kernel.body, expanded.body);
  ExpandStages(expanded.body);
  return Machine(expanded, args, vars, options).Run();
}

}  // namespace tg::interpret
