// A kernel whose arguments are set and whose sizes are checked. Enqueueing it again costs one call
// and allocates nothing, so a plan is a vector of launches that is replayed.
#ifndef TG_RUNTIME_DEVICE_LAUNCH_H_
#define TG_RUNTIME_DEVICE_LAUNCH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/buffer.h"
#include "runtime/device/program.h"

namespace tg::runtime {

// A `__local` pointer to `bytes` bytes of memory.
struct LocalArg {
  size_t bytes = 0;
};

// A value passed by copy: int, float, long ... up to 16 bytes.
struct ScalarArg {
  std::array<std::byte, 16> bytes = {};
  size_t size = 0;

  template <typename T>
  requires(std::is_trivially_copyable_v<T> && sizeof(T) <= 16) static ScalarArg Of(T value) {
    ScalarArg arg;
    std::memcpy(arg.bytes.data(), &value, sizeof value);
    arg.size = sizeof value;
    return arg;
  }
};

using KernelArg = std::variant<BufferRef, LocalArg, ScalarArg>;

// Returns the maximum group size of a kernel, from the limits that the driver reports for the
// kernel and for the device. `fixed`: the kernel was compiled for a fixed group size. NVIDIA's
// driver then reports 256 even if the fixed size is larger, and runs it.
inline size_t GroupLimit(bool fixed, size_t of_kernel, size_t of_device) {
  return fixed ? of_device : std::min(of_kernel, of_device);
}

class Launch {
 public:
  // Makes a new kernel object, sets its arguments and checks the range. InvalidArgument names the
  // kernel, the limit and the device if the number of arguments is wrong, a local size does not
  // divide the global one or exceeds the limits of device or kernel, or a group's local memory
  // (arguments and the kernel's own) exceeds the device's. Errors call the kernel `name`; the
  // default is its name in the program.
  static absl::StatusOr<Launch> Create(std::shared_ptr<const Program> program,
                                       const std::string& kernel, std::span<const KernelArg> args,
                                       const NDRange& range, std::string_view name = {});

  Launch(Launch&&) = default;
  Launch& operator=(Launch&& other) noexcept;

  const std::string& kernel_name() const { return name_; }
  const NDRange& range() const { return range_; }
  const Context& context() const { return *program_->context(); }

  // Replaces an argument, such as an input or variable that changes between replays. Commands that
  // are already enqueued keep the old one. The new size of a local argument must not exceed the old
  // one.
  absl::Status SetArg(size_t index, const KernelArg& arg);

  // Replaces the range, with the checks of Create, for grids whose sizes depend on variables. After
  // an error the old range remains.
  absl::Status SetRange(const NDRange& range);

  // Enqueues on the context's queue, to start after `waits`. `event` allows waiting for the launch
  // and timing it.
  absl::Status Enqueue(Event* event = nullptr, std::span<const Event> waits = {}) const;

 private:
  Launch(std::shared_ptr<const Program> program, std::string name, const NDRange& range,
         std::unique_ptr<KernelObject> kernel);

  absl::Status CheckRange() const;
  absl::Status CheckLocalMemory() const;

  std::shared_ptr<const Program> program_;
  std::string name_;
  NDRange range_;
  std::vector<BufferRef> buffers_;  // per argument; null for non-buffers. Outlives kernel_.
  std::vector<size_t> local_bytes_;
  std::unique_ptr<KernelObject> kernel_;
};

// Enqueues all launches in order. If `events` is given, it receives one event per launch.
absl::Status EnqueueAll(std::span<const Launch> launches, std::vector<Event>* events = nullptr);

// Waits for the launch and returns its times. FailedPrecondition if the context has no profiling.
absl::StatusOr<LaunchTimes> WaitForTimes(const Context& context, const Event& event);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_LAUNCH_H_
