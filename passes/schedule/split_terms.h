// Splits reduce axes that are a reshape of several axes of an operand, such as the features of
// several attention heads. With one axis for each part, the operand's address is linear in every
// axis.
#ifndef TG_PASSES_SCHEDULE_SPLIT_TERMS_H_
#define TG_PASSES_SCHEDULE_SPLIT_TERMS_H_

#include "ir/module.h"
#include "ir/shape.h"

namespace tg::schedule {

// Replaces each reduce axis that a reshape makes from several axes of the reduced value by these
// axes. Returns whether the body changed.
bool SplitTerms(Body& body, ShapeMap& shapes);

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_SPLIT_TERMS_H_
