// Functions of inline PTX for operations that OpenCL C lacks: matrix instructions, ldmatrix,
// shuffles and asynchronous copies on NVIDIA's GPUs.
//
// A __local pointer holds the address in shared memory, so its low 32 bits are the operand of the
// PTX instruction. The asm statements of ops that act on the whole subgroup are volatile, because
// they must not be moved.
#ifndef TG_CODEGEN_OPENCL_PTX_H_
#define TG_CODEGEN_OPENCL_PTX_H_

#include <string>
#include <string_view>
#include <vector>

#include "codegen/opencl/prelude.h"
#include "ir/matrix/matrix_instruction.h"

namespace tg::opencl {

struct PtxFunction {
  std::string name;
  std::string text;  // the function's definition
};

// Returns d = f(a, b, c) for the matrix instruction that a `wmma` op names, such as
// m16n8k16.f32.f16; the name is empty if there is no such instruction. Factors are words of 32
// bits, such as uint4. `half`: sums in f16 have type half4, else ushort4.
PtxFunction MatrixFunction(std::string_view instruction, bool half, Prelude& prelude);
// Returns uint, uint2 or uint4 = f(row address), which loads `count` matrices.
PtxFunction LdMatrixFunction(int count, bool transpose);
// Returns uint = f(value, number of the work-item) for subgroups of `width`.
PtxFunction ShuffleFunction(int width);
// Returns the transposed words of `width` work-items, a vector of `width` words of each.
PtxFunction TransposeItemsFunction(int width);
// Returns f(to, from), which copies `bytes` (4, 8, 16). If `gated`, it is f(to, from, condition)
// and writes zeros when the condition is false.
PtxFunction CopyAsyncFunction(int bytes, bool gated);
// Converts between f32 and the bits of f16, or from f32 to those of bf16, to the nearest.
PtxFunction HalfFunction(Scalar from, Scalar to, int lanes);
// Returns float = f(word, number, x): this byte of the word, less an integer x below 2^23.
PtxFunction FloatOfByteFunction();
// Returns f(a, b) for max and min, of which NaN wins and -0.0 is below 0.0, or f(x) for exp2, which
// takes subnormal numbers for 0 and gives 0 for them.
PtxFunction FloatFunction(Op op);
// ---- Warpgroups
// How an instruction finds a factor: the bytes of a row and, if rows lie along the results, from
// one block of rows to the next; else 0.
struct FactorBytes {
  int64_t row = 0, blocks = 0;
};
// Returns ulong = f(local address), the descriptor of a factor that starts there.
PtxFunction DescriptorFunction(FactorBytes factor);
// The lines of an instruction of `columns` columns, with as many sums as a work-item has,
// then the descriptors of A and of B for operands; a factor is transposed if it lies along results.
std::vector<std::string> WgmmaText(const MatrixInstruction& instruction, int columns,
                                   bool transpose_a, bool transpose_b);
// The same of what waits for all instructions that have begun.
std::string WgmmaWaitText();
// f() goes before the first instruction of several, and before a barrier behind which they read
// what was written before it.
PtxFunction WgmmaFenceFunction();
PtxFunction ProxyFenceFunction();

PtxFunction CommitFunction();
PtxFunction WaitFunction(int pending);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_PTX_H_
