// A copy of memory between two devices.
//
// Devices that share memory copy by one command on the receiver's queue. Other devices may copy
// through memory of the host: commands on the sender's queue read, and commands on the receiver's
// queue write.
#ifndef TG_RUNTIME_DEVICE_TRANSFER_H_
#define TG_RUNTIME_DEVICE_TRANSFER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/buffer.h"
#include "runtime/device/launch.h"

namespace tg::runtime {

// The commands of a copy, which the receiver's context makes.
class TransferCommands {
 public:
  virtual ~TransferCommands() = default;
  virtual bool through_host() const = 0;
  virtual absl::Status EnqueueRead(Event* event, std::span<const Event> waits) = 0;
  virtual absl::Status EnqueueWrite(Event* event, std::span<const Event> waits) = 0;
  virtual absl::StatusOr<LaunchTimes> Times(const Event& event) const = 0;
};

// The commands of a copy from or to memory that the host can address, in contexts of two kinds.
// They have run when they are enqueued.
std::unique_ptr<TransferCommands> NewHostTransfer(BufferRef from, BufferRef to, size_t size);

class Transfer {
 public:
  // Copies the first `size` bytes; both buffers must be at least this large.
  static absl::StatusOr<Transfer> Create(BufferRef from, BufferRef to, size_t size);
  Transfer(Transfer&&) = default;
  Transfer& operator=(Transfer&&) = default;

  bool through_host() const { return commands_->through_host(); }
  const Context& sender() const { return from_->context(); }
  const Context& receiver() const { return to_->context(); }

  // Enqueues the sender's part of a copy through the host. It may be enqueued again before the
  // previous copy has finished. `event` signals its end.
  absl::Status EnqueueRead(Event* event = nullptr, std::span<const Event> waits = {}) {
    return commands_->EnqueueRead(event, waits);
  }
  // Enqueues the receiver's part, after EnqueueRead if the copy goes through the host. `waits` must
  // belong to the receiver's OpenCL context.
  absl::Status EnqueueWrite(Event* event = nullptr, std::span<const Event> waits = {}) {
    return commands_->EnqueueWrite(event, waits);
  }

  // Waits until the EnqueueWrite that set `event` has finished, and returns the receiver's times,
  // like WaitForTimes (launch.h).
  absl::StatusOr<LaunchTimes> Times(const Event& event) const { return commands_->Times(event); }

 private:
  Transfer(BufferRef from, BufferRef to, std::unique_ptr<TransferCommands> commands)
      : from_(std::move(from)), to_(std::move(to)), commands_(std::move(commands)) {}

  BufferRef from_, to_;
  std::unique_ptr<TransferCommands> commands_;  // released before the buffers
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_TRANSFER_H_
