// Chooses the buffers that are stored as f16.
#ifndef TG_PASSES_HALF_CHOICE_H_
#define TG_PASSES_HALF_CHOICE_H_

#include <cstdint>
#include <set>
#include <string>

#include "ir/module.h"

namespace tg::half {

// The names of the f32 buffers of at least `min_elements` elements that can be stored as f16. A
// param among them gets a copy in f16; the others change their type.
std::set<std::string, std::less<>> ChooseHalfBuffers(const Module& module, int64_t min_elements);

// The name of the buffer of which `operand`, a node of a graph of kernels, is a version or a view.
std::string BufferName(const Body& body, const UOp* operand);

}  // namespace tg::half

#endif  // TG_PASSES_HALF_CHOICE_H_
