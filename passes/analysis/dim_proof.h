// Proves statements about extents that are expressions of variables. Each expression is brought to
// a normal form: a polynomial in atoms, where an atom is a variable, or a quotient, remainder,
// minimum or maximum of polynomials.
#ifndef TG_PASSES_ANALYSIS_DIM_PROOF_H_
#define TG_PASSES_ANALYSIS_DIM_PROOF_H_

#include "ir/dim_expr.h"
#include "ir/module.h"

namespace tg::analysis {

// Whether a == b for all values of the variables. Returns false if that cannot be proven.
bool AreAlwaysEqual(const DimExpr& a, const DimExpr& b);

// Whether a <= b for all values of the variables within their bounds. Returns false if that cannot
// be proven.
bool IsAlwaysAtMost(const Module& module, const DimExpr& a, const DimExpr& b);

}  // namespace tg::analysis

#endif  // TG_PASSES_ANALYSIS_DIM_PROOF_H_
