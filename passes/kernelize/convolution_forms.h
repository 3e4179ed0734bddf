// Chooses how convolutions are computed: as they are, or by tiles (winograd.h).
#ifndef TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_
#define TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_

#include "ir/walk.h"
#include "passes/kernelize/graph_alone.h"

namespace tg::kernelize {

// Rewrites convolutions in a prepared graph (prepare.h) where the module has `winograd` and not
// `no-reassociate`, to the form that is predicted to be the fastest, by more than
// Target::prediction_error. Each form is predicted as a separate graph, once for equal ones, and
// none for which bounds already tell that it is slower than the best so far. Weights that no input
// reaches are transformed once, in @init (hoist.h).
void ChooseConvolutionForms(const PredictedGraph& graph, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_
