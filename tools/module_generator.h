// Generates large modules for measurements: valid tensor graphs of any size, deterministic in the
// options.
#ifndef TG_TOOLS_MODULE_GENERATOR_H_
#define TG_TOOLS_MODULE_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ir/module.h"

namespace tg::tools {

// What a module holds.
//   mixture  a tensor graph with deep and wide parts, arithmetic in three types, movement, and
//            reductions that are expanded again
//   chain    a tensor graph in which each node is the source of the next
//   index    a lowered kernel: address arithmetic of four work-item ids, the sums (of at most 8
//            terms), products, quotients and remainders that reshapes and pads leave
enum class ModuleKind { kMixture, kChain, kIndex };

struct GeneratorOptions {
  size_t nodes = 1000;  // approximate number of UOps; at least 32
  ModuleKind kind = ModuleKind::kMixture;
  bool names = false;  // every fourth node has a name
  uint64_t seed = 1;
};

// Returns a valid module in which the sink reaches all nodes. Graphs are called @main and compute
// on f32[64, 64].
std::unique_ptr<Module> GenerateModule(const GeneratorOptions& options);

}  // namespace tg::tools

#endif  // TG_TOOLS_MODULE_GENERATOR_H_
