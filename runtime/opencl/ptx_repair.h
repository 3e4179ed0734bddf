// Rewrites PTX where NVIDIA's assembler, ptxas, is known to compute something else than it says.
//
// NVIDIA's OpenCL compiler works in two steps: a source becomes PTX, which is what the driver gives
// as a program's binary, and ptxas makes machine code of it. A defect of ptxas is met in the text
// that it reads: above that, in OpenCL C, the first step would undo any other spelling.
#ifndef TG_RUNTIME_OPENCL_PTX_REPAIR_H_
#define TG_RUNTIME_OPENCL_PTX_REPAIR_H_

#include <optional>
#include <string>
#include <string_view>

namespace tg::runtime {

// The text with what ptxas gets wrong written in another way; nothing where there is none of it, or
// where the text is no PTX.
std::optional<std::string> RepairPtx(std::string_view ptx);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_PTX_REPAIR_H_
