// An opened OpenCL device: an OpenCL context and one in-order queue on which all commands run.
// Devices of one platform that are opened together share the OpenCL context.
//
// Buffer reuse is safe because the queue runs commands in the order in which they are enqueued.
#ifndef TG_RUNTIME_OPENCL_CL_CONTEXT_H_
#define TG_RUNTIME_OPENCL_CL_CONTEXT_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/context.h"
#include "runtime/opencl/cl_check.h"

namespace tg::runtime {

class OpenClContext : public Context {
 public:
  // `profiling` records the times of events; with some drivers it slows launches slightly.
  static absl::StatusOr<std::shared_ptr<OpenClContext>> Create(const Device& device,
                                                               bool profiling);

  // Returns one context per element of `devices`, in order. Equal devices get the same context.
  static absl::StatusOr<std::vector<std::shared_ptr<OpenClContext>>> CreateAll(
      std::span<const Device> devices, bool profiling);

  // A context on the user's objects of OpenCL, of which it keeps references. The queue runs
  // commands in order; null: one is made for a device of the context that `wish` selects
  // (ChooseDevice). `context` may be null if there is a queue.
  static absl::StatusOr<std::shared_ptr<OpenClContext>> Adopt(cl_context context,
                                                              cl_command_queue queue,
                                                              std::string_view wish,
                                                              bool profiling);

  cl_device_id id() const { return static_cast<cl_device_id>(device().id); }
  cl_context context() const { return context_->get(); }
  cl_command_queue queue() const { return queue_.get(); }

  bool SharesWith(const Context& other) const override;
  absl::StatusOr<std::unique_ptr<Memory>> Allocate(size_t bytes) const override;
  absl::StatusOr<WrappedMemory> Wrap(DeviceHandle handle, bool is_written) const override;
  absl::StatusOr<std::unique_ptr<Memory>> Part(const Memory& parent, size_t offset,
                                               size_t bytes) const override;
  absl::Status Write(const Memory& to, size_t offset,
                     std::span<const std::byte> data) const override;
  absl::Status Read(const Memory& from, size_t offset, std::span<std::byte> data) const override;
  absl::Status Copy(const Memory& from, size_t from_offset, const Memory& to, size_t to_offset,
                    size_t bytes) const override;
  absl::Status Fill(const Memory& memory, size_t bytes, std::byte value) const override;
  absl::StatusOr<std::unique_ptr<TransferCommands>> NewTransfer(std::shared_ptr<const Buffer> from,
                                                                std::shared_ptr<const Buffer> to,
                                                                size_t bytes) const override;
  absl::Status Finish() const override;
  absl::Status Flush() const override;
  absl::Status EnqueueMarker(Event* event) const override;
  absl::Status EnqueueBarrier(std::span<const Event> waits) const override;

 private:
  OpenClContext(const Device& device, bool profiling, std::shared_ptr<const ClContext> context,
                ClQueue queue);

  std::shared_ptr<const ClContext> context_;
  ClQueue queue_;  // released before the context
};

// The context as one of OpenCL; null if it is none.
const OpenClContext* AsOpenCl(const Context& context);

// The OpenCL object of memory that an OpenClContext made.
cl_mem MemOf(const Memory& memory);

// An event of OpenCL, as commands return it.
Event NewEvent(const OpenClContext& context, ClEvent event);
// The OpenCL event behind one; null if it is over when it is made, as those of a processor are.
cl_event ClEventOf(const Event& event);
// The events as a list for an OpenCL command.
std::vector<cl_event> WaitList(std::span<const Event> waits);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_CL_CONTEXT_H_
