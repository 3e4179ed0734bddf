// OpenCL C's spelling of ops: the table spelling.def.
#ifndef TG_CODEGEN_OPENCL_SPELLING_H_
#define TG_CODEGEN_OPENCL_SPELLING_H_

#include "codegen/clike/spelling.h"

namespace tg::opencl {

const clike::SpellingTable& Spellings();

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_SPELLING_H_
