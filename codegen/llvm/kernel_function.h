// KernelFunction: what machine code of a kernel exports.
#ifndef TG_CODEGEN_LLVM_KERNEL_FUNCTION_H_
#define TG_CODEGEN_LLVM_KERNEL_FUNCTION_H_

#include <cstdint>

namespace tg::llvm_ir {

// Computes the work-group (group0, group1, group2). `arguments`: a word for each parameter, the
// address of a buffer or a variable's value. `scratch`: RenderedKernel::group_memory bytes,
// aligned to kScratchAlignment, that no other call uses at the same time.
using KernelFunction = void (*)(const void* const* arguments, void* scratch, int64_t group0,
                                int64_t group1, int64_t group2);
inline constexpr int64_t kScratchAlignment = 64;

}  // namespace tg::llvm_ir

#endif  // TG_CODEGEN_LLVM_KERNEL_FUNCTION_H_
