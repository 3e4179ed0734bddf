// Gradient: adds to a graph the gradients of one of its outputs, as further outputs.
//
// `gradient:of=loss:wrt=[w, b]` declares outputs @w.grad and @b.grad. The derivatives of the ops
// are the table of rules.h; docs/passes/gradient.md explains the pass.
#ifndef TG_PASSES_GRADIENT_GRADIENT_H_
#define TG_PASSES_GRADIENT_GRADIENT_H_

#include "passes/pass.h"

namespace tg::gradient {

extern const passes::Pass kGradientPass;

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_GRADIENT_H_
