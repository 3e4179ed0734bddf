// Compiles modules in LLVM's assembly language with libtg_codegen.so, which is opened at the first
// call.
#ifndef TG_RUNTIME_CPU_CODE_GENERATOR_H_
#define TG_RUNTIME_CPU_CODE_GENERATOR_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tg::cpu {

enum class Output : uint8_t { kObject, kAssembly };

// Returns an object file, or assembly, for this machine's processor. NotFound if the library cannot
// be opened; the message says where it was looked for. May be called from several threads at once.
absl::StatusOr<std::string> Compile(std::string_view text, Output output);

// Whether the library is there. Does not open it.
bool HasCodeGenerator();

// Text that changes whenever Compile may return something else for the same module: the library's
// version and the processor.
std::string CodeGeneratorKey();

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_CODE_GENERATOR_H_
