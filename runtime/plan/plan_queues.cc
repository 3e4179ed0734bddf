// Waits between the queues of a plan over several devices.
#include <algorithm>

#include "base/status.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

absl::Status Plan::FindHazards() {
  const auto first = [&](size_t i) {
    return steps_[i].transfer ? &steps_[i].transfer->sender() : kernels_[i].context;
  };
  bool has_several = false;
  for (size_t i = 0; i < steps_.size(); ++i) {
    has_several |= first(i) != first(0) || kernels_[i].context != first(0);
  }
  if (!has_several) return absl::OkStatus();
  std::vector<MemoryRange> ranges;
  for (const BufferRef& buffer : buffers_) {
    MemoryRange& range = ranges.emplace_back();
    range.end = 1;
    if (buffer == nullptr) continue;
    range = {&buffer->whole(), buffer->offset(),
             buffer->offset() + std::max<size_t>(buffer->size(), 1)};
  }
  const std::vector<std::vector<int>> pieces = PiecesOf(ranges);
  std::vector<Command> commands;
  std::vector<Enqueued> enqueued;
  const auto add = [&](size_t step, const Context& context) -> Command& {
    const auto known = std::find(queues_.begin(), queues_.end(), &context);
    Command& command = commands.emplace_back();
    command.queue = static_cast<int>(known - queues_.begin());
    if (known == queues_.end()) queues_.push_back(&context);
    enqueued.emplace_back().step = step;
    return command;
  };
  const auto touch = [&](const BufferSlice& slice, std::vector<int>& numbers) {
    const std::vector<int>& own = pieces[static_cast<size_t>(slice.buffer)];
    numbers.insert(numbers.end(), own.begin(), own.end());
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const std::vector<BufferSlice>& buffers = graph_->steps[i].buffers;
    if (const auto& transfer = steps_[i].transfer) {
      if (transfer->through_host()) {
        touch(buffers[1], add(i, transfer->sender()).reads);
        enqueued.back().reads = true;
        touch(buffers[0], add(i, transfer->receiver()).writes);
      } else {
        Command& command = add(i, transfer->receiver());
        touch(buffers[1], command.reads);
        touch(buffers[0], command.writes);
      }
      continue;
    }
    Command& command = add(i, *kernels_[i].context);
    for (const codegen::KernelParam& param : steps_[i].rendered->params) {
      if (param.is_var) continue;
      const BufferSlice& slice = buffers[static_cast<size_t>(param.slot)];
      if (param.reads) touch(slice, command.reads);
      if (param.writes) touch(slice, command.writes);
    }
  }
  if (queues_.size() < 2) return absl::OkStatus();
  if (!graph_->loops.empty()) return Unimplemented("a loop over several devices");
  commands_ = std::move(enqueued);
  const std::vector<std::vector<size_t>> waits = FindWaits(commands);
  for (size_t i = 0; i < commands_.size(); ++i) {
    commands_[i].queue = queues_[static_cast<size_t>(commands[i].queue)];
    commands_[i].waits = waits[i];
    for (const size_t w : waits[i]) commands_[w].is_waited_for = true;
  }
  return absl::OkStatus();
}

absl::Status Plan::EnqueueOnSeveral(std::vector<Event>* events) {
  std::vector<Event> own(commands_.size());
  std::vector<Event> waits;
  for (size_t i = 0; i < commands_.size(); ++i) {
    const Enqueued& c = commands_[i];
    Step& step = steps_[c.step];
    waits.clear();
    for (const size_t w : c.waits) waits.push_back(own[w]);
    const bool wants_event = c.is_waited_for || (events != nullptr && !c.reads);
    Event* event = wants_event ? &own[i] : nullptr;
    if (kernels_[c.step].empty) {
      // A command that waits for this one must also wait for the earlier commands on its queue.
      TG_RETURN_IF_ERROR(EnqueueBarrier(*c.queue, waits));
      if (c.is_waited_for) TG_RETURN_IF_ERROR(EnqueueMarker(*c.queue, event));
      continue;
    }
    TG_RETURN_IF_ERROR(step.launch ? step.launch->Enqueue(event, waits)
                       : c.reads   ? step.transfer->EnqueueRead(event, waits)
                                   : step.transfer->EnqueueWrite(event, waits));
    // Other queues may wait for an event only after its queue is flushed.
    if (c.is_waited_for) TG_RETURN_IF_ERROR(c.queue->Flush());
    if (events == nullptr || c.reads) continue;
    (*events)[c.step] = own[i];
  }
  return Join();
}

absl::StatusOr<LaunchTimes> Plan::TimesOf(size_t i, const Event& event) const {
  const std::optional<Transfer>& transfer = steps_[i].transfer;
  const auto times_of = [&](const Event& e) {
    return transfer ? transfer->Times(e) : WaitForTimes(*kernels_[i].context, e);
  };
  TG_ASSIGN_OR_RETURN(LaunchTimes times, times_of(event));
  for (const Event& earlier : steps_[i].earlier) {
    TG_ASSIGN_OR_RETURN(const LaunchTimes more, times_of(earlier));
    times.started -= more.ended - more.started;
  }
  return times;
}

absl::Status Plan::Join() const {
  std::vector<Event> ends(queues_.size());
  for (size_t q = 0; q < queues_.size(); ++q) {
    TG_RETURN_IF_ERROR(EnqueueMarker(*queues_[q], &ends[q]));
  }
  for (size_t q = 0; q < queues_.size(); ++q) {
    std::vector<Event> others;
    for (size_t p = 0; p < queues_.size(); ++p) {
      if (p != q && queues_[p]->SharesWith(*queues_[q])) others.push_back(ends[p]);
    }
    TG_RETURN_IF_ERROR(EnqueueBarrier(*queues_[q], others));
    TG_RETURN_IF_ERROR(queues_[q]->Flush());
  }
  return absl::OkStatus();
}

}  // namespace tg::runtime
