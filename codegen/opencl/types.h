// OpenCL C's names for types.
//
// Values: a bool is `bool`; a vector of bools is a mask, a signed integer vector of 0 and -1 whose
// elements are as wide as those of what was compared, as OpenCL's comparisons yield and its ?:
// takes. Memory: a bool is a uchar, bf16 and fp8 are their bits.
#ifndef TG_CODEGEN_OPENCL_TYPES_H_
#define TG_CODEGEN_OPENCL_TYPES_H_

#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace tg::opencl {

// "float4". Masks have names of their own.
std::string ValueType(Scalar s, int lanes);
std::string MaskType(int bits, int lanes);  // "int4"
// The element of a buffer or array: "uchar" for a bool.
std::string_view MemoryType(Scalar s);
// The unsigned integer of the same size.
Scalar UnsignedOf(Scalar s);
// The address space qualifier with a blank behind it; "" for what belongs to a work-item.
std::string_view SpacePrefix(AddrSpace space);

// "(uchar)5" where `exact`: as a function's argument, or beside a vector; else "5", which C may
// take as an int. Floats are exact to the bit.
std::string Literal(Scalar s, int64_t bits, bool exact);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_TYPES_H_
