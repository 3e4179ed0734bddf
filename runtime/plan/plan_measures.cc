// Variables that get their values in the run.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/status.h"
#include "ir/wrong_measure.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

absl::Status Plan::CreateMeasures() {
  for (const ScheduledMeasure& measure : graph_->measures) {
    const VarDecl* decl = executable_->FindVar(measure.var);
    if (decl == nullptr) return NotFound("there is no variable @", measure.var);
    if (buffers_[static_cast<size_t>(measure.buffer)] == nullptr) {
      return InvalidArgument("the buffer that variable @", measure.var,
                             " is read from is not allocated");
    }
    // Its greatest value until it is measured.
    measured_[measure.var] = decl->max;
    std::vector<size_t>& steps = measured_steps_.emplace_back();
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      bool depends = std::any_of(step.var_args.begin(), step.var_args.end(),
                                 [&](const VarArg& arg) { return arg.name == measure.var; });
      for (size_t d = 0; step.rendered != nullptr && d < 3; ++d) {
        const std::vector<std::string> vars = step.rendered->groups[d].Vars();
        depends = depends || std::find(vars.begin(), vars.end(), measure.var) != vars.end();
      }
      if (depends) steps.push_back(i);
    }
  }
  return absl::OkStatus();
}

absl::Status Plan::Measure(size_t number) {
  const ScheduledMeasure& measure = graph_->measures[number];
  const BufferDecl& decl = executable_->buffers[static_cast<size_t>(measure.buffer)];
  int64_t value = 0;
  const auto bytes = static_cast<size_t>(ByteSize(decl.dtype.scalar()));
  std::byte read[sizeof value] = {};
  TG_RETURN_IF_ERROR(Read(*buffers_[static_cast<size_t>(measure.buffer)], 0, {read, bytes}));
  std::memcpy(&value, read, sizeof value);
  if (bytes == 4) value = static_cast<int32_t>(value);
  const VarDecl& var = *executable_->FindVar(measure.var);
  if (const std::string why = WrongMeasure(var, value); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  int64_t& known = measured_[measure.var];
  if (known != value) {
    known = vars_[measure.var] = value;
    is_work_counted_ = false;
    for (const size_t i : measured_steps_[number]) TG_RETURN_IF_ERROR(SetStepVars(i));
  }
  // Requirements on variables that are measured later are checked then.
  const std::string broken =
      BrokenRequirement(*executable_, [&](std::string_view name) -> std::optional<int64_t> {
        const auto is_later = [&](const ScheduledMeasure& m) { return m.var == name; };
        const auto& all = graph_->measures;
        if (std::any_of(all.begin() + static_cast<std::ptrdiff_t>(number) + 1, all.end(), is_later))
          return std::nullopt;
        const auto found = vars_.find(name);
        return found == vars_.end() ? std::nullopt : std::optional(found->second);
      });
  return broken.empty() ? absl::OkStatus() : absl::InvalidArgumentError(broken);
}

}  // namespace tg::runtime
