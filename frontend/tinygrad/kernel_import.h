// Imports kernels as kernels of a module.
#ifndef TG_FRONTEND_TINYGRAD_KERNEL_IMPORT_H_
#define TG_FRONTEND_TINYGRAD_KERNEL_IMPORT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// What a KERNEL of a graph runs.
struct KernelUse {
  const Kernel* kernel = nullptr;  // null: copies operand 1
  std::vector<std::string> vars;
  std::vector<int64_t> retained_slots;  // slots that keep old elements where the value is Invalid
};

// The instructions of a text that is a list of them or a LINEAR, up to and including the SINK.
// Empty for any other text.
std::vector<const Node*> InstructionsOf(const Text& text);

// Whether this root is a kernel and not a graph.
bool IsKernelRoot(const Text& text, const Node* root);

// How a kernel uses its slots. A slot that is only partly overwritten counts as read.
struct SlotUse {
  DType type;
  bool read = false, written = false;
};
std::map<int64_t, SlotUse> SlotsOf(const KernelUse& use);

// Imports the kernel with the root `root`, a SINK or PROGRAM. `instructions`: see InstructionsOf.
// Returns false after an error.
bool ImportKernel(const Text& text, const Node* root, std::span<const Node* const> instructions,
                  Module& module, KernelUse* use, Diagnostics& diags);

// Adds graph @main, which runs a kernel on newly declared buffers: @data0, ... by slot.
void RunAlone(const KernelUse& use, Module& module);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_KERNEL_IMPORT_H_
