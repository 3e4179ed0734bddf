// select-to-max: a pass outside of tg's tree.
#ifndef TG_EXAMPLES_EMBED_SELECT_TO_MAX_H_
#define TG_EXAMPLES_EMBED_SELECT_TO_MAX_H_

#include "passes/pass.h"

namespace embed {

// Turns a comparison and a select of floats into a maximum, in graphs and in kernels of every stage
// but linear: `where x < 0, 0, x` becomes `max x, 0`, and if the module allows no-nan,
// `where x < y, y, x` becomes `max x, y`. tg itself does this for integers only.
extern const tg::passes::Pass kSelectToMaxPass;

}  // namespace embed

#endif  // TG_EXAMPLES_EMBED_SELECT_TO_MAX_H_
