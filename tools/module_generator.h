// Big modules for measurements: valid tensor graphs of any size, the same for the same options.
#ifndef TG_TOOLS_MODULE_GENERATOR_H_
#define TG_TOOLS_MODULE_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ir/module.h"

namespace tg {

struct GeneratorOptions {
  size_t nodes = 1000;  // about how many UOps; at least 8
  bool chain = false;   // one chain, each node the source of the next, instead of a mixture
  bool names = false;   // every fourth node has a name
  uint64_t seed = 1;
};

// A graph @main over f32[64, 64] inputs. A mixture has deep and wide parts, arithmetic in three
// types, movement, and reductions that are expanded again; every node is reached from the sink.
std::unique_ptr<Module> GenerateModule(const GeneratorOptions& options);

}  // namespace tg

#endif  // TG_TOOLS_MODULE_GENERATOR_H_
