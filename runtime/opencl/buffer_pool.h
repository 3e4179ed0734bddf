// Device memory that is reused: a buffer that is let go stays allocated, and serves the next
// request of its size class.
//
// Size classes are multiples of an eighth of a power of two (and at least 256 bytes), so at most an
// eighth of a block is wasted. Reuse needs no waiting: whatever still runs on the old contents was
// enqueued before, on the same in-order queue. When the device refuses memory, or the pool's own
// limit would be passed, all cached blocks are released and the request is tried once more. Every
// method may be called from any thread.
#ifndef TG_RUNTIME_OPENCL_BUFFER_POOL_H_
#define TG_RUNTIME_OPENCL_BUFFER_POOL_H_

#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/opencl/buffer.h"

namespace tg::runtime {

struct BufferPoolStats {
  size_t in_use_bytes = 0;  // of blocks that somebody holds
  size_t cached_bytes = 0;  // of blocks that wait for reuse
  size_t peak_in_use_bytes = 0;
  size_t peak_total_bytes = 0;  // in use and cached
  uint64_t allocations = 0;     // asked of the device
  uint64_t reuses = 0;
  uint64_t flushes = 0;  // times that everything cached was released to make room
};

class BufferPool {
 public:
  // `limit` bounds the bytes in use and cached together.
  explicit BufferPool(std::shared_ptr<Context> context,
                      size_t limit = std::numeric_limits<size_t>::max());

  // A buffer of `size` bytes, whose contents are arbitrary. 0 bytes is allowed. ResourceExhausted
  // says how much was asked for, is in use, and is the most that the device gives at once.
  absl::StatusOr<BufferRef> Allocate(size_t size);

  // From now on blocks are as large as what is asked for, so that a simulator sees accesses right
  // behind a buffer.
  void set_exact(bool exact);

  // Releases everything cached.
  void Trim();

  BufferPoolStats stats() const;
  const std::shared_ptr<Context>& context() const;

 private:
  class State;
  std::shared_ptr<State> state_;  // outlived by no buffer: each holds it
};

// The bytes that a request of `size` takes; 0 where that overflows.
size_t SizeClass(size_t size);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_BUFFER_POOL_H_
