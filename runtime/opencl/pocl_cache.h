// The folder in which PoCL keeps compiled kernels.
//
// PoCL offers no device if it cannot make this folder, and compiles nothing if it cannot write to
// it; even POCL_KERNEL_CACHE=0 needs it. So it gets a temporary folder in such a case.
#ifndef TG_RUNTIME_OPENCL_POCL_CACHE_H_
#define TG_RUNTIME_OPENCL_POCL_CACHE_H_

#include <string>

#include "absl/status/status.h"

namespace tg::runtime {

// Returns the folder that PoCL chooses: $POCL_CACHE_DIR, else pocl/kcache in $XDG_CACHE_HOME or in
// $HOME/.cache, else /tmp/pocl/kcache.
std::string PoclCacheDirectory();

// Returns OK if compiled kernels can be written to `folder` and loaded from it. The folder need not
// exist if it can be made. Leaves nothing behind. The message of an error is its cause alone: no
// permission, not a folder, a full disk, or one whose files cannot be executed.
absl::Status CheckKernelFolder(const std::string& folder);

// Sets POCL_CACHE_DIR to a new temporary folder if PoCL could not use its own. The folder is
// removed at the end of the process; folders of processes that were killed are removed too. Only
// the first call has an effect; it must precede the first OpenCL call.
void PreparePoclCache();

// Returns whether PreparePoclCache made a folder. Nothing in it is worth remembering.
bool PoclCacheIsTemporary();

// Returns a line that names both folders and the cause, or an empty text if PoCL uses its own.
std::string PoclCacheWarning();

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_POCL_CACHE_H_
