// Out-of-memory handling of the tools: a message of one line and a clean exit. A tensor of the
// user's module can be larger than any memory.
#ifndef TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_
#define TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_

namespace tg::driver {

// From now on, a failing allocation prints "TOOL: out of memory" and ends the process with exit
// code 1. `tool` must outlive the process's last allocation.
void ExitWhenOutOfMemory(const char* tool);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_
