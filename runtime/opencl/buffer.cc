#include "runtime/opencl/buffer.h"

#include <utility>

namespace tg::runtime {
namespace {

absl::Status CheckRange(std::string_view call, const Buffer& buffer, size_t offset, size_t size) {
  if (offset <= buffer.size() && size <= buffer.size() - offset) return absl::OkStatus();
  return absl::OutOfRangeError(Cat(call, " of ", size, " bytes at ", offset, " of a buffer of ",
                                   buffer.size(), " bytes on ", buffer.context().name()));
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Context> context, ClMem mem, size_t size, size_t capacity,
               std::shared_ptr<Owner> owner)
    : context_(std::move(context)),
      owner_(std::move(owner)),
      mem_(std::move(mem)),
      size_(size),
      capacity_(capacity) {}

Buffer::~Buffer() {
  if (owner_ != nullptr) owner_->TakeBack(std::move(mem_), capacity_);
}

absl::StatusOr<BufferRef> Buffer::Part(const BufferRef& parent, size_t offset, size_t size) {
  const Context& context = parent->context();
  TG_RETURN_IF_ERROR(CheckRange("a part", *parent, offset, size));
  if (size == 0) return InvalidArgument("a part of 0 bytes of a buffer on ", context.name());
  if (parent->parent_ != nullptr)
    return InvalidArgument("a part of a part of a buffer on ", context.name());
  if (offset % context.info().base_alignment != 0) {
    return InvalidArgument("a part of a buffer at byte ", offset, ", but ", context.name(),
                           " needs multiples of ", context.info().base_alignment);
  }
  const cl_buffer_region region = {offset, size};
  cl_int code = CL_SUCCESS;
  ClMem mem(clCreateSubBuffer(parent->mem(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                              &region, &code));
  TG_RETURN_IF_ERROR(ClStatus(code, "clCreateSubBuffer", context.name()));
  auto part = std::make_shared<Buffer>(parent->context_, std::move(mem), size, size, nullptr);
  part->parent_ = parent;
  return part;
}

absl::Status Write(const Buffer& buffer, size_t offset, std::span<const std::byte> data) {
  TG_RETURN_IF_ERROR(CheckRange("a write", buffer, offset, data.size()));
  if (data.empty()) return absl::OkStatus();
  return ClStatus(clEnqueueWriteBuffer(buffer.context().queue(), buffer.mem(), CL_TRUE, offset,
                                       data.size(), data.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteBuffer", buffer.context().name());
}

absl::Status Read(const Buffer& buffer, size_t offset, std::span<std::byte> data) {
  TG_RETURN_IF_ERROR(CheckRange("a read", buffer, offset, data.size()));
  if (data.empty()) return absl::OkStatus();
  return ClStatus(clEnqueueReadBuffer(buffer.context().queue(), buffer.mem(), CL_TRUE, offset,
                                      data.size(), data.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer", buffer.context().name());
}

absl::Status Copy(const Buffer& from, size_t from_offset, const Buffer& to, size_t to_offset,
                  size_t size) {
  TG_RETURN_IF_ERROR(CheckRange("a copy", from, from_offset, size));
  TG_RETURN_IF_ERROR(CheckRange("a copy", to, to_offset, size));
  if (size == 0) return absl::OkStatus();
  return ClStatus(clEnqueueCopyBuffer(from.context().queue(), from.mem(), to.mem(), from_offset,
                                      to_offset, size, 0, nullptr, nullptr),
                  "clEnqueueCopyBuffer", from.context().name());
}

absl::Status Fill(const Buffer& buffer, std::byte value) {
  if (buffer.size() == 0) return absl::OkStatus();
  return ClStatus(clEnqueueFillBuffer(buffer.context().queue(), buffer.mem(), &value, 1, 0,
                                      buffer.size(), 0, nullptr, nullptr),
                  "clEnqueueFillBuffer", buffer.context().name());
}

}  // namespace tg::runtime
