// Imports lowered kernels: RANGE, SPECIAL, INDEX, LOAD, STORE, with or without accumulators and
// vectors.
#ifndef TG_FRONTEND_TINYGRAD_LOWERED_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_LOWERED_IMPORT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/tinygrad/demand.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Fills the kernel's body and sets its stage: lowered, or expanded if the text already has vectors.
// `instructions`: the instructions if the text is a list of them, else empty; in newer versions
// only they have the conditions of stores. `retained_slots`: see KernelUse. Returns false after an
// error.
bool ImportLowered(const Demand& demand, const Node& sink,
                   std::span<const Node* const> instructions, Module& module, Kernel& kernel,
                   std::vector<int64_t>* retained_slots, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_LOWERED_IMPORT_H_
