// The C renderer: turns kernels at stage linear into functions of one C unit.
//
// A kernel becomes `void r_4_4(float* restrict data0, const float* restrict data1, const int n,
// const int32_t gid0, unsigned char* memory)`: its parameters, the group's coordinates in the
// dimensions of the grid that have more than one group, and, where RenderedKernel::group_memory is
// not 0, that many bytes, aligned to 64. A call runs one work-group. It is `static` if a graph of
// the module calls it.
//
// Two languages: C17 with the vector types that GCC 12, Clang 14 and later ones have, and C99, for
// kernels without vectors. The functions have no undefined behaviour as long as buffers have the
// elements that the module declares: what C leaves open is written so that docs/ops.md holds.
#ifndef TG_CODEGEN_C_RENDERER_H_
#define TG_CODEGEN_C_RENDERER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/renderer.h"
#include "ir/dtype.h"

namespace tg::c {

const codegen::Renderer& C17Renderer();  // "c"
const codegen::Renderer& C99Renderer();  // "c99"

// Returns an identifier of C, made of this name, that is no keyword, no macro of the headers that a
// unit includes, and no name of the unit's own.
std::string CIdentifier(std::string_view name);
// Returns the type of a buffer's elements: "float".
std::string_view ElementType(Scalar s);
// Returns such an element as a constant expression. A NaN has no payload.
std::string ElementLiteral(Scalar s, int64_t bits);

}  // namespace tg::c

#endif  // TG_CODEGEN_C_RENDERER_H_
