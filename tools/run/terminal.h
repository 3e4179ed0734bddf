// Decides whether to use colours.
#ifndef TG_TOOLS_RUN_TERMINAL_H_
#define TG_TOOLS_RUN_TERMINAL_H_

#include <cstdlib>
#include <string_view>

#include "llvm/Support/Process.h"

namespace tg::run {

// `mode` is always, never or auto. auto uses colours if standard output is a terminal that shows
// them and the environment has no non-empty NO_COLOR (no-color.org).
inline bool UseColor(std::string_view mode) {
  if (mode != "auto") return mode == "always";
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  return llvm::sys::Process::StandardOutHasColors();
}

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_TERMINAL_H_
