// C's spelling of ops: the table spelling.def.
#ifndef TG_CODEGEN_C_SPELLING_H_
#define TG_CODEGEN_C_SPELLING_H_

#include "codegen/clike/spelling.h"

namespace tg::c {

const clike::SpellingTable& Spellings();

}  // namespace tg::c

#endif  // TG_CODEGEN_C_SPELLING_H_
