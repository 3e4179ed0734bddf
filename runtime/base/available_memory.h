// The memory of this machine that a process can still take.
#ifndef TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_
#define TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace tg::runtime {

// Returns the number of bytes that can be allocated and used without swapping, within the limits of
// the process's control group and of its address space, minus a reserve. Returns the greatest
// number if the system does not report it.
uint64_t AvailableMemory();

// As above, where the system's files (/proc/meminfo and /sys/fs/cgroup) are in the folder `root`,
// and without the limit of the address space.
uint64_t AvailableMemoryIn(const std::string& root);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_
