// OpenCL C's names for types.
//
// Values: a bool is `bool`. A vector of bools is a mask: a vector of signed integers 0 and -1, as
// wide as the compared elements, which OpenCL's comparisons return and its ?: takes. Memory: a bool
// is a uchar; bf16 and fp8 are their bits.
#ifndef TG_CODEGEN_OPENCL_TYPES_H_
#define TG_CODEGEN_OPENCL_TYPES_H_

#include <string>
#include <string_view>

#include "codegen/clike/types.h"
#include "ir/dtype.h"

namespace tg::opencl {

inline constexpr clike::TypeWords kWords = {.i8 = "char",
                                            .u8 = "uchar",
                                            .i16 = "short",
                                            .u16 = "ushort",
                                            .i32 = "int",
                                            .u32 = "uint",
                                            .i64 = "long",
                                            .u64 = "ulong",
                                            .f16 = "half",
                                            .f32 = "float",
                                            .f64 = "double",
                                            .i64_suffix = "L",
                                            .u64_suffix = "UL",
                                            .min_i32 = "INT_MIN",
                                            .min_i64 = "LONG_MIN"};

// Returns the type of a value: "float4". Masks have separate names.
std::string ValueType(Scalar s, int lanes);
// Returns the element type of a buffer or array: "uchar" for a bool.
std::string_view MemoryType(Scalar s);
// Returns the address space qualifier followed by a blank; "" for private memory.
std::string_view SpacePrefix(AddrSpace space);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_TYPES_H_
