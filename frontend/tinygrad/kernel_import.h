// Kernels into kernels of a module.
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
  const Kernel* kernel = nullptr;  // null: it copies its operand 1
  std::vector<std::string> vars;
  std::vector<int64_t> kept_slots;  // where it leaves what a value that is Invalid would overwrite
};

// The instructions that the text is a list of, or the sources of its LINEAR, up to the SINK, which
// is the last of them; nothing where it is something else.
std::vector<const Node*> InstructionsOf(const Text& text);

// Whether this root was printed from a kernel, not from a graph.
bool IsKernelRoot(const Text& text, const Node* root);

// What a kernel does with its slots. What is kept in part counts as read.
struct SlotUse {
  DType type;
  bool read = false, written = false;
};
std::map<int64_t, SlotUse> SlotsOf(const KernelUse& use);

// The kernel whose SINK or PROGRAM is `root`. `instructions`: see InstructionsOf. False after an
// error.
bool ImportKernel(const Text& text, const Node* root, std::span<const Node* const> instructions,
                  Module& module, KernelUse* use, Diagnostics& diags);

// Graph @main that runs a kernel on buffers of its own: @data0, ... by slot.
void RunAlone(const KernelUse& use, Module& module);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_KERNEL_IMPORT_H_
