// Rewrites PTX constructs that NVIDIA's assembler, ptxas, is known to miscompile, and puts in the
// instructions that its OpenCL compiler refuses.
//
// NVIDIA's OpenCL compiler has two steps: it compiles the source to PTX, which the driver returns
// as a program's binary, and ptxas assembles it to machine code. Defects of ptxas are worked around
// in PTX, because the first step would normalize any other spelling in OpenCL C.
#ifndef TG_RUNTIME_OPENCL_PTX_REPAIR_H_
#define TG_RUNTIME_OPENCL_PTX_REPAIR_H_

#include <optional>
#include <string>
#include <string_view>

namespace tg::runtime {

// Returns the text with the miscompiled constructs rewritten, with what follows "// sm_90a: " in a
// comment as instructions, and if there are any, with this architecture as its target. Returns
// nullopt if it contains none of them or is not PTX. `may_contract`: a product and a sum may be
// rounded once.
std::optional<std::string> RepairPtx(std::string_view ptx, bool may_contract);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_PTX_REPAIR_H_
