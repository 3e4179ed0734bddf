// A copy of memory between two devices.
//
// Devices that share an OpenCL context copy by one command on the receiver's queue. Other devices
// copy through pinned host memory: commands on the sender's queue read piece by piece, and commands
// on the receiver's queue write each piece as soon as it has arrived. NVIDIA's devices also use
// host memory, because their driver moves whole buffers back and forth for a direct copy.
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
  // Copies the first `size` bytes; both buffers must be at least this large.
  static absl::StatusOr<Transfer> Create(BufferRef from, BufferRef to, size_t size);
  Transfer(Transfer&&) = default;
  Transfer& operator=(Transfer&&) = default;

  bool through_host() const { return staging_ != nullptr; }
  const Context& sender() const { return from_->context(); }
  const Context& receiver() const { return to_->context(); }

  // Enqueues the sender's part of a copy through the host. It may be enqueued again before the
  // previous copy has finished. `event` signals its end.
  absl::Status EnqueueRead(ClEvent* event = nullptr, std::span<const cl_event> waits = {});
  // Enqueues the receiver's part, after EnqueueRead if the copy goes through the host. `waits` must
  // belong to the receiver's OpenCL context.
  absl::Status EnqueueWrite(ClEvent* event = nullptr, std::span<const cl_event> waits = {});

  // Waits until the EnqueueWrite that set `event` has finished, and returns the receiver's times,
  // like WaitForTimes (launch.h).
  absl::StatusOr<LaunchTimes> Times(const ClEvent& event) const;

 private:
  struct Staging;
  Transfer(BufferRef from, BufferRef to, size_t size);
  absl::Status EnqueuePiece(size_t piece, std::span<const cl_event> waits);

  BufferRef from_, to_;
  size_t size_;
  std::shared_ptr<Staging> staging_;
};

// Enqueues an event that signals the end of all commands enqueued so far, and flushes the queue.
absl::Status EnqueueMarker(const Context& context, ClEvent* event);
// Delays all commands that are enqueued later until `waits` have finished.
absl::Status EnqueueBarrier(const Context& context, std::span<const cl_event> waits);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_TRANSFER_H_
