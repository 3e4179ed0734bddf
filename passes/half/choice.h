// Which buffers are stored as f16.
#ifndef TG_PASSES_HALF_CHOICE_H_
#define TG_PASSES_HALF_CHOICE_H_

#include <cstdint>
#include <set>
#include <string>

#include "ir/module.h"

namespace tg {

// Names of the buffers of f32 that can be, with at least `min_elements`. A param among them is
// copied; the others change their type.
std::set<std::string, std::less<>> ChooseHalfBuffers(const Module& module, int64_t min_elements);

// The buffer that a node of a graph of kernels is a version or a view of.
std::string BufferName(const Body& body, const UOp* operand);

}  // namespace tg

#endif  // TG_PASSES_HALF_CHOICE_H_
