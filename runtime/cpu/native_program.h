// Compiles kernels to machine code, and runs them on a native device.
#ifndef TG_RUNTIME_CPU_NATIVE_PROGRAM_H_
#define TG_RUNTIME_CPU_NATIVE_PROGRAM_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/launch_data.h"
#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/device/program.h"

namespace tg::cpu {

// A kernel that LlvmRenderer rendered.
struct NativeKernel {
  const codegen::RenderedKernel* kernel = nullptr;
  std::string_view object;  // its object file; empty: it is compiled
};

// Loads kernels, and compiles those without an object on all processors. `cache` (which may be
// null) keeps each compiled kernel's object; one that cannot be loaded is removed and compiled
// again. `spans`, if given, receives the time of each kernel's compilation.
absl::StatusOr<std::shared_ptr<const runtime::Program>> BuildNative(
    std::shared_ptr<runtime::Context> context, std::span<const NativeKernel> kernels,
    runtime::DiskCache* cache, runtime::SpanLog* spans = nullptr);

// The kernels' object files, compiled or from the cache.
absl::StatusOr<std::vector<std::string>> CompileNative(std::span<const NativeKernel> kernels,
                                                       runtime::DiskCache* cache,
                                                       runtime::SpanLog* spans = nullptr);

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_NATIVE_PROGRAM_H_
