// What a tool does when there is no memory left: it says so in a line and ends. A tensor of the
// user's can be larger than any memory.
#ifndef TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_
#define TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_

namespace tg {

// From now on an allocation that fails prints "TOOL: out of memory" and ends the process with exit
// code 1. `tool` must live on.
void ExitWhenOutOfMemory(const char* tool);

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_OUT_OF_MEMORY_H_
