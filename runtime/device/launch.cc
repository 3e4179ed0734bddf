#include "runtime/device/launch.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

std::string Sizes(const std::array<size_t, 3>& sizes) {
  return Cat("(", sizes[0], ", ", sizes[1], ", ", sizes[2], ")");
}

}  // namespace

Launch::Launch(std::shared_ptr<const Program> program, std::string name, const NDRange& range,
               std::unique_ptr<KernelObject> kernel)
    : program_(std::move(program)),
      name_(std::move(name)),
      range_(range),
      kernel_(std::move(kernel)) {}

// Swaps members, so that the replaced kernel and its buffers are destroyed in the destructor's
// order.
Launch& Launch::operator=(Launch&& other) noexcept {
  std::swap(program_, other.program_);
  std::swap(name_, other.name_);
  std::swap(range_, other.range_);
  std::swap(buffers_, other.buffers_);
  std::swap(local_bytes_, other.local_bytes_);
  std::swap(kernel_, other.kernel_);
  return *this;
}

absl::StatusOr<Launch> Launch::Create(std::shared_ptr<const Program> program,
                                      const std::string& kernel, std::span<const KernelArg> args,
                                      const NDRange& range, std::string_view name) {
  std::string label(name.empty() ? kernel : name);
  TG_ASSIGN_OR_RETURN(std::unique_ptr<KernelObject> object, program->NewKernel(kernel, label));
  Launch launch(std::move(program), std::move(label), range, std::move(object));
  const size_t expected = launch.kernel_->num_args();
  if (args.size() != expected) {
    return InvalidArgument("kernel @", launch.name_, " takes ", expected,
                           " arguments, but was given ", args.size());
  }
  TG_RETURN_IF_ERROR(launch.CheckRange());
  launch.buffers_.resize(args.size());
  launch.local_bytes_.resize(args.size(), 0);
  for (size_t i = 0; i < args.size(); ++i) {
    if (const auto* local = std::get_if<LocalArg>(&args[i])) launch.local_bytes_[i] = local->bytes;
  }
  TG_RETURN_IF_ERROR(launch.CheckLocalMemory());
  for (size_t i = 0; i < args.size(); ++i) TG_RETURN_IF_ERROR(launch.SetArg(i, args[i]));
  return launch;
}

absl::Status Launch::CheckRange() const {
  const DeviceInfo& device = context().info();
  size_t group = 1;
  for (int d = 0; d < 3; ++d) {
    const size_t global = range_.global[d], local = range_.local[d];
    if (global == 0 || local == 0 || global % local != 0) {
      return InvalidArgument("kernel @", name_, ": global size ", Sizes(range_.global),
                             " is not a positive multiple of local size ", Sizes(range_.local));
    }
    if (local > device.max_work_item_sizes[d]) {
      return InvalidArgument("kernel @", name_, ": local size ", Sizes(range_.local), " is above ",
                             Sizes(device.max_work_item_sizes), ", the limit of ", device.name);
    }
    group *= local;  // no overflow: each factor is below the device's limit
  }
  const auto fixed = kernel_->fixed_group();
  const size_t limit =
      GroupLimit(fixed == range_.local, kernel_->max_group_size(), device.max_work_group_size);
  if (group > limit) {
    return InvalidArgument("kernel @", name_, ": a group of ", Sizes(range_.local), " is ", group,
                           " work-items; this kernel can have ", limit, " on ", device.name);
  }
  if (fixed.has_value() && *fixed != range_.local) {
    return InvalidArgument("kernel @", name_, " was compiled for local size ", Sizes(*fixed),
                           ", not ", Sizes(range_.local));
  }
  return absl::OkStatus();
}

// PoCL aborts on too much local memory instead of returning an error, so the size is checked here.
// This runs before local arguments are set, since drivers include them in the reported size. What a
// kernel without such arguments declares itself has been compared when it was compiled; a driver
// may report more, for padding in front of aligned arrays, and run it all the same.
absl::Status Launch::CheckLocalMemory() const {
  const uint64_t own = kernel_->local_memory();
  uint64_t total = own;
  for (const size_t bytes : local_bytes_) {
    if (__builtin_add_overflow(total, bytes, &total)) total = ~uint64_t{0};
    if (bytes > 0 && total > context().info().local_memory) {
      return InvalidArgument("kernel @", name_, " needs more local memory than ", context().name(),
                             " has: ", own, " bytes of its own and ", bytes,
                             " in an argument, against ", context().info().local_memory);
    }
  }
  return absl::OkStatus();
}

absl::Status Launch::SetArg(size_t index, const KernelArg& arg) {
  if (index >= buffers_.size()) {
    return InvalidArgument("kernel @", name_, " has no argument ", index, "; it takes ",
                           buffers_.size());
  }
  if (const auto* buffer = std::get_if<BufferRef>(&arg)) {
    if (*buffer == nullptr) {
      return InvalidArgument("kernel @", name_, ": argument ", index,
                             " is a buffer that is not allocated");
    }
    if (&(*buffer)->context() != &context()) {
      return InvalidArgument("kernel @", name_, " runs on ", context().name(), ", but argument ",
                             index, " is a buffer on ", (*buffer)->context().name());
    }
    TG_RETURN_IF_ERROR(kernel_->SetMemory(index, (*buffer)->memory()));
    buffers_[index] = *buffer;  // the old buffer may be released only now
    return absl::OkStatus();
  }
  if (const auto* local = std::get_if<LocalArg>(&arg)) {
    if (local->bytes == 0 || local->bytes > local_bytes_[index]) {
      return InvalidArgument("kernel @", name_, ": local argument ", index, " of ", local->bytes,
                             " bytes; it was checked for 1 to ", local_bytes_[index]);
    }
    return kernel_->SetLocal(index, local->bytes);
  }
  const ScalarArg& scalar = std::get<ScalarArg>(arg);
  return kernel_->SetScalar(index, std::span(scalar.bytes).first(scalar.size));
}

absl::Status Launch::SetRange(const NDRange& range) {
  const NDRange old = std::exchange(range_, range);
  absl::Status status = CheckRange();
  if (!status.ok()) range_ = old;
  return status;
}

absl::Status Launch::Enqueue(Event* event, std::span<const Event> waits) const {
  return kernel_->Enqueue(range_, event, waits);
}

absl::Status EnqueueAll(std::span<const Launch> launches, std::vector<Event>* events) {
  if (events != nullptr) {
    events->clear();
    events->resize(launches.size());
  }
  for (size_t i = 0; i < launches.size(); ++i) {
    TG_RETURN_IF_ERROR(launches[i].Enqueue(events == nullptr ? nullptr : &(*events)[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<LaunchTimes> WaitForTimes(const Context& context, const Event& event) {
  if (!context.profiling()) {
    return absl::FailedPreconditionError(
        Cat("the queue of ", context.name(), " was made without profiling"));
  }
  return event->Times();
}

}  // namespace tg::runtime
