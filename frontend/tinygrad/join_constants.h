// Folds CAST(CONST), which the last stages of newer versions print, into the CONST of that type
// that all other stages print.
#ifndef TG_FRONTEND_TINYGRAD_JOIN_CONSTANTS_H_
#define TG_FRONTEND_TINYGRAD_JOIN_CONSTANTS_H_

#include "frontend/tinygrad/syntax.h"

namespace tg::tinygrad {

void JoinConstants(Text& text);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_JOIN_CONSTANTS_H_
