// Buffers: the declarations that a module needs for the BUFFERs of a tensor graph.
//
// A number (tinygrad's UNIQUE, or the slot) identifies a buffer. Its name is @buf0, @buf1, ... in
// the order of the text, or the name that a directive gives. tinygrad's buffers are flat: if all
// uses reshape a buffer to the same shape, the declaration has that shape. A buffer that is only
// read is an input, and one that an ASSIGN of a value writes is state. What KERNELs write is state
// if it is read before, an output if it is a result, else a temp.
#ifndef TG_FRONTEND_TINYGRAD_BUFFERS_H_
#define TG_FRONTEND_TINYGRAD_BUFFERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/tinygrad/demand.h"
#include "frontend/tinygrad/device_placement.h"
#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

struct Buffer {
  const Node* node = nullptr;  // first node that names it
  std::string name;
  DType type;
  int64_t size = 0;
  std::vector<int64_t> shape;
  bool written = false;
  bool by_kernel = false;  // a KERNEL reads or writes it as a whole
  bool read = false;       // its value before the graph runs
  bool is_result = false;  // its value after a write
};

class Buffers {
 public:
  // Declares the buffers in `module`. `kernels`: what the graph's KERNELs run, in the order of the
  // text. Returns false after an error.
  bool Declare(const Demand& demand, std::span<const KernelUse> kernels, const Devices& devices,
               const Directives& directives, Module& module, Diagnostics& diags);

  // The buffer that a BUFFER node declares.
  const Buffer& Of(const Node* n) const { return buffers_.at(*number_[n->slot]); }

 private:
  bool Collect(const Demand& demand, Diagnostics& diags);
  void FindUses(const Demand& demand, std::span<const KernelUse> kernels);

  std::vector<std::optional<int64_t>> number_;  // by slot: number of the buffer behind the node
  std::vector<bool> moved_;                     // by slot: the node is a view of its buffer
  std::map<int64_t, Buffer> buffers_;
  std::vector<int64_t> order_;
};

// Whether the node is a variable of newer versions: BUFFER or PARAM in the address space of
// variables.
bool IsVariable(const Node* n);
// The shape in an argument or in a source, if all of its extents are numbers.
std::optional<std::vector<int64_t>> StaticShape(const Value& tuple);
std::optional<std::vector<int64_t>> StaticShape(const Node* extents);
// The shape that a RESHAPE, or a VIEW that only reshapes, has, if all extents are numbers.
std::optional<std::vector<int64_t>> ReshapeOf(const Node* n);
// The product, or nullopt if it is not a valid buffer size.
std::optional<int64_t> Product(std::span<const int64_t> shape);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_BUFFERS_H_
