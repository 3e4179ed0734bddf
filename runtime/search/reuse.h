// How much memory a model accesses between two uses of a buffer, and a module that does the same.
//
// A kernel that runs again and again finds its inputs in the caches. In a model they may be cold:
// a weight is read once in a run. So the kernel is measured by a graph that calls it several times,
// each time with other copies of the buffers that the model has cold.
#ifndef TG_RUNTIME_SEARCH_REUSE_H_
#define TG_RUNTIME_SEARCH_REUSE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/module.h"
#include "passes/target.h"
#include "runtime/plan/plan.h"

namespace tg::search {

// Bytes of a block of memory.
struct Extent {
  const void* block = nullptr;
  size_t first = 0, end = 0;
  double size() const { return static_cast<double>(end - first); }
};

// For each extent of step number `step`: the distinct bytes that the steps since the last use of
// most of its bytes access, if runs of all steps follow each other.
std::vector<double> ReuseDistances(const std::vector<std::vector<Extent>>& steps, size_t step);

// A buffer of a step.
struct BufferReuse {
  std::string buffer;
  double bytes = 0, distance = 0;
};

// How many copies of a buffer are used by turns, by its name.
using CopyCounts = std::map<std::string, int64_t, std::less<>>;

std::vector<BufferReuse> ReuseOf(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                                 size_t step, const Declarations& declarations);

// The copies of each buffer by which the bytes between two uses of a copy reach the distance, or
// what leaves no data in the last cache if that is less. Buffers with one copy are left out. There
// are none for a kernel that takes `seconds` if reading them from memory takes little of that.
CopyCounts CopiesOf(const std::vector<BufferReuse>& reuse, double seconds,
                    const passes::Target& target);

// `module` has one kernel, and a graph that calls it once (kernel_check/reproduction.h). Afterwards
// call i uses copy i % n of a buffer with n copies, and as many calls are made as the most copies.
// Copy 0 is the buffer itself. Returns the names of the others by the buffer's.
std::map<std::string, std::vector<std::string>> RotateBuffers(Module& module,
                                                              const CopyCounts& copies);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_REUSE_H_
