#include "runtime/opencl/opencl_layers.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/status.h"

namespace tg::runtime {

std::string WithoutOpenClLayers(std::string_view preload) {
  std::string remaining;
  while (!preload.empty()) {
    const size_t end = std::min(preload.find_first_of(": "), preload.size());
    const std::filesystem::path library(preload.substr(0, end));
    preload.remove_prefix(std::min(end + 1, preload.size()));
    if (library.empty() || library.filename().string().starts_with("libOpenCL.so")) continue;
    remaining += Cat(remaining.empty() ? "" : ":", library.string());
  }
  return remaining;
}

void KeepOpenClLayersFromChildren() {
  const char* preload = ::getenv("LD_PRELOAD");
  if (preload == nullptr) return;
  const std::string remaining = WithoutOpenClLayers(preload);
  if (remaining == preload) return;
  remaining.empty() ? ::unsetenv("LD_PRELOAD")
                    : ::setenv("LD_PRELOAD", remaining.c_str(), /*overwrite=*/1);
}

}  // namespace tg::runtime
