// A copy of memory between two devices.
//
// Devices that share an OpenCL context copy by one command, on the queue of the device that
// receives. Others go through pinned memory of the host, and so do NVIDIA's, whose driver moves
// whole buffers back and forth for such a command (eight times slower on two H200): commands on the
// sender's queue read, piece by piece, and commands on the receiver's queue write each piece as
// soon as it is there.
#ifndef TG_RUNTIME_OPENCL_TRANSFER_H_
#define TG_RUNTIME_OPENCL_TRANSFER_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/opencl/buffer.h"
#include "runtime/opencl/launch.h"

namespace tg::runtime {

class Transfer {
 public:
  // Of the first `size` bytes, which both buffers have.
  static absl::StatusOr<Transfer> Create(BufferRef from, BufferRef to, size_t size);
  Transfer(Transfer&&) = default;
  Transfer& operator=(Transfer&&) = default;

  bool through_host() const { return staging_ != nullptr; }
  const Context& sender() const { return from_->context(); }
  const Context& receiver() const { return to_->context(); }

  // Through the host only: what the sender does. It may be enqueued again before the last one is
  // done. `event` is that of the end.
  absl::Status EnqueueRead(ClEvent* event = nullptr, std::span<const cl_event> waits = {});
  // What the receiver does; after EnqueueRead where that is needed. `waits` are of its own OpenCL
  // context.
  absl::Status EnqueueWrite(ClEvent* event = nullptr, std::span<const cl_event> waits = {});

  // Waits for the end of what EnqueueWrite gave `event` for, and gives the times of the receiver,
  // as WaitForTimes does (launch.h).
  absl::StatusOr<LaunchTimes> Times(const ClEvent& event) const;

 private:
  struct Staging;
  Transfer(BufferRef from, BufferRef to, size_t size);
  absl::Status EnqueuePiece(size_t piece, std::span<const cl_event> waits);

  BufferRef from_, to_;
  size_t size_;
  std::shared_ptr<Staging> staging_;
};

// Puts an event behind everything that has been enqueued, and hands the queue to the device.
absl::Status EnqueueMarker(const Context& context, ClEvent* event);
// What is enqueued from now on begins after `waits`.
absl::Status EnqueueBarrier(const Context& context, std::span<const cl_event> waits);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_TRANSFER_H_
