// A model as files to link into a program, which then needs no library.
#ifndef TG_TOOLS_COMPILE_COMPILE_TO_C_H_
#define TG_TOOLS_COMPILE_COMPILE_TO_C_H_

#include <string>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg::compile {

// Writes STEM.c with the kernels and STEM.h, and STEM.weights if there are weights. `output` is the
// first. The module is compiled for a target of C.
absl::Status WriteC(const Module& module, const std::string& output);

// Writes STEM.o with the kernels as machine code of this processor, STEM.c, which launches them,
// STEM.h and STEM.weights. `output` is the first; `device` names the processor.
absl::Status WriteObject(const Module& module, const passes::Target& target,
                         const std::string& device, const std::string& output);

}  // namespace tg::compile

#endif  // TG_TOOLS_COMPILE_COMPILE_TO_C_H_
