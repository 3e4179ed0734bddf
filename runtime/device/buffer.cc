#include "runtime/device/buffer.h"

#include <utility>

#include "base/status.h"

namespace tg::runtime {
namespace {

absl::Status CheckRange(std::string_view call, const Buffer& buffer, size_t offset, size_t size) {
  if (offset <= buffer.size() && size <= buffer.size() - offset) return absl::OkStatus();
  return absl::OutOfRangeError(Cat(call, " of ", size, " bytes at ", offset, " of a buffer of ",
                                   buffer.size(), " bytes on ", buffer.context().name()));
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Context> context, std::unique_ptr<Memory> memory, size_t size,
               size_t capacity, std::shared_ptr<Owner> owner)
    : context_(std::move(context)),
      owner_(std::move(owner)),
      memory_(std::move(memory)),
      size_(size),
      capacity_(capacity) {}

Buffer::~Buffer() {
  if (owner_ != nullptr) owner_->TakeBack(std::move(memory_), capacity_);
}

absl::StatusOr<BufferRef> Buffer::Part(const BufferRef& parent, size_t offset, size_t size) {
  const Context& context = parent->context();
  TG_RETURN_IF_ERROR(CheckRange("a part", *parent, offset, size));
  if (size == 0) return InvalidArgument("a part of 0 bytes of a buffer on ", context.name());
  const BufferRef& whole = parent->parent_ == nullptr ? parent : parent->parent_;
  const size_t begin = parent->offset_ + offset;
  if (begin % context.info().base_alignment != 0) {
    return InvalidArgument("a part of a buffer at byte ", begin, ", but ", context.name(),
                           " needs multiples of ", context.info().base_alignment);
  }
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Memory> memory, context.Part(whole->memory(), begin, size));
  auto part = std::make_shared<Buffer>(parent->context_, std::move(memory), size, size, nullptr);
  part->parent_ = whole;
  part->offset_ = begin;
  return part;
}

absl::Status Write(const Buffer& buffer, size_t offset, std::span<const std::byte> data) {
  TG_RETURN_IF_ERROR(CheckRange("a write", buffer, offset, data.size()));
  if (data.empty()) return absl::OkStatus();
  return buffer.context().Write(buffer.memory(), offset, data);
}

absl::Status Read(const Buffer& buffer, size_t offset, std::span<std::byte> data) {
  TG_RETURN_IF_ERROR(CheckRange("a read", buffer, offset, data.size()));
  if (data.empty()) return absl::OkStatus();
  return buffer.context().Read(buffer.memory(), offset, data);
}

absl::Status Copy(const Buffer& from, size_t from_offset, const Buffer& to, size_t to_offset,
                  size_t size) {
  TG_RETURN_IF_ERROR(CheckRange("a copy", from, from_offset, size));
  TG_RETURN_IF_ERROR(CheckRange("a copy", to, to_offset, size));
  if (size == 0) return absl::OkStatus();
  return from.context().Copy(from.memory(), from_offset, to.memory(), to_offset, size);
}

absl::Status Fill(const Buffer& buffer, std::byte value) {
  if (buffer.size() == 0) return absl::OkStatus();
  return buffer.context().Fill(buffer.memory(), buffer.size(), value);
}

}  // namespace tg::runtime
