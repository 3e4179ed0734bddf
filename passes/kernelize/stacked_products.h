// Products of one value with several weights, as one product. The queries, keys and values of
// attention are such products. A tile of matrix instructions has one product (contractions.h), so
// that these are no siblings, and where a product is small, most of its time is its launch:
//
//   sum(x * a) + b, sum(x * c) + d   ->   V = sum(x * [a, c]) + [b, d];  V[0], V[1]
//
// The weights are stacked once, in @init.
#ifndef TG_PASSES_KERNELIZE_STACKED_PRODUCTS_H_
#define TG_PASSES_KERNELIZE_STACKED_PRODUCTS_H_

#include "ir/walk.h"
#include "passes/kernelize/graph_alone.h"

namespace tg::kernelize {

// Rewrites such products in a prepared graph (prepare.h) where matrix instructions compute them and
// other products have their results as factors, so that these are stored in any plan. Products are
// alike if they, and the operations on their results, differ in values alone that no input reaches.
// They are predicted as separate graphs, once for equal ones, and become one if that is faster by
// more than Target::prediction_error. Large weights, which would be in memory twice, take longer
// than launches and stay separate.
void StackProducts(const PredictedGraph& graph, UOpSpan order);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_STACKED_PRODUCTS_H_
