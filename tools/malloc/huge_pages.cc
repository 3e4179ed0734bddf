// tcmalloc's memory in huge pages, where the system has them for who asks (Linux, when
// /sys/kernel/mm/transparent_hugepage/enabled says madvise). A compile touches tens of megabytes
// once or in no order: with pages of 4 KB each is a fault and, later, often a walk of page tables.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "gperftools/malloc_extension.h"

namespace tg {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kRegion = 32 * kHugePage;  // of address space; memory is taken as it is touched

uintptr_t RoundUp(uintptr_t x, size_t alignment) { return (x + alignment - 1) & ~(alignment - 1); }

// Hands out regions from their beginning. Called under tcmalloc's lock, and may not allocate.
class HugePages : public SysAllocator {
 public:
  explicit HugePages(SysAllocator* otherwise) : otherwise_(otherwise) {}

  void* Alloc(size_t size, size_t* actual_size, size_t alignment) override {
    uintptr_t begin = RoundUp(next_, alignment);
    if (begin + size > end_) {
      if (!Map(size + alignment)) return otherwise_->Alloc(size, actual_size, alignment);
      begin = RoundUp(next_, alignment);
    }
    next_ = begin + size;
    if (actual_size) *actual_size = size;
    return reinterpret_cast<void*>(begin);
  }

 private:
  // A region of at least `size` bytes that begins at a huge page. What was left of the last one is
  // not used: nothing but addresses.
  bool Map(size_t size) {
    const size_t region = RoundUp(std::max(size, kRegion), kHugePage);
    void* memory = mmap(nullptr, region + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    next_ = RoundUp(reinterpret_cast<uintptr_t>(memory), kHugePage);
    end_ = next_ + region;
#ifdef MADV_HUGEPAGE
    madvise(reinterpret_cast<void*>(next_), region, MADV_HUGEPAGE);  // a wish: may fail
#endif
    return true;
  }

  SysAllocator* const otherwise_;
  uintptr_t next_ = 0, end_ = 0;
};

}  // namespace
}  // namespace tg

// tcmalloc calls this before it first allocates; its own, which is weak, returns the argument. What
// is returned lives until the end.
SysAllocator* tc_get_sysalloc_override(SysAllocator* otherwise);
SysAllocator* tc_get_sysalloc_override(SysAllocator* otherwise) {
  alignas(tg::HugePages) static std::byte place[sizeof(tg::HugePages)];
  return new (place) tg::HugePages(otherwise);
}
