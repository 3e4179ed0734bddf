// Chooses how convolutions are computed: as they are, or by tiles (winograd.h).
#ifndef TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_
#define TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_

#include <string>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/kernelize/graph_alone.h"
#include "passes/target.h"

namespace tg::kernelize {

// Rewrites convolutions in a prepared graph (prepare.h) where the module has `winograd` and not
// `no-reassociate`, to the form that is predicted to be the fastest, by more than
// Target::prediction_error. Each form is predicted as a separate graph, once for equal ones, and
// none for which bounds already tell that it is slower than the best so far. Weights that no input
// reaches are transformed once, in @init (hoist.h). Updates `fused` (prepare.h). Adds a line to
// `remarks` for each convolution that is asked about.
void ChooseConvolutionForms(const Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, PredictModule predict, NodeSet& fused,
                            std::string& remarks, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_CONVOLUTION_FORMS_H_
