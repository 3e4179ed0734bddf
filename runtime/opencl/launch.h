// One kernel with everything resolved: arguments set, sizes checked. Enqueueing it again costs one
// call and allocates nothing, so a plan is a vector of launches that is replayed.
#ifndef TG_RUNTIME_OPENCL_LAUNCH_H_
#define TG_RUNTIME_OPENCL_LAUNCH_H_

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
#include "runtime/opencl/buffer.h"
#include "runtime/opencl/program.h"

namespace tg::runtime {

// Work-items in all, and in a group. An unused dimension is 1.
struct NDRange {
  std::array<size_t, 3> global = {1, 1, 1};
  std::array<size_t, 3> local = {1, 1, 1};
};

// A `__local` pointer to this many bytes.
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

// When a launch was queued, handed over, begun, done: nanoseconds of the device's clock.
struct LaunchTimes {
  uint64_t queued = 0, submitted = 0, started = 0, ended = 0;
  double seconds() const { return static_cast<double>(ended - started) * 1e-9; }
};

// The most work-items that a group of a kernel can have, of what a driver says of the kernel and of
// the device. `fixed`: it was compiled for the group's size (NVIDIA's says 256 of it also where
// that is more, and runs it).
inline size_t GroupLimit(bool fixed, size_t of_kernel, size_t of_device) {
  return fixed ? of_device : std::min(of_kernel, of_device);
}

class Launch {
 public:
  // Makes a kernel of its own, sets its arguments and checks the range: InvalidArgument names the
  // kernel, the limit and the device where the number of arguments is wrong, a local size does not
  // divide the global one or passes the limits of device or kernel, or a group's local memory
  // (arguments and the kernel's own) is more than the device has. `name` is what errors call the
  // kernel; by default as it is called in the program.
  static absl::StatusOr<Launch> Create(std::shared_ptr<const Program> program,
                                       const std::string& kernel, std::span<const KernelArg> args,
                                       const NDRange& range, std::string_view name = {});

  Launch(Launch&&) = default;
  Launch& operator=(Launch&& other) noexcept;

  const std::string& kernel_name() const { return name_; }
  const NDRange& range() const { return range_; }
  const Context& context() const { return *program_->context(); }

  // Replaces an argument, for inputs and variables that change between replays. What is already
  // enqueued keeps the old one. A local argument can only be replaced by one that is not larger.
  absl::Status SetArg(size_t index, const KernelArg& arg);

  // Replaces the range, as checked by Create; for grids whose sizes depend on variables. After an
  // error the old one stays.
  absl::Status SetRange(const NDRange& range);

  // Enqueues on the context's queue, to begin after `waits`. With `event`, the launch can be waited
  // for and timed.
  absl::Status Enqueue(ClEvent* event = nullptr, std::span<const cl_event> waits = {}) const;

 private:
  Launch(std::shared_ptr<const Program> program, std::string name, const NDRange& range,
         ClKernel kernel);

  absl::Status CheckRange() const;
  absl::Status CheckLocalMemory() const;
  absl::Status SetRawArg(size_t index, size_t size, const void* value);

  std::shared_ptr<const Program> program_;
  std::string name_;
  NDRange range_;
  std::vector<BufferRef>
      buffers_;  // of each argument; null where it is no buffer. Outlives kernel_.
  std::vector<size_t> local_bytes_;
  ClKernel kernel_;
};

// Enqueues all, in order. With `events`, one for each launch is put there.
absl::Status EnqueueAll(std::span<const Launch> launches, std::vector<ClEvent>* events = nullptr);

// Waits for the launch and gives its times. FailedPrecondition where the context has no profiling.
absl::StatusOr<LaunchTimes> WaitForTimes(const Context& context, const ClEvent& event);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_LAUNCH_H_
