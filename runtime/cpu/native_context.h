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

namespace tg::cpu {

// The native devices of this machine: one, or the number that $TG_CPU_DEVICES gives, for tests of
// graphs over several devices. None if the processor is not supported (processor.h) or
// libtg_codegen.so is not there, unless nothing is to be compiled.
std::vector<runtime::Device> ListNativeDevices(bool to_compile = true);

std::shared_ptr<runtime::Context> OpenNative(const runtime::Device& device, bool profiling);

// The bytes of memory that a native context made.
std::byte* AddressOf(const runtime::Memory& memory);

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_NATIVE_CONTEXT_H_
