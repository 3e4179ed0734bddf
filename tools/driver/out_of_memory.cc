#include "tools/driver/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

namespace tg::driver {
namespace {

const char* tool_name = "";

// Other threads may hold any lock, so this neither flushes nor destroys anything.
void Exit() {
  for (const char* text : {tool_name, ": out of memory\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  std::_Exit(1);
}

}  // namespace

void ExitWhenOutOfMemory(const char* tool) {
  tool_name = tool;
  std::set_new_handler(&Exit);
}

}  // namespace tg::driver
