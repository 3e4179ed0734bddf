#include "runtime/opencl/cl_kernel.h"

#include <utility>

namespace tg::runtime {
namespace {

std::string Sizes(const std::array<size_t, 3>& sizes) {
  return Cat("(", sizes[0], ", ", sizes[1], ", ", sizes[2], ")");
}

template <typename T>
absl::StatusOr<T> WorkGroupInfo(const OpenClContext& context, cl_kernel kernel,
                                cl_kernel_work_group_info what) {
  T value{};
  TG_CL_CALL(context.name(), clGetKernelWorkGroupInfo, kernel, context.id(), what, sizeof value,
             &value, nullptr);
  return value;
}

using Sizes3 = std::array<size_t, 3>;

class OpenClKernel : public KernelObject {
 public:
  OpenClKernel(const OpenClContext& context, ClKernel kernel, std::string label)
      : context_(context), kernel_(std::move(kernel)), label_(std::move(label)) {}

  absl::Status AskForLimits() {
    TG_CL_CALL(context_.name(), clGetKernelInfo, kernel_.get(), CL_KERNEL_NUM_ARGS,
               sizeof num_args_, &num_args_, nullptr);
    TG_ASSIGN_OR_RETURN(
        fixed_, WorkGroupInfo<Sizes3>(context_, kernel_.get(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE));
    TG_ASSIGN_OR_RETURN(max_group_size_,
                        WorkGroupInfo<size_t>(context_, kernel_.get(), CL_KERNEL_WORK_GROUP_SIZE));
    TG_ASSIGN_OR_RETURN(local_memory_,
                        WorkGroupInfo<cl_ulong>(context_, kernel_.get(), CL_KERNEL_LOCAL_MEM_SIZE));
    return absl::OkStatus();
  }

  size_t num_args() const override { return num_args_; }
  std::optional<Sizes3> fixed_group() const override {
    return fixed_ == Sizes3{0, 0, 0} ? std::nullopt : std::optional(fixed_);
  }
  size_t max_group_size() const override { return max_group_size_; }
  uint64_t local_memory() const override { return local_memory_; }

  absl::Status SetMemory(size_t index, const Memory& memory) override {
    const cl_mem mem = MemOf(memory);
    return Set(index, sizeof mem, &mem);
  }
  absl::Status SetLocal(size_t index, size_t bytes) override { return Set(index, bytes, nullptr); }
  absl::Status SetScalar(size_t index, std::span<const std::byte> value) override {
    return Set(index, value.size(), value.data());
  }

  absl::Status Enqueue(const NDRange& range, Event* event,
                       std::span<const Event> waits) const override {
    const std::vector<cl_event> list = WaitList(waits);
    ClEvent ended;
    const cl_int code = clEnqueueNDRangeKernel(
        context_.queue(), kernel_.get(), 3, nullptr, range.global.data(), range.local.data(),
        static_cast<cl_uint>(list.size()), list.empty() ? nullptr : list.data(),
        event == nullptr ? nullptr : ended.Receive());
    if (code == CL_SUCCESS) {
      if (event != nullptr) *event = NewEvent(context_, std::move(ended));
      return absl::OkStatus();
    }
    return ClStatus(code,
                    Cat("clEnqueueNDRangeKernel of kernel @", label_, ", global ",
                        Sizes(range.global), ", local ", Sizes(range.local), ","),
                    context_.name());
  }

 private:
  absl::Status Set(size_t index, size_t size, const void* value) {
    const cl_int code = clSetKernelArg(kernel_.get(), static_cast<cl_uint>(index), size, value);
    if (code == CL_SUCCESS) return absl::OkStatus();
    return ClStatus(
        code, Cat("clSetKernelArg of argument ", index, " (", size, " bytes) of kernel @", label_),
        context_.name());
  }

  const OpenClContext& context_;  // its program keeps it
  ClKernel kernel_;
  std::string label_;
  cl_uint num_args_ = 0;
  Sizes3 fixed_ = {};
  size_t max_group_size_ = 0;
  cl_ulong local_memory_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelObject>> NewClKernel(const OpenClContext& context,
                                                          ClKernel kernel,
                                                          const std::string& label) {
  auto object = std::make_unique<OpenClKernel>(context, std::move(kernel), label);
  TG_RETURN_IF_ERROR(object->AskForLimits());
  return std::unique_ptr<KernelObject>(std::move(object));
}

}  // namespace tg::runtime
