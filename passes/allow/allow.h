// Allow: adds flags to a module, by which its owner permits or forbids what passes may do beyond
// the ops' own meaning.
#ifndef TG_PASSES_ALLOW_ALLOW_H_
#define TG_PASSES_ALLOW_ALLOW_H_

#include "passes/pass.h"

namespace tg::allow {

extern const passes::Pass kAllowPass;

}  // namespace tg::allow

#endif  // TG_PASSES_ALLOW_ALLOW_H_
