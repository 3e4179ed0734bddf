// Compiles kernels to machine code, and runs them on a native device.
#ifndef TG_RUNTIME_CPU_NATIVE_PROGRAM_H_
#define TG_RUNTIME_CPU_NATIVE_PROGRAM_H_

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "codegen/llvm/renderer.h"
#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/device/program.h"

namespace tg::runtime::cpu {

// Compiles the kernels on all processors. `cache` (which may be null) keeps each kernel's object;
// one that cannot be loaded is removed and compiled again. `spans`, if given, receives the time of
// each kernel's compilation.
absl::StatusOr<std::shared_ptr<const Program>> BuildNative(
    std::shared_ptr<Context> context, std::span<const llvm_ir::NativeKernel> kernels,
    DiskCache* cache, SpanLog* spans = nullptr);

}  // namespace tg::runtime::cpu

#endif  // TG_RUNTIME_CPU_NATIVE_PROGRAM_H_
