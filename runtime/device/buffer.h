// A block of device memory with shared ownership.
//
// A BufferRef in a Launch keeps the memory from being reused while the launch can still run (PoCL
// aborts if a kernel's argument is released). When the last reference is dropped, the memory
// returns to its pool.
#ifndef TG_RUNTIME_DEVICE_BUFFER_H_
#define TG_RUNTIME_DEVICE_BUFFER_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/context.h"

namespace tg::runtime {

class Buffer;
using BufferRef = std::shared_ptr<const Buffer>;

class Buffer {
 public:
  // Receives the memory when the buffer is destroyed; `capacity` is the allocated size.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void TakeBack(std::unique_ptr<Memory> memory, size_t capacity) = 0;
  };

  // `size` is the requested size in bytes; capacity >= size.
  Buffer(std::shared_ptr<Context> context, std::unique_ptr<Memory> memory, size_t size,
         size_t capacity, std::shared_ptr<Owner> owner);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Memory& memory() const { return *memory_; }
  size_t size() const { return size_; }
  // The buffer that has the memory, and where this one begins in it: of a part, its parent.
  const Buffer& whole() const { return parent_ == nullptr ? *this : *parent_; }
  size_t offset() const { return offset_; }
  const Context& context() const { return *context_; }

  // Makes a buffer for the range [offset, offset + size) of `parent`, which may be a part itself.
  // InvalidArgument if the range does not fit, or if its offset in the whole buffer is not a
  // multiple of the device's base_alignment.
  static absl::StatusOr<BufferRef> Part(const BufferRef& parent, size_t offset, size_t size);

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Owner> owner_;  // null for a part
  BufferRef parent_;              // for a part: the whole; released after memory_
  std::unique_ptr<Memory> memory_;
  size_t size_, capacity_, offset_ = 0;
};

// Copy between host and device, in queue order. OutOfRange if the range is outside the buffer.
// Write returns when the host memory may be reused, Read when it is filled.
absl::Status Write(const Buffer& buffer, size_t offset, std::span<const std::byte> data);
absl::Status Read(const Buffer& buffer, size_t offset, std::span<std::byte> data);

// Enqueues a copy of `size` bytes; source and destination must not overlap.
absl::Status Copy(const Buffer& from, size_t from_offset, const Buffer& to, size_t to_offset,
                  size_t size);

// Enqueues a fill of the first size() bytes with one byte value.
absl::Status Fill(const Buffer& buffer, std::byte value);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_BUFFER_H_
