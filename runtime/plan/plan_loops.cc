// Loops of a plan: their steps are enqueued once for each iteration.
#include <algorithm>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "base/status.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

absl::Status Plan::CreateLoops() {
  pair_args_.resize(graph_->loops.size());
  for (size_t number = 0; number < graph_->loops.size(); ++number) {
    const ScheduledLoop& loop = graph_->loops[number];
    const auto is_paired = [&](int buffer) {
      return std::any_of(loop.pairs.begin(), loop.pairs.end(), [&](const auto& pair) {
        return pair.first == buffer || pair.second == buffer;
      });
    };
    for (size_t i = loop.first; i < loop.last; ++i) {
      Step& step = steps_[i];
      if (!step.launch) return Unimplemented("a loop over several devices");
      for (const VarArg& arg : step.var_args) step.has_counter |= arg.name == loop.step;
      for (const codegen::SizeExpr& groups : step.rendered->groups) {
        const std::vector<std::string> vars = groups.Vars();
        step.has_counter |= std::find(vars.begin(), vars.end(), loop.step) != vars.end();
      }
      const std::vector<codegen::KernelParam>& params = step.rendered->params;
      for (size_t index = 0; index < params.size(); ++index) {
        if (params[index].is_var) continue;
        const auto slot = static_cast<size_t>(params[index].slot);
        const BufferSlice& slice = graph_->steps[i].buffers[slot];
        if (is_paired(slice.buffer)) pair_args_[number].push_back({i, index, slice});
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Plan::TripOf(const ScheduledLoop& loop) const {
  std::string missing;
  const int64_t trip = loop.trip.Evaluate([&](std::string_view name) -> int64_t {
    const auto counter = counters_.find(name);
    if (counter != counters_.end()) return counter->second;
    const auto value = vars_.find(name);
    if (value != vars_.end()) return value->second;
    missing = name;
    return 0;
  });
  if (!missing.empty()) {
    return InvalidArgument("the trip count of a loop: variable @", missing, " has no value");
  }
  const VarDecl* counter = executable_->FindVar(loop.step);
  if (counter == nullptr) return NotFound("there is no variable @", loop.step);
  if (trip > 0 && trip - 1 > counter->max) {
    return InvalidArgument("a loop of ", trip, " iterations: its variable @", loop.step,
                           " is at most ", counter->max);
  }
  return trip;
}

int64_t Plan::TripsOf(size_t i) const {
  int64_t trips = 1;
  for (const ScheduledLoop& loop : graph_->loops) {
    if (i < loop.first || i >= loop.last || loop.condition >= 0) continue;
    trips = SaturatingMul(trips, std::max<int64_t>(TripOf(loop).value_or(0), 0));
  }
  return trips;
}

absl::StatusOr<bool> Plan::IsTrue(int buffer) const {
  std::byte value{};
  TG_RETURN_IF_ERROR(Read(*buffers_[static_cast<size_t>(buffer)], 0, {&value, 1}));
  return value != std::byte{0};
}

absl::Status Plan::SwapPairs(size_t number) {
  for (const auto& [first, second] : graph_->loops[number].pairs) {
    std::swap(buffers_[static_cast<size_t>(first)], buffers_[static_cast<size_t>(second)]);
  }
  for (const PairArg& arg : pair_args_[number]) {
    TG_ASSIGN_OR_RETURN(BufferRef buffer, Resolve(arg.slice));
    TG_RETURN_IF_ERROR(steps_[arg.step].launch->SetArg(arg.index, std::move(buffer)));
  }
  return absl::OkStatus();
}

absl::Status Plan::ForEachStep(const RunStep& run) {
  size_t from = 0;
  for (size_t i = 0; i < graph_->measures.size(); ++i) {
    const size_t before = graph_->measures[i].before;
    TG_RETURN_IF_ERROR(RunSteps(from, before, 0, run));
    from = before;
    TG_RETURN_IF_ERROR(Measure(i));
  }
  return RunSteps(from, steps_.size(), 0, run);
}

absl::Status Plan::RunSteps(size_t first, size_t last, size_t loop, const RunStep& run) {
  const std::vector<ScheduledLoop>& loops = graph_->loops;
  for (size_t i = first; i < last;) {
    while (loop < loops.size() && loops[loop].first < i) ++loop;
    if (loop < loops.size() && loops[loop].first == i) {
      TG_RETURN_IF_ERROR(RunLoop(loop, run));
      i = loops[loop].last;
    } else {
      TG_RETURN_IF_ERROR(run(i++));
    }
  }
  return absl::OkStatus();
}

absl::Status Plan::RunLoop(size_t number, const RunStep& run) {
  const ScheduledLoop& loop = graph_->loops[number];
  bool is_swapped = false;
  const absl::Status status = Iterate(number, run, &is_swapped);
  if (!is_swapped) return status;
  // The steps behind the loop read the first buffers where they were before it.
  for (const auto& [first, second] : loop.pairs) {
    const auto from = static_cast<size_t>(first), to = static_cast<size_t>(second);
    TG_ASSIGN_OR_RETURN(const size_t bytes,
                        BufferBytes(*executable_, executable_->buffers[from], vars_));
    if (bytes == 0 || !status.ok()) continue;
    TG_RETURN_IF_ERROR(Copy(*buffers_[from], 0, *buffers_[to], 0, bytes));
  }
  const absl::Status swapped = SwapPairs(number);
  return status.ok() ? swapped : status;
}

absl::Status Plan::Iterate(size_t number, const RunStep& run, bool* is_swapped) {
  const ScheduledLoop& loop = graph_->loops[number];
  TG_ASSIGN_OR_RETURN(const int64_t trip, TripOf(loop));
  int64_t& counter = counters_[loop.step];
  for (counter = 0; counter < trip; ++counter) {
    if (loop.condition >= 0) {
      TG_ASSIGN_OR_RETURN(const bool goes_on, IsTrue(loop.condition));
      if (!goes_on) break;
    }
    for (size_t i = loop.first; i < loop.last; ++i) {
      if (steps_[i].has_counter) TG_RETURN_IF_ERROR(SetStepVars(i));
    }
    TG_RETURN_IF_ERROR(RunSteps(loop.first, loop.last, number + 1, run));
    TG_RETURN_IF_ERROR(SwapPairs(number));
    *is_swapped = !*is_swapped;
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
