// Program: compiled kernels. Launch (launch.h) checks arguments and sizes before it calls these.
#ifndef TG_RUNTIME_DEVICE_PROGRAM_H_
#define TG_RUNTIME_DEVICE_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/context.h"

namespace tg::runtime {

// Total work-items, and work-items per group. An unused dimension is 1.
struct NDRange {
  std::array<size_t, 3> global = {1, 1, 1};
  std::array<size_t, 3> local = {1, 1, 1};
};

// A kernel and its arguments.
class KernelObject {
 public:
  virtual ~KernelObject() = default;

  virtual size_t num_args() const = 0;
  // The group size for which it was compiled, if that is fixed.
  virtual std::optional<std::array<size_t, 3>> fixed_group() const = 0;
  // The most work-items that a group of this kernel may have, if it has not the fixed size.
  virtual size_t max_group_size() const = 0;
  // Bytes of local memory that a group needs, without arguments.
  virtual uint64_t local_memory() const = 0;

  virtual absl::Status SetMemory(size_t index, const Memory& memory) = 0;
  virtual absl::Status SetLocal(size_t index, size_t bytes) = 0;
  virtual absl::Status SetScalar(size_t index, std::span<const std::byte> value) = 0;
  // Enqueues a launch, to start after `waits`.
  virtual absl::Status Enqueue(const NDRange& range, Event* event,
                               std::span<const Event> waits) const = 0;
};

class Program {
 public:
  virtual ~Program() = default;

  const std::shared_ptr<Context>& context() const { return context_; }
  bool from_cache() const { return from_cache_; }

  // Makes a new kernel object. NotFound (with the existing kernels) for an unknown name.
  virtual absl::StatusOr<std::unique_ptr<KernelObject>> NewKernel(
      const std::string& name, const std::string& label) const = 0;

 protected:
  Program(std::shared_ptr<Context> context, bool from_cache)
      : context_(std::move(context)), from_cache_(from_cache) {}

 private:
  std::shared_ptr<Context> context_;
  bool from_cache_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_PROGRAM_H_
