// Buffers: the declarations that a module needs for the BUFFERs of a tensor graph.
//
// A buffer's number (tinygrad's UNIQUE, or its slot) tells it from others; its name is @buf0,
// @buf1, ... in the order of the text, or what a directive says. tinygrad's buffers are flat: where
// every use reshapes one alike, that is its shape here. What the graph assigns to is state, what it
// only reads an input.
#ifndef TG_FRONTEND_TINYGRAD_BUFFERS_H_
#define TG_FRONTEND_TINYGRAD_BUFFERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/tinygrad/demand.h"
#include "frontend/tinygrad/devices.h"
#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

struct Buffer {
  const Node* node = nullptr;  // the first that names it
  std::string name;
  DType type;
  int64_t size = 0;
  std::vector<int64_t> shape;
  bool written = false;
  bool by_kernel = false;  // by a KERNEL as a whole
  bool read = false;       // as it is before the graph
  bool is_result = false;  // after it was written
};

class Buffers {
 public:
  // Declares them in `module`. `kernels`: what the graph's KERNELs run, in the order of the text.
  // False after an error.
  bool Declare(const Demand& demand, std::span<const KernelUse> kernels, const Devices& devices,
               const Directives& directives, Module& module, Diagnostics& diags);

  // Of a BUFFER node.
  const Buffer& Of(const Node* n) const { return buffers_.at(*number_[n->slot]); }

 private:
  bool Collect(const Demand& demand, Diagnostics& diags);
  void FindUses(const Demand& demand, std::span<const KernelUse> kernels);

  std::vector<std::optional<int64_t>> number_;  // by slot: of the buffer that it is, or moves
  std::vector<bool> moved_;                     // by slot: it is a view of its buffer
  std::map<int64_t, Buffer> buffers_;
  std::vector<int64_t> order_;
};

// A variable of newer versions: BUFFER or PARAM in an address space of its own.
bool IsVariable(const Node* n);
// What is known of a shape in an argument or in a source: numbers only.
std::optional<std::vector<int64_t>> StaticShape(const Value& tuple);
std::optional<std::vector<int64_t>> StaticShape(const Node* extents);
// The same of a RESHAPE, or of a VIEW that is one.
std::optional<std::vector<int64_t>> ReshapeOf(const Node* n);
// The product, or nullopt where it is no size of a buffer.
std::optional<int64_t> Product(std::span<const int64_t> shape);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_BUFFERS_H_
