#include "runtime/device/buffer_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tg::runtime {
namespace {

constexpr size_t kMinBlock = 256;

}  // namespace

size_t SizeClass(size_t size) {
  if (size <= kMinBlock) return kMinBlock;
  const size_t step = std::max(kMinBlock, std::bit_floor(size) / 8);
  const size_t rounded = (size + step - 1) & ~(step - 1);
  return rounded < size ? 0 : rounded;
}

BufferPoolStats& BufferPoolStats::operator+=(const BufferPoolStats& other) {
  in_use_bytes += other.in_use_bytes;
  cached_bytes += other.cached_bytes;
  peak_in_use_bytes += other.peak_in_use_bytes;
  peak_total_bytes += other.peak_total_bytes;
  allocations += other.allocations;
  reuses += other.reuses;
  flushes += other.flushes;
  return *this;
}

// State shared by the pool and its live buffers.
class BufferPool::State : public Buffer::Owner {
 public:
  State(std::shared_ptr<Context> context, size_t limit)
      : context_(std::move(context)), limit_(limit) {}

  absl::StatusOr<std::unique_ptr<Memory>> Take(size_t capacity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& free_list = free_[capacity];
    std::unique_ptr<Memory> memory;
    if (!free_list.empty()) {
      memory = std::move(free_list.back());
      free_list.pop_back();
      stats_.cached_bytes -= capacity;
      ++stats_.reuses;
    } else {
      TG_RETURN_IF_ERROR(Create(capacity, memory));
      ++stats_.allocations;
    }
    stats_.in_use_bytes += capacity;
    stats_.peak_in_use_bytes = std::max(stats_.peak_in_use_bytes, stats_.in_use_bytes);
    stats_.peak_total_bytes =
        std::max(stats_.peak_total_bytes, stats_.in_use_bytes + stats_.cached_bytes);
    return memory;
  }

  void TakeBack(std::unique_ptr<Memory> memory, size_t capacity) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    stats_.in_use_bytes -= capacity;
    stats_.cached_bytes += capacity;
    free_[capacity].push_back(std::move(memory));
  }

  void Trim() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReleaseCached();
  }

  BufferPoolStats stats() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }

  const std::shared_ptr<Context>& context() const { return context_; }
  size_t CapacityFor(size_t size) const {
    return exact_ ? std::max<size_t>(size, 1) : SizeClass(size);
  }
  void set_exact(bool exact) { exact_ = exact; }
  bool is_exact() const { return exact_; }

 private:
  // Allocates a new block. If the first attempt lacks memory, releases the cached blocks and
  // retries. The caller holds mutex_.
  absl::Status Create(size_t capacity, std::unique_ptr<Memory>& memory) {
    absl::Status status = TryCreate(capacity, memory);
    if (absl::IsResourceExhausted(status) && stats_.cached_bytes > 0) {
      ReleaseCached();
      ++stats_.flushes;
      status = TryCreate(capacity, memory);
    }
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::ResourceExhaustedError(
        Cat("no device memory for a buffer of ", capacity, " bytes on ", context_->name(), ": ",
            stats_.in_use_bytes, " bytes are in use, one allocation may have ",
            context_->info().max_allocation, ", the device has ", context_->info().global_memory,
            limit_ == std::numeric_limits<size_t>::max() ? "" : Cat(", the limit is ", limit_)));
  }

  absl::Status TryCreate(size_t capacity, std::unique_ptr<Memory>& memory) {
    const size_t held = stats_.in_use_bytes + stats_.cached_bytes;
    if (held > limit_ || capacity > limit_ - held) return absl::ResourceExhaustedError("");
    TG_ASSIGN_OR_RETURN(memory, context_->Allocate(capacity));
    return absl::OkStatus();
  }

  void ReleaseCached() {
    // Commands that still use a cached block must finish before it is released.
    if (stats_.cached_bytes > 0) context_->Finish().IgnoreError();
    free_.clear();
    stats_.cached_bytes = 0;
  }

  const std::shared_ptr<Context> context_;  // declared before free_, which must be destroyed first
  const size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::vector<std::unique_ptr<Memory>>> free_;  // by size class
  BufferPoolStats stats_;
  std::atomic<bool> exact_ = false;
};

BufferPool::BufferPool(std::shared_ptr<Context> context, size_t limit)
    : state_(std::make_shared<State>(std::move(context), limit)) {}

absl::StatusOr<BufferRef> BufferPool::Allocate(size_t size) {
  const size_t capacity = state_->CapacityFor(size);
  if (capacity == 0) {
    return absl::ResourceExhaustedError(Cat("a buffer of ", size, " bytes on ", context()->name()));
  }
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Memory> memory, state_->Take(capacity));
  return BufferRef(
      std::make_shared<Buffer>(state_->context(), std::move(memory), size, capacity, state_));
}

void BufferPool::set_exact(bool exact) { state_->set_exact(exact); }

bool BufferPool::is_exact() const { return state_->is_exact(); }

void BufferPool::Trim() { state_->Trim(); }

BufferPoolStats BufferPool::stats() const { return state_->stats(); }

const std::shared_ptr<Context>& BufferPool::context() const { return state_->context(); }

}  // namespace tg::runtime
