// This machine's processor as a device, without OpenCL.
//
// A command has run when it is enqueued: the calling thread computes too, so nothing is gained by a
// queue. Several devices are the same processor, and share its threads.
#ifndef TG_RUNTIME_CPU_NATIVE_CONTEXT_H_
#define TG_RUNTIME_CPU_NATIVE_CONTEXT_H_

#include <memory>
#include <span>
#include <vector>

#include "runtime/device/context.h"

namespace tg::runtime::cpu {

// The native devices of this machine: one, or the number that $TG_CPU_DEVICES gives, for tests of
// graphs over several devices. None if the processor is not supported (processor.h) or
// libtg_codegen.so is not there.
std::vector<Device> ListNativeDevices();

std::shared_ptr<Context> OpenNative(const Device& device, bool profiling);

// The bytes of memory that a native context made.
std::byte* AddressOf(const Memory& memory);

}  // namespace tg::runtime::cpu

#endif  // TG_RUNTIME_CPU_NATIVE_CONTEXT_H_
