// Copies the factors of convolutions, and of products of bytes, to a layout in which their terms
// are runs of memory.
#ifndef TG_PASSES_KERNELIZE_TERM_RUNS_H_
#define TG_PASSES_KERNELIZE_TERM_RUNS_H_

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg::kernelize {

// A sum of products of halves or f32 over several axes of terms, as those of a window and its
// channels, takes the longest one that both factors have whole (the channels) innermost, and
// factors in whose memory that axis is not the innermost are stored once more with it there. So a
// work-group of a GPU with matrix instructions copies runs of 16 bytes, of one position in the
// window, instead of single elements. Three or four channels of halves make runs of 8 bytes, if
// need be with a zero, and there are columns of zeros where they make the rows of a window whole
// instructions. Copies of params are moved to @init (hoist.h); a value that only convolutions read
// is stored like this in the first place, unless it is normalized: a norm is stored as it is, and
// copied. Likewise sums of products of bytes over one axis,
// or of f32 that may be rounded to tf32. Reassociates the sum. Updates `fused`
// (prepare.h).
void LayTermsInRuns(const Module& module, Body& body, ShapeMap& shapes,
                    const passes::Target& target, NodeSet& fused, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_TERM_RUNS_H_
