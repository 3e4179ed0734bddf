// A pool of device memory: a released buffer stays allocated and serves the next request of its
// size class.
//
// Size classes are multiples of an eighth of a power of two (and at least 256 bytes), so at most an
// eighth of a block is wasted. Reuse needs no waiting, because every command on the old contents
// was enqueued earlier on the same in-order queue. When the device refuses memory, or an allocation
// would exceed the pool's limit, all cached blocks are released and the request is retried once.
// Every method may be called from any thread.
#ifndef TG_RUNTIME_DEVICE_BUFFER_POOL_H_
#define TG_RUNTIME_DEVICE_BUFFER_POOL_H_

#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/buffer.h"

namespace tg::runtime {

struct BufferPoolStats {
  size_t in_use_bytes = 0;  // bytes of blocks held by buffers
  size_t cached_bytes = 0;  // bytes of blocks available for reuse
  size_t peak_in_use_bytes = 0;
  size_t peak_total_bytes = 0;  // of in_use_bytes + cached_bytes
  uint64_t allocations = 0;     // requests to the device
  uint64_t reuses = 0;
  uint64_t flushes = 0;  // times that all cached blocks were released to free memory

  // Adds the figures of another pool.
  BufferPoolStats& operator+=(const BufferPoolStats& other);
};

class BufferPool {
 public:
  // `limit` bounds the sum of in-use and cached bytes.
  explicit BufferPool(std::shared_ptr<Context> context,
                      size_t limit = std::numeric_limits<size_t>::max());

  // Returns a buffer of `size` bytes with arbitrary contents. 0 bytes is allowed. The message of
  // ResourceExhausted has the requested size, the bytes in use, and the device's maximum for one
  // allocation.
  absl::StatusOr<BufferRef> Allocate(size_t size);

  // Makes later blocks exactly as large as requested, so that a simulator detects accesses beyond
  // the end of a buffer.
  void set_exact(bool exact);
  bool is_exact() const;

  // Releases all cached blocks.
  void Trim();

  BufferPoolStats stats() const;
  const std::shared_ptr<Context>& context() const;

 private:
  class State;
  std::shared_ptr<State> state_;  // each buffer keeps it alive
};

// Returns the bytes that a request of `size` occupies; 0 on overflow.
size_t SizeClass(size_t size);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_DEVICE_BUFFER_POOL_H_
