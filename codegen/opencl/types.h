// OpenCL C's names for types.
//
// Values: a bool is `bool`. A vector of bools is a mask: a vector of signed integers 0 and -1, as
// wide as the compared elements, which OpenCL's comparisons return and its ?: takes. Memory: a bool
// is a uchar; bf16 and fp8 are their bits.
#ifndef TG_CODEGEN_OPENCL_TYPES_H_
#define TG_CODEGEN_OPENCL_TYPES_H_

#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace tg::opencl {

// Returns the type of a value: "float4". Masks have separate names.
std::string ValueType(Scalar s, int lanes);
std::string MaskType(int bits, int lanes);  // "int4"
// Returns the element type of a buffer or array: "uchar" for a bool.
std::string_view MemoryType(Scalar s);
// Returns the address space qualifier followed by a blank; "" for private memory.
std::string_view SpacePrefix(AddrSpace space);

// Returns a literal. If `exact`, as for a function's argument or with a vector operand, it has the
// exact type: "(uchar)5"; else "5", which C may treat as an int. Floats are exact to the bit.
std::string Literal(Scalar s, int64_t bits, bool exact);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_TYPES_H_
