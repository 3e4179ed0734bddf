#include "runtime/opencl/cl_context.h"

#include <map>
#include <utility>
#include <vector>

#include "runtime/opencl/device_info.h"

namespace tg::runtime {
namespace {

class ClMemory : public Memory {
 public:
  explicit ClMemory(ClMem mem) : mem_(std::move(mem)) {}
  cl_mem mem() const { return mem_.get(); }

 private:
  ClMem mem_;
};

class ClEventState : public EventState {
 public:
  ClEventState(std::shared_ptr<const Context> context, ClEvent event)
      : context_(std::move(context)), event_(std::move(event)) {}
  cl_event event() const { return event_.get(); }

  absl::Status Wait() const override {
    const cl_event handle = event_.get();
    return ClStatus(clWaitForEvents(1, &handle), "clWaitForEvents", context_->name());
  }
  absl::StatusOr<LaunchTimes> Times() const override;

 private:
  std::shared_ptr<const Context> context_;
  ClEvent event_;
};

absl::StatusOr<LaunchTimes> ClEventState::Times() const {
  const std::string& device = context_->name();
  if (!context_->profiling()) {
    return absl::FailedPreconditionError(
        Cat("the queue of ", device, " was made without profiling"));
  }
  TG_RETURN_IF_ERROR(Wait());
  LaunchTimes times;
  for (const auto& [what, out] : {std::pair(CL_PROFILING_COMMAND_QUEUED, &times.queued),
                                  std::pair(CL_PROFILING_COMMAND_SUBMIT, &times.submitted),
                                  std::pair(CL_PROFILING_COMMAND_START, &times.started),
                                  std::pair(CL_PROFILING_COMMAND_END, &times.ended)}) {
    cl_ulong value = 0;
    TG_CL_CALL(device, clGetEventProfilingInfo, event_.get(), what, sizeof value, &value, nullptr);
    *out = value;
  }
  return times;
}

absl::StatusOr<ClQueue> MakeQueue(cl_context context, const Device& device, bool profiling) {
  cl_int code = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // Every driver supports the 1.x call; OpenCL 1.2 devices lack its successor.
  ClQueue queue(clCreateCommandQueue(context, static_cast<cl_device_id>(device.id),
                                     profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
#pragma GCC diagnostic pop
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateCommandQueue", device.info.name));
  return queue;
}

constexpr char kYours[] = "the caller's objects of OpenCL";

// The devices of the context as the machine lists them.
absl::StatusOr<std::vector<Device>> DevicesOf(cl_context context) {
  size_t bytes = 0;
  TG_CL_CALL(kYours, clGetContextInfo, context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> ids(bytes / sizeof(cl_device_id));
  TG_CL_CALL(kYours, clGetContextInfo, context, CL_CONTEXT_DEVICES, bytes, ids.data(), nullptr);
  std::vector<Device> devices;
  for (const cl_device_id id : ids) {
    cl_platform_id platform = nullptr;
    TG_CL_CALL(kYours, clGetDeviceInfo, id, CL_DEVICE_PLATFORM, sizeof platform, &platform,
               nullptr);
    TG_ASSIGN_OR_RETURN(DeviceInfo info, QueryDevice(platform, id));
    devices.push_back({platform, id, static_cast<int>(devices.size()), std::move(info)});
  }
  return devices;
}

}  // namespace

OpenClContext::OpenClContext(const Device& device, bool profiling,
                             std::shared_ptr<const ClContext> context, ClQueue queue)
    : Context(device, profiling), context_(std::move(context)), queue_(std::move(queue)) {}

absl::StatusOr<std::shared_ptr<OpenClContext>> OpenClContext::Create(const Device& device,
                                                                     bool profiling) {
  TG_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<OpenClContext>> all,
                      CreateAll(std::span(&device, 1), profiling));
  return all[0];
}

absl::StatusOr<std::vector<std::shared_ptr<OpenClContext>>> OpenClContext::CreateAll(
    std::span<const Device> devices, bool profiling) {
  std::map<void*, std::vector<const Device*>> by_platform;
  std::map<void*, std::shared_ptr<OpenClContext>> opened;
  for (const Device& device : devices) {
    if (opened.try_emplace(device.id).second) by_platform[device.platform].push_back(&device);
  }
  for (const auto& [platform, members] : by_platform) {
    std::vector<cl_device_id> ids;
    for (const Device* device : members) ids.push_back(static_cast<cl_device_id>(device->id));
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
    cl_int code = CL_SUCCESS;
    auto context = std::make_shared<const ClContext>(clCreateContext(
        properties, static_cast<cl_uint>(ids.size()), ids.data(), nullptr, nullptr, &code));
    TG_RETURN_IF_ERROR(ClStatus(code, "clCreateContext", members[0]->info.name));
    for (const Device* device : members) {
      TG_ASSIGN_OR_RETURN(ClQueue queue, MakeQueue(context->get(), *device, profiling));
      opened[device->id].reset(new OpenClContext(*device, profiling, context, std::move(queue)));
    }
  }
  std::vector<std::shared_ptr<OpenClContext>> out;
  for (const Device& device : devices) out.push_back(opened.at(device.id));
  return out;
}

absl::StatusOr<std::shared_ptr<OpenClContext>> OpenClContext::Adopt(cl_context context,
                                                                    cl_command_queue queue,
                                                                    std::string_view wish,
                                                                    bool profiling) {
  cl_device_id id = nullptr;
  if (queue != nullptr) {
    cl_context own = nullptr;
    cl_command_queue_properties properties = 0;
    TG_CL_CALL(kYours, clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, sizeof own, &own, nullptr);
    TG_CL_CALL(kYours, clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, sizeof id, &id, nullptr);
    TG_CL_CALL(kYours, clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, sizeof properties,
               &properties, nullptr);
    if (context != nullptr && context != own) {
      return InvalidArgument("the queue is one of another context");
    }
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
      return InvalidArgument("the queue does not run commands in order");
    }
    if (profiling && !(properties & CL_QUEUE_PROFILING_ENABLE)) {
      return InvalidArgument("times of kernels need a queue with CL_QUEUE_PROFILING_ENABLE");
    }
    context = own;
  }
  if (context == nullptr) return InvalidArgument("there is no context and no queue of OpenCL");
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, DevicesOf(context));
  const Device* device = nullptr;
  Device chosen;
  for (const Device& d : devices) {
    if (d.id == id) device = &d;
  }
  if (device == nullptr) {
    TG_ASSIGN_OR_RETURN(chosen, ChooseDevice(devices, wish));
    device = &chosen;
  }
  TG_CL_CALL(kYours, clRetainContext, context);
  auto owned = std::make_shared<const ClContext>(context);
  ClQueue own_queue;
  if (queue != nullptr) {
    TG_CL_CALL(kYours, clRetainCommandQueue, queue);
    own_queue = ClQueue(queue);
  } else {
    TG_ASSIGN_OR_RETURN(own_queue, MakeQueue(context, *device, profiling));
  }
  return std::shared_ptr<OpenClContext>(
      new OpenClContext(*device, profiling, std::move(owned), std::move(own_queue)));
}

// There are two kinds of contexts, which a device's description tells; RTTI is off.
const OpenClContext* AsOpenCl(const Context& context) {
  return context.info().is_native ? nullptr : static_cast<const OpenClContext*>(&context);
}

cl_mem MemOf(const Memory& memory) { return static_cast<const ClMemory&>(memory).mem(); }

bool OpenClContext::SharesWith(const Context& other) const {
  const OpenClContext* that = AsOpenCl(other);
  return that != nullptr && context() == that->context();
}

absl::StatusOr<std::unique_ptr<Memory>> OpenClContext::Allocate(size_t bytes) const {
  cl_int code = CL_SUCCESS;
  ClMem mem(clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  if (code == CL_INVALID_BUFFER_SIZE) {
    return absl::ResourceExhaustedError(Cat("a buffer of ", bytes, " bytes on ", name()));
  }
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateBuffer", name()));
  return std::make_unique<ClMemory>(std::move(mem));
}

absl::StatusOr<WrappedMemory> OpenClContext::Wrap(DeviceHandle handle, bool is_written) const {
  const auto mem = static_cast<cl_mem>(handle.handle);
  if (mem == nullptr) return InvalidArgument("the cl_mem is null");
  cl_mem_object_type type = 0;
  cl_context own = nullptr;
  cl_mem_flags flags = 0;
  WrappedMemory wrapped;
  TG_CL_CALL(name(), clGetMemObjectInfo, mem, CL_MEM_TYPE, sizeof type, &type, nullptr);
  TG_CL_CALL(name(), clGetMemObjectInfo, mem, CL_MEM_CONTEXT, sizeof own, &own, nullptr);
  TG_CL_CALL(name(), clGetMemObjectInfo, mem, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  TG_CL_CALL(name(), clGetMemObjectInfo, mem, CL_MEM_SIZE, sizeof wrapped.bytes, &wrapped.bytes,
             nullptr);
  if (type != CL_MEM_OBJECT_BUFFER) return InvalidArgument("the cl_mem is an image, no buffer");
  if (own != context()) {
    return InvalidArgument("the cl_mem is one of another context than the session's");
  }
  if (flags & (is_written ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY)) {
    return InvalidArgument("the cl_mem was made with ",
                           is_written ? "CL_MEM_READ_ONLY" : "CL_MEM_WRITE_ONLY");
  }
  TG_CL_CALL(name(), clRetainMemObject, mem);
  wrapped.memory = std::make_unique<ClMemory>(ClMem(mem));
  return wrapped;
}

absl::StatusOr<std::unique_ptr<Memory>> OpenClContext::Part(const Memory& parent, size_t offset,
                                                            size_t bytes) const {
  const cl_buffer_region region = {offset, bytes};
  cl_int code = CL_SUCCESS;
  ClMem mem(clCreateSubBuffer(MemOf(parent), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                              &region, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateSubBuffer", name()));
  return std::make_unique<ClMemory>(std::move(mem));
}

absl::Status OpenClContext::Write(const Memory& to, size_t offset,
                                  std::span<const std::byte> data) const {
  return ClStatus(clEnqueueWriteBuffer(queue(), MemOf(to), CL_TRUE, offset, data.size(),
                                       data.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteBuffer", name());
}

absl::Status OpenClContext::Read(const Memory& from, size_t offset,
                                 std::span<std::byte> data) const {
  return ClStatus(clEnqueueReadBuffer(queue(), MemOf(from), CL_TRUE, offset, data.size(),
                                      data.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer", name());
}

absl::Status OpenClContext::Copy(const Memory& from, size_t from_offset, const Memory& to,
                                 size_t to_offset, size_t bytes) const {
  return ClStatus(clEnqueueCopyBuffer(queue(), MemOf(from), MemOf(to), from_offset, to_offset,
                                      bytes, 0, nullptr, nullptr),
                  "clEnqueueCopyBuffer", name());
}

absl::Status OpenClContext::Fill(const Memory& memory, size_t bytes, std::byte value) const {
  // Oclgrind's --uninitialized takes all but the last byte that is filled for uninitialized.
  if (info().platform == "Oclgrind") {
    const std::vector<std::byte> values(bytes, value);
    return Write(memory, 0, values);
  }
  return ClStatus(
      clEnqueueFillBuffer(queue(), MemOf(memory), &value, 1, 0, bytes, 0, nullptr, nullptr),
      "clEnqueueFillBuffer", name());
}

absl::Status OpenClContext::Finish() const {
  return ClStatus(clFinish(queue_.get()), "clFinish", name());
}

absl::Status OpenClContext::Flush() const {
  return ClStatus(clFlush(queue_.get()), "clFlush", name());
}

absl::Status OpenClContext::EnqueueMarker(Event* event) const {
  ClEvent marker;
  TG_CL_CALL(name(), clEnqueueMarkerWithWaitList, queue(), 0, nullptr, marker.Receive());
  *event = NewEvent(*this, std::move(marker));
  return Flush();
}

absl::Status OpenClContext::EnqueueBarrier(std::span<const Event> waits) const {
  const std::vector<cl_event> list = WaitList(waits);
  if (list.empty()) return absl::OkStatus();
  TG_CL_CALL(name(), clEnqueueBarrierWithWaitList, queue(), static_cast<cl_uint>(list.size()),
             list.data(), nullptr);
  return absl::OkStatus();
}

Event NewEvent(const OpenClContext& context, ClEvent event) {
  return std::make_shared<ClEventState>(context.shared_from_this(), std::move(event));
}

// Only a ClEventState has an OpenCL event; others are over when they are made (runtime/cpu).
cl_event ClEventOf(const Event& event) {
  if (event == nullptr || event->is_over()) return nullptr;
  return static_cast<const ClEventState*>(event.get())->event();
}

std::vector<cl_event> WaitList(std::span<const Event> waits) {
  std::vector<cl_event> list;
  for (const Event& event : waits) {
    if (const cl_event handle = ClEventOf(event); handle != nullptr) list.push_back(handle);
  }
  return list;
}

}  // namespace tg::runtime
