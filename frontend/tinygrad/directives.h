// Directives: what tools/export_tinygrad.py says about a graph in comments above it, since
// tinygrad's text names no buffers.
//
//   # tg: module resnet
//   # tg: input image = 12 [1, 3, 224, 224]
//   # tg: param fc.weight = 13 [1000, 512] file("resnet.safetensors", "fc.weight")
//   # tg: state cache = 14 [2, 8] file("resnet.safetensors", "cache")
//   # tg: input unused = none [4] dtypes.float
//   # tg: output logits = 0 [1, 1000]
//
// A buffer is meant by its number in the text (of UNIQUE, or the slot), an output by its position
// among the sink's sources; an input of no number is one that the graph does not read. Where no
// file is named, a state begins with zeros.
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
  std::string file, tensor;  // of a param or state; empty: none
  DType type;                // of an input that has no number
  Location loc;
};

struct Directives {
  std::string module;
  std::map<int64_t, NamedBuffer> buffers;
  std::map<int64_t, NamedBuffer> outputs;
  std::vector<NamedBuffer> unread;  // inputs
};

// Nullopt, with an error, where a comment that begins with `tg:` is no directive.
std::optional<Directives> ReadDirectives(const Text& text, Diagnostics& diags);

// `name` as a symbol of tg: other characters become '_'.
std::string SymbolFor(std::string_view name);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_DIRECTIVES_H_
