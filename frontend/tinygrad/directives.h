// Directives: comments that tools/export_tinygrad.py writes above a graph, since
// tinygrad's text names no buffers.
//
//   # tg: module resnet
//   # tg: input image = 12 [1, 3, 224, 224]
//   # tg: param fc.weight = 13 [1000, 512] file("resnet.safetensors", "fc.weight")
//   # tg: state cache = 14 [2, 8] file("resnet.safetensors", "cache")
//   # tg: input unused = none [4] dtypes.float
//   # tg: output logits = 0 [1, 1000]
//
// A directive names a buffer by its number (UNIQUE, or the slot) and an output by its position
// among the sink's sources. The graph does not read an input without a number. A state without a
// file is initialized to zeros.
#ifndef TG_FRONTEND_TINYGRAD_DIRECTIVES_H_
#define TG_FRONTEND_TINYGRAD_DIRECTIVES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/tinygrad/syntax.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

struct NamedBuffer {
  Role role = Role::kInput;
  std::string name;
  std::vector<int64_t> shape;
  std::string file, tensor;  // of a param or state; may be empty
  DType type;                // of an input without a number
  Location loc;
};

struct Directives {
  std::string module;
  std::map<int64_t, NamedBuffer> buffers;
  std::map<int64_t, NamedBuffer> outputs;
  std::vector<NamedBuffer> unread;  // inputs that the graph does not read
};

// Returns nullopt, with an error, if a comment that begins with `tg:` is not a valid directive.
std::optional<Directives> ReadDirectives(const Text& text, Diagnostics& diags);

// `name` as a symbol of tg: invalid characters become '_'.
std::string SymbolFor(std::string_view name);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DIRECTIVES_H_
