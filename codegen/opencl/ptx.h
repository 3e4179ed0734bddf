// Functions of inline PTX for what OpenCL C has no words for: matrix instructions, ldmatrix,
// shuffles and asynchronous copies on NVIDIA's GPUs.
//
// A __local pointer holds the address in shared memory, so its low 32 bits are the operand that PTX
// wants. All of it is volatile: these ops are for the whole subgroup, and must stay where they are.
#ifndef TG_CODEGEN_OPENCL_PTX_H_
#define TG_CODEGEN_OPENCL_PTX_H_

#include <string>
#include <string_view>

#include "codegen/opencl/prelude.h"

namespace tg::opencl {

struct PtxFunction {
  std::string name;
  std::string text;  // its definition
};

// d = f(a, b, c) for the matrix instruction that op `wmma` names, as m16n8k16.f32.f16; without a
// name where there is no such instruction.
// `half`: its fragments of f16 are half8 and so on; else ushort8.
PtxFunction MatrixFunction(std::string_view instruction, bool half, Prelude& prelude);
// uint, uint2 or uint4 = f(row address): `count` matrices.
PtxFunction LdMatrixFunction(int count, bool transpose);
// uint = f(value, number of the work-item) in subgroups of `width`.
PtxFunction ShuffleFunction(int width);
// f(to, from) of `bytes` (4, 8, 16); where `gated` f(to, from, condition): zeros where it is false.
PtxFunction CopyAsyncFunction(int bytes, bool gated);
PtxFunction CommitFunction();
PtxFunction WaitFunction(int pending);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_PTX_H_
