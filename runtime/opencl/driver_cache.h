// PoCL's own cache of compiled kernels, and a hint for the user if it is damaged.
//
// PoCL trusts the files of its cache. A truncated file, for example from a full disk, ends the
// process (by an assertion of its compiler, or SIGBUS in the dynamic linker), and every later
// process that needs the entry. Program binaries in a DiskCache would be checked, but PoCL
// recompiles each kernel of a binary at its first launch.
#ifndef TG_RUNTIME_OPENCL_DRIVER_CACHE_H_
#define TG_RUNTIME_OPENCL_DRIVER_CACHE_H_

#include <string>

#include "runtime/device/device.h"

namespace tg::runtime {

// Returns "; PoCL cannot use its cache ..." with the cause, for example a disk that is full by now.
// Returns an empty text if it can, and for another device.
std::string DriverCacheFault(const DeviceInfo& device);

// Returns DriverCacheFault, or else "; PoCL's cache may be damaged: delete the folder ..."; an
// empty text for another device.
std::string DriverCacheHint(const DeviceInfo& device);

// Installs handlers for the signals that a crash of PoCL raises (SIGABRT, SIGBUS, SIGILL, SIGSEGV).
// The handler writes the text of DriverCacheHint to standard error and then runs the previous
// action, which is the default or an earlier handler: LLVM, which PoCL links, installs some when
// the device is opened. Only tools may call this; a library must not install handlers.
void ExplainDriverCrashes(const char* tool, const DeviceInfo& device);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_DRIVER_CACHE_H_
