// The memory of this machine that a process can still take.
#ifndef TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_
#define TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace tg::runtime {

// Returns the bytes that can be allocated and used without swapping, within the limit of the
// process's control group and of its address space. A part is left for what is not counted. The
// greatest number where the system does not tell.
uint64_t AvailableMemory();

// As above, where the system's files (/proc/meminfo and /sys/fs/cgroup) are in the folder `root`,
// and without the limit of the address space.
uint64_t AvailableMemoryIn(const std::string& root);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_BASE_AVAILABLE_MEMORY_H_
