// How types and constants are written in LLVM's assembly language.
#ifndef TG_CODEGEN_LLVM_TYPES_H_
#define TG_CODEGEN_LLVM_TYPES_H_

#include <cstdint>
#include <string>

#include "ir/dtype.h"
#include "ir/uop.h"

namespace tg::llvm_ir {

// The type of a value: bools are i1, floats narrower than f32 are their bits as an integer.
std::string ValueType(Scalar s, int lanes);
inline std::string ValueType(DType t) { return ValueType(t.scalar(), t.lanes()); }

// The type of an element in memory: as ValueType, but a bool is a byte.
std::string MemoryType(Scalar s, int lanes);

// The name of a type as a part of an intrinsic's name: "v16f32", "i64".
std::string Mangled(Scalar s, int lanes);

// A number of the type, without the type.
std::string Literal(Scalar s, int64_t bits);

// A `const` or `vconst`, without the type.
std::string ConstantText(const UOp* u);

// The same number in every lane, without the type.
std::string Everywhere(DType type, int64_t bits);

// A mask of `lanes` lanes: the first of them are first, first + 1, ...; behind `used` lanes there
// is nothing.
std::string Sequence(int first, int used, int lanes);

}  // namespace tg::llvm_ir

#endif  // TG_CODEGEN_LLVM_TYPES_H_
