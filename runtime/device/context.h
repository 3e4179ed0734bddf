// Context: an opened device, behind which OpenCL (runtime/opencl) or this machine's processor
// (runtime/cpu) runs commands.
//
// Commands run as if in the order in which they are enqueued, so that reuse of memory needs no
// waiting. Objects made from a Context keep it alive through a shared pointer.
#ifndef TG_RUNTIME_DEVICE_CONTEXT_H_
#define TG_RUNTIME_DEVICE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/device_handle.h"

namespace tg::runtime {

// A block of a device's memory.
class Memory {
 public:
  virtual ~Memory() = default;
};

// Memory of the user's, as a block, and its size.
struct WrappedMemory {
  std::unique_ptr<Memory> memory;
  size_t bytes = 0;
};

// The times at which a launch was queued, submitted, started and finished, in nanoseconds of the
// device's clock.
struct LaunchTimes {
  uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  double seconds() const { return static_cast<double>(ended - started) * 1e-9; }
};

// The end of a command. Null: there is none, or nobody asked for it.
class EventState {
 public:
  virtual ~EventState() = default;
  // Whether the command had finished when the event was made: nobody needs to wait for it.
  virtual bool is_over() const { return false; }
  // Waits for the end. An error of the command may be reported here.
  virtual absl::Status Wait() const = 0;
  // Waits for the end and returns the times. FailedPrecondition if the context has no profiling.
  virtual absl::StatusOr<LaunchTimes> Times() const = 0;
};
using Event = std::shared_ptr<const EventState>;

// The end of a command that has finished already. Without `times` there was no profiling.
Event FinishedEvent(std::optional<LaunchTimes> times);

class Buffer;
class TransferCommands;

class Context : public std::enable_shared_from_this<Context> {
 public:
  virtual ~Context() = default;

  const Device& device() const { return device_; }
  const DeviceInfo& info() const { return device_.info; }
  const std::string& name() const { return device_.info.name; }
  bool profiling() const { return profiling_; }

  // Returns whether memory and events of the other context can be used in this one.
  virtual bool SharesWith(const Context& other) const = 0;

  // Makes a block of `bytes` bytes, at least 1. ResourceExhausted if the device lacks memory, or
  // refuses so large a block.
  virtual absl::StatusOr<std::unique_ptr<Memory>> Allocate(size_t bytes) const = 0;
  // Makes a block of memory of the host that outlives it. Kernels write it if its owner lets them.
  // Null if the device does not use it where it is.
  virtual std::unique_ptr<Memory> Borrow(std::span<const std::byte>) const { return nullptr; }
  // Makes a block of the user's memory, of which it keeps a reference. InvalidArgument unless it is
  // a buffer of this context, which kernels may write if `is_written`.
  virtual absl::StatusOr<WrappedMemory> Wrap(DeviceHandle handle, bool is_written) const;
  // Makes a block that is the range [offset, offset + bytes) of `parent`, which must outlive it.
  // The offset is a multiple of the device's base_alignment.
  virtual absl::StatusOr<std::unique_ptr<Memory>> Part(const Memory& parent, size_t offset,
                                                       size_t bytes) const = 0;
  // Copies in the order of the commands. Write returns when the host's memory may be reused, Read
  // when it is filled.
  virtual absl::Status Write(const Memory& to, size_t offset,
                             std::span<const std::byte> data) const = 0;
  virtual absl::Status Read(const Memory& from, size_t offset, std::span<std::byte> data) const = 0;
  virtual absl::Status Copy(const Memory& from, size_t from_offset, const Memory& to,
                            size_t to_offset, size_t bytes) const = 0;
  virtual absl::Status Fill(const Memory& memory, size_t bytes, std::byte value) const = 0;
  // Where the host finds the memory's bytes; null if it does not.
  virtual std::byte* HostAddress(const Memory&) const { return nullptr; }
  // Prepares a copy of the first `bytes` bytes to a buffer of this context.
  virtual absl::StatusOr<std::unique_ptr<TransferCommands>> NewTransfer(
      std::shared_ptr<const Buffer> from, std::shared_ptr<const Buffer> to, size_t bytes) const = 0;

  // Waits until all enqueued commands have run. An error of an earlier launch may be reported here.
  virtual absl::Status Finish() const = 0;
  // Makes the device start what is enqueued. Other devices may wait for an event only after it.
  virtual absl::Status Flush() const = 0;
  // Enqueues an event that signals the end of all commands enqueued so far, and flushes.
  virtual absl::Status EnqueueMarker(Event* event) const = 0;
  // Delays all commands that are enqueued later until `waits` have finished.
  virtual absl::Status EnqueueBarrier(std::span<const Event> waits) const = 0;

 protected:
  Context(Device device, bool profiling) : device_(std::move(device)), profiling_(profiling) {}

 private:
  Device device_;
  bool profiling_;
};

// An error if times are wanted of a context that was opened without profiling.
absl::Status CheckProfiling(const Context& context, bool profiling);

// Enqueues a marker or a barrier.
inline absl::Status EnqueueMarker(const Context& context, Event* event) {
  return context.EnqueueMarker(event);
}
inline absl::Status EnqueueBarrier(const Context& context, std::span<const Event> waits) {
  return context.EnqueueBarrier(waits);
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_CONTEXT_H_
