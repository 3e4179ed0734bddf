// A string that two bodies share exactly where they are equal but for names.
#ifndef TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
#define TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_

#include <string>

#include "ir/module.h"

namespace tg {

// The nodes that `body` reaches, in structure's order: the same in every run and every context.
// `order`: the body's.
std::string StructuralKey(const Body& body, UOpSpan order);

}  // namespace tg

#endif  // TG_PASSES_ANALYSIS_STRUCTURAL_KEY_H_
