// The cache of compiled kernels that PoCL keeps by itself, and what is said where it is damaged.
//
// PoCL trusts its files: of one that was cut off, as on a full disk, it ends the process (an
// assertion of its compiler, or SIGBUS in the dynamic linker), and does so in every later process
// that needs the entry. Programs as binaries in a DiskCache would be checked, but PoCL compiles
// each kernel of them anew at its first launch.
#ifndef TG_RUNTIME_OPENCL_DRIVER_CACHE_H_
#define TG_RUNTIME_OPENCL_DRIVER_CACHE_H_

#include <string>

#include "runtime/opencl/device.h"

namespace tg::runtime {

// The folder, as PoCL chooses it: $POCL_CACHE_DIR, else pocl/kcache in $XDG_CACHE_HOME or in
// $HOME/.cache; empty where none of them is set.
std::string PoclCacheDirectory();

// "; PoCL's cache may be damaged: delete the folder ..." where the device is PoCL's, else empty.
std::string DriverCacheHint(const DeviceInfo& device);

// From here on, a signal that a crash of PoCL raises (SIGABRT, SIGBUS, SIGILL, SIGSEGV) writes a
// line with that hint to standard error. Then it does what it did before, by default or by a
// handler: LLVM, which PoCL is linked with, installs some when the device is opened. Only for
// tools: a library installs no handlers.
void ExplainDriverCrashes(const char* tool, const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DRIVER_CACHE_H_
