// HandleTable: objects by numbers that a caller in C holds. A number that was closed is never valid
// again, so that its use is an error.
#ifndef TG_CAPI_HANDLES_H_
#define TG_CAPI_HANDLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tg::capi {

// A number has the kind of object in its upper 8 bits, then 24 bits of generation, then the slot's
// index plus 1. So 0 is no handle.
template <typename T, uint8_t kKind>
class HandleTable {
 public:
  uint64_t Add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].object = std::move(object);
    return Number(index);
  }

  // Null if there is no such object (any more).
  std::shared_ptr<T> Find(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const uint64_t index = (number & 0xffffffff) - 1;
    if (index >= slots_.size() || Number(static_cast<uint32_t>(index)) != number) return nullptr;
    return slots_[index].object;
  }

  // Removes the object and returns it, so that it is destroyed outside of the lock.
  std::shared_ptr<T> Remove(uint64_t number) {
    const std::lock_guard lock(mutex_);
    const uint64_t index = (number & 0xffffffff) - 1;
    if (index >= slots_.size() || Number(static_cast<uint32_t>(index)) != number) return nullptr;
    Slot& slot = slots_[index];
    std::shared_ptr<T> object = std::move(slot.object);
    slot.object = nullptr;
    // A slot whose generations are used up is not used again.
    if (object != nullptr && ++slot.generation <= kMaxGeneration) {
      free_.push_back(static_cast<uint32_t>(index));
    }
    return object;
  }

 private:
  static constexpr uint32_t kMaxGeneration = 0xffffff;
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };

  uint64_t Number(uint32_t index) const {
    return uint64_t{kKind} << 56 | uint64_t{slots_[index].generation & kMaxGeneration} << 32 |
           (uint64_t{index} + 1);
  }

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace tg::capi

#endif  // TG_CAPI_HANDLES_H_
