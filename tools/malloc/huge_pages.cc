// Makes tcmalloc allocate huge pages if the system offers them on request (Linux, if
// /sys/kernel/mm/transparent_hugepage/enabled says madvise). A compilation touches tens of
// megabytes once or in random order: with 4 KB pages, each of them causes a page fault and later
// frequent TLB misses.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "gperftools/malloc_extension.h"

namespace tg::tools {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kRegion = 32 * kHugePage;  // of address space; memory is committed on first touch

uintptr_t RoundUp(uintptr_t x, size_t alignment) { return (x + alignment - 1) & ~(alignment - 1); }

// Allocates from regions in increasing address order. Called under tcmalloc's lock, and must not
// allocate.
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
  // Maps a region of at least `size` bytes, aligned to a huge page. The rest of the previous region
  // stays unused, which costs only address space.
  bool Map(size_t size) {
    const size_t region = RoundUp(std::max(size, kRegion), kHugePage);
    void* memory = mmap(nullptr, region + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    next_ = RoundUp(reinterpret_cast<uintptr_t>(memory), kHugePage);
    end_ = next_ + region;
#ifdef MADV_HUGEPAGE
    madvise(reinterpret_cast<void*>(next_), region, MADV_HUGEPAGE);  // a hint, which may fail
#endif
    return true;
  }

  SysAllocator* const otherwise_;
  uintptr_t next_ = 0, end_ = 0;
};

}  // namespace
}  // namespace tg::tools

// tcmalloc calls this before its first allocation; its weak default returns the argument. The
// result must live until the process ends.
SysAllocator* tc_get_sysalloc_override(SysAllocator* otherwise);
SysAllocator* tc_get_sysalloc_override(SysAllocator* otherwise) {
  alignas(tg::tools::HugePages) static std::byte place[sizeof(tg::tools::HugePages)];
  return new (place) tg::tools::HugePages(otherwise);
}
