// Sums along an axis that an operand reads in parts, such as the features of several heads of
// attention. With an axis for each part, addresses are linear in each.
#ifndef TG_PASSES_SCHEDULE_SPLIT_TERMS_H_
#define TG_PASSES_SCHEDULE_SPLIT_TERMS_H_

#include "ir/module.h"
#include "ir/shape.h"

namespace tg {

// Replaces each axis of a reduce that is a reshape of several axes of what is reduced, by these.
// Returns whether the body changed.
bool SplitTerms(Body& body, ShapeMap& shapes);

}  // namespace tg

#endif  // TG_PASSES_SCHEDULE_SPLIT_TERMS_H_
