#include "runtime/opencl/transfer.h"

#include <utility>
#include <vector>

#include "ir/check.h"

namespace tg::runtime {
namespace {

cl_uint Count(std::span<const cl_event> waits) { return static_cast<cl_uint>(waits.size()); }
const cl_event* Data(std::span<const cl_event> waits) {
  return waits.empty() ? nullptr : waits.data();
}
cl_event* Receive(ClEvent* event) { return event == nullptr ? nullptr : event->Receive(); }

// The read is done, or failed with a negative status, which the event passes on to the write.
void CL_CALLBACK SetArrived(cl_event, cl_int status, void* arrived) {
  const auto event = static_cast<cl_event>(arrived);
  clSetUserEventStatus(event, status < 0 ? status : CL_COMPLETE);
  clReleaseEvent(event);
}

}  // namespace

struct Transfer::Staging {
  std::vector<std::byte> bytes;
  ClEvent arrived;  // of the receiver's context: set when `bytes` are there
  ClEvent written;  // when `bytes` may be overwritten
  ~Staging() {
    const cl_event last = written.get();
    if (last != nullptr) clWaitForEvents(1, &last);
  }
};

Transfer::Transfer(BufferRef from, BufferRef to, size_t size)
    : from_(std::move(from)), to_(std::move(to)), size_(size) {
  TG_CHECK(size <= from_->size() && size <= to_->size());
  if (sender().SharesWith(receiver())) return;
  staging_ = std::make_shared<Staging>();
  staging_->bytes.resize(size);
}

absl::Status Transfer::EnqueueRead(ClEvent* event, std::span<const cl_event> waits) {
  TG_CHECK(through_host());
  if (size_ == 0) return event == nullptr ? absl::OkStatus() : EnqueueMarker(sender(), event);
  if (const cl_event last = staging_->written.get(); last != nullptr) {
    TG_CL_CALL(receiver().name(), clWaitForEvents, 1, &last);
  }
  ClEvent own;
  if (event == nullptr) event = &own;
  TG_RETURN_IF_ERROR(ClStatus(
      clEnqueueReadBuffer(sender().queue(), from_->mem(), CL_FALSE, 0, size_,
                          staging_->bytes.data(), Count(waits), Data(waits), event->Receive()),
      "clEnqueueReadBuffer", sender().name()));
  cl_int code = CL_SUCCESS;
  staging_->arrived = ClEvent(clCreateUserEvent(receiver().context(), &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateUserEvent", receiver().name()));
  const cl_event arrived = staging_->arrived.get();
  clRetainEvent(arrived);  // for the callback
  code = clSetEventCallback(event->get(), CL_COMPLETE, SetArrived, arrived);
  if (code != CL_SUCCESS) clReleaseEvent(arrived);
  TG_RETURN_IF_ERROR(ClStatus(code, "clSetEventCallback", sender().name()));
  return ClStatus(clFlush(sender().queue()), "clFlush", sender().name());
}

absl::Status Transfer::EnqueueWrite(ClEvent* event, std::span<const cl_event> waits) {
  const Context& context = receiver();
  if (size_ == 0) return event == nullptr ? absl::OkStatus() : EnqueueMarker(context, event);
  if (!through_host()) {
    return ClStatus(clEnqueueCopyBuffer(context.queue(), from_->mem(), to_->mem(), 0, 0, size_,
                                        Count(waits), Data(waits), Receive(event)),
                    "clEnqueueCopyBuffer", context.name());
  }
  std::vector<cl_event> all(waits.begin(), waits.end());
  all.push_back(staging_->arrived.get());
  TG_RETURN_IF_ERROR(ClStatus(
      clEnqueueWriteBuffer(context.queue(), to_->mem(), CL_FALSE, 0, size_, staging_->bytes.data(),
                           Count(all), all.data(), staging_->written.Receive()),
      "clEnqueueWriteBuffer", context.name()));
  if (event == nullptr) return absl::OkStatus();
  clRetainEvent(staging_->written.get());
  *event = ClEvent(staging_->written.get());
  return absl::OkStatus();
}

absl::Status EnqueueMarker(const Context& context, ClEvent* event) {
  TG_CL_CALL(context.name(), clEnqueueMarkerWithWaitList, context.queue(), 0, nullptr,
             event->Receive());
  return ClStatus(clFlush(context.queue()), "clFlush", context.name());
}

absl::Status EnqueueBarrier(const Context& context, std::span<const cl_event> waits) {
  if (waits.empty()) return absl::OkStatus();
  TG_CL_CALL(context.name(), clEnqueueBarrierWithWaitList, context.queue(), Count(waits),
             waits.data(), nullptr);
  return absl::OkStatus();
}

}  // namespace tg::runtime
