#include "runtime/device/transfer.h"

#include "base/check.h"
#include "base/status.h"
#include "runtime/base/spans.h"

namespace tg::runtime {
namespace {

class HostTransfer : public TransferCommands {
 public:
  HostTransfer(BufferRef from, BufferRef to, size_t size)
      : from_(std::move(from)), to_(std::move(to)), size_(size) {}

  bool through_host() const override { return false; }
  absl::Status EnqueueRead(Event* event, std::span<const Event>) override {
    if (event != nullptr) *event = nullptr;
    return absl::OkStatus();
  }
  absl::Status EnqueueWrite(Event* event, std::span<const Event> waits) override {
    for (const Event& wait : waits) {
      if (wait != nullptr) TG_RETURN_IF_ERROR(wait->Wait());
    }
    LaunchTimes times;
    times.queued = times.submitted = times.started = static_cast<uint64_t>(HostNanos());
    if (size_ > 0) TG_RETURN_IF_ERROR(Run());
    times.ended = static_cast<uint64_t>(HostNanos());
    if (event != nullptr) *event = FinishedEvent(times);
    return absl::OkStatus();
  }
  absl::StatusOr<LaunchTimes> Times(const Event& event) const override { return event->Times(); }

 private:
  absl::Status Run() {
    const Context &sender = from_->context(), &receiver = to_->context();
    if (std::byte* target = receiver.HostAddress(to_->memory()); target != nullptr) {
      return sender.Read(from_->memory(), 0, {target, size_});
    }
    return receiver.Write(to_->memory(), 0, {sender.HostAddress(from_->memory()), size_});
  }

  BufferRef from_, to_;
  size_t size_;
};

}  // namespace

std::unique_ptr<TransferCommands> NewHostTransfer(BufferRef from, BufferRef to, size_t size) {
  return std::make_unique<HostTransfer>(std::move(from), std::move(to), size);
}

absl::StatusOr<Transfer> Transfer::Create(BufferRef from, BufferRef to, size_t size) {
  TG_CHECK(size <= from->size() && size <= to->size());
  TG_ASSIGN_OR_RETURN(std::unique_ptr<TransferCommands> commands,
                      to->context().NewTransfer(from, to, size));
  return Transfer(std::move(from), std::move(to), std::move(commands));
}

}  // namespace tg::runtime
