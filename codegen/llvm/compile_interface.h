// The interface of libtg_codegen.so, the shared object with LLVM's code generator.
//
// LLVM is large and not always needed, so a separate library has it, which is opened for the first
// kernel that has to be compiled. It exports these functions alone: another LLVM in the process,
// such as PoCL's, keeps its symbols, and ours are not seen.
#ifndef TG_CODEGEN_LLVM_COMPILE_INTERFACE_H_
#define TG_CODEGEN_LLVM_COMPILE_INTERFACE_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct TgCodegenRequest {
  const char* text;  // a module in LLVM's assembly language
  size_t size;
  // LLVM's name of the processor, and its features as LLVM writes them. Null: those of this
  // machine.
  const char* processor;
  const char* features;
  int32_t assembly;  // 1: writes assembly, not an object file
};

// Called once with the result, or with the error message.
using TgCodegenSink = void (*)(void* context, const char* data, size_t size);

// Compiles a module. Returns 0, or 1 after an error. May be called from several threads at once.
// Weak: null in a program that is linked without the code generator.
__attribute__((visibility("default"), weak)) int tg_codegen_compile(const TgCodegenRequest* request,
                                                                    TgCodegenSink sink,
                                                                    void* context);

// Changes when a function or a struct above does.
inline constexpr int32_t kTgCodegenVersion = 1;
__attribute__((visibility("default"))) int32_t tg_codegen_version();

}  // extern "C"

#endif  // TG_CODEGEN_LLVM_COMPILE_INTERFACE_H_
